"""An image on standard input, or the paths of images."""

import os
import re
import sys

from ..errors import UsageError
from ..images.photo import ImageLimits

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_PLAIN_IMAGE = re.compile(rb"P[1-7]\s")  # the formats PBM, PGM and PPM may be text


def read_stdin(limits: ImageLimits | None = None) -> bytes:
    """The bytes that were piped in; of an image over the limit, no more than shows that it is."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("'-' reads an image or paths from standard input, but nothing is piped in.")
    data = sys.stdin.buffer.read((limits or ImageLimits()).max_bytes + 1)
    if not data:
        raise UsageError("'-' reads an image or paths from standard input, which is empty.")
    return data


def listed_paths(data: bytes) -> list[str] | None:
    """The paths that the bytes list, one a line or each with a zero byte behind it; None where they are an image.

    They are a list where the first of them is there, whatever its bytes, or where all of it is text.
    """
    separator = b"\0" if b"\0" in data else b"\n"
    first = data.split(separator, 1)[0].rstrip(b"\r")
    text = data.replace(b"\0", b"\n") if data.endswith(b"\0") else data
    if not first or not (_exists(first) or _is_text(text)):
        return None
    lines = data.split(separator) if separator == b"\0" else data.splitlines()
    return [os.fsdecode(line) for line in lines if line.strip()]


def _exists(path: bytes) -> bool:
    return len(path) < 10_000 and os.path.exists(path)  # noqa: PTH110 - bytes


def _is_text(data: bytes) -> bool:
    if _CONTROL.search(data) or _PLAIN_IMAGE.match(data):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
