"""Arrays of float32 as text in a line of JSON."""

from base64 import b64decode, b64encode

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Float32


def pack_floats(values: ArrayLike) -> str:
    """Base64 of the values as little-endian float32."""
    return b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def unpack_floats(text: str) -> Float32:
    """The float32 values in a base64 text, flat."""
    return np.frombuffer(b64decode(text), dtype="<f4").astype(np.float32, copy=False)
