"""Pictures in files that can be sent and kept by the hundred."""

import io
from pathlib import Path

from PIL import Image

MOST_BYTES = 400_000
QUALITIES = (80, 65, 50, 35, 20)


def webp(image: Image.Image, *, most_bytes: int = MOST_BYTES) -> bytes:
    """The image as WebP in the best quality that fits; smaller where none does."""
    while True:
        for quality in QUALITIES:
            held = io.BytesIO()
            image.save(held, "WEBP", quality=quality)
            if held.tell() <= most_bytes:
                return held.getvalue()
        image = image.reduce(2)


def save_webp(image: Image.Image, path: Path) -> None:
    """Write the image to a file of at most `MOST_BYTES`."""
    path.write_bytes(webp(image))
