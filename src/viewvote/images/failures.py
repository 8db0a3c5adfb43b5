"""Whatever goes wrong with one image as that image's error: the one place where other exceptions become ours."""

from collections.abc import Iterator
from contextlib import contextmanager

from PIL import UnidentifiedImageError

from ..errors import ImageTooLargeError, UnreadableImageError, ViewvoteError

MOST_SHOWN = 200
"""Characters of a name or a reason that a message shows."""


@contextmanager
def image_errors(name: str, *, doing: str = "decode") -> Iterator[None]:
    """Raise whatever the block raises as UnreadableImageError, apart from errors of ours.

    Decoders raise what they like for a damaged file, and a library may have defects: neither may end the images beside.
    """
    try:
        yield
    except ViewvoteError:
        raise
    except Exception as error:
        raise UnreadableImageError(f"cannot {doing} {shown(name)}: {_reason(error)}.") from error


def too_large(name: str, found: str, limit: int, unit: str) -> ImageTooLargeError:
    """The error of an image over the limit of `bytes`, `pixels`, pixels of a `side`, or `scans`."""
    raised = f"in Python ImageLimits(max_{unit}=...)"
    if unit in ("bytes", "pixels"):
        raised = f"raise the limit with --max-{unit}, {raised}"
    counted = "pixels" if unit == "side" else unit
    per = " a side" if unit == "side" else ""
    return ImageTooLargeError(
        f"{shown(name)} has {found} {counted}; the limit is {limit:,} {counted}{per}. Shrink it, or {raised}."
    )


def shown(text: str) -> str:
    """The text on one line, cut in its middle where it is long; what cannot be printed is written as its escape."""
    if len(text) > MOST_SHOWN:
        text = f"{text[: MOST_SHOWN // 2]} ... {text[-MOST_SHOWN // 2 :]}"
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _reason(error: Exception) -> str:
    if isinstance(error, UnidentifiedImageError):
        return "it is not an image in a known format"
    if isinstance(error, MemoryError):
        return "memory ran out"
    if isinstance(error, UnicodeError):
        return "its path holds characters that no file name can have"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return shown(str(error).rstrip(".")) or type(error).__name__
