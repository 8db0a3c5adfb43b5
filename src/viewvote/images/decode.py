"""Encoded bytes to one upright RGB image, at reduced scale where that loses nothing visible."""

import io

from PIL import Image

from ..errors import UnreadableImageError, UsageError
from .failures import image_errors, shown
from .formats import opened, pillow_obeys
from .header import Header
from .limits import ImageLimits
from .rgb import to_rgb

_LARGE = 50_000_000  # pixels; what Pillow may refuse or warn of is larger


def decode(data: bytes, name: str, header: Header, *, factor: int, limits: ImageLimits) -> Image.Image:
    """Upright RGB reduced `factor` times: inside the JPEG decoder where possible, by averaging otherwise."""
    with image_errors(name), opened(io.BytesIO(data), name, limits) as image:
        done = _draft(image, factor)
        orientation: int | None = header.orientation
        if image.format == "TIFF":  # Pillow turns it by itself while loading, and looks at its size once more
            orientation = None
            if image.width * image.height > _LARGE:
                with pillow_obeys(limits):
                    image.load()
        try:
            rgb = to_rgb(image, orientation=orientation, factor=factor // done)
        except UsageError as error:  # pixels of a file, not an argument of the caller's
            raise UnreadableImageError(f"cannot decode {shown(name)}: {error}") from error
    width, height = header.upright
    if rgb.size != (-(-width // factor), -(-height // factor)):
        raise UnreadableImageError(f"cannot decode {shown(name)}: its pixels have another size than its header says.")
    return rgb


def _draft(image: Image.Image, factor: int) -> int:
    """How many times the decoder will reduce the image by itself, asked to do so `factor` times: 1 unless a JPEG."""
    width, height = image.size
    drafted = image.draft(None, (max(1, width // factor), max(1, height // factor))) if factor > 1 else None
    return 1 if drafted is None else round(width / drafted[1][2])  # its box is the old size over that number
