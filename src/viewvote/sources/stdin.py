"""An image on standard input."""

import sys

from ..errors import UsageError
from ..images.photo import ImageLimits


def read_stdin(limits: ImageLimits | None = None) -> bytes:
    """The bytes that were piped in; of an image over the limit, no more than shows that it is."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("'-' reads an image from standard input, but nothing is piped in.")
    return sys.stdin.buffer.read((limits or ImageLimits()).max_bytes + 1)
