"""What an image may cost: bytes, pixels, scans, memory and seconds."""

from dataclasses import dataclass, fields

from ..errors import UsageError


@dataclass(frozen=True)
class ImageLimits:
    """What is accepted, checked before any pixel is decoded.

    max_side        pixels of the longer side
    max_scans       passes in which a progressive JPEG sends its pixels; a camera's has at most ten or so
    decode_memory   bytes that all images being decoded in this process take together; one that needs more is refused
    decode_seconds  after which a decoder is stopped
    """

    max_bytes: int = 100_000_000
    max_pixels: int = 178_956_970  # beyond this Pillow by itself would refuse
    max_side: int = 65_535
    max_scans: int = 100
    decode_memory: int = 1_000_000_000
    decode_seconds: float = 20.0

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) > 0:
                raise UsageError(f"{each.name} must be above 0; got {getattr(self, each.name)!r}.")
