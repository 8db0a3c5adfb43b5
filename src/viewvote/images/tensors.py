"""Images of other libraries, as arrays: tensors of torch, and whatever NumPy can read."""

import sys
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError


class BecomesArray(Protocol):
    """What NumPy makes an array of."""

    def __array__(self) -> NDArray[Any]:
        """The array."""
        ...


def is_tensor(source: object) -> bool:
    """Whether it is a tensor of torch, which is not imported for the question."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(source, torch.Tensor)


def is_foreign(source: object) -> bool:
    """Whether it is an image that `foreign_array` reads: no array of NumPy, but something that becomes one."""
    return not isinstance(source, np.ndarray) and (is_tensor(source) or hasattr(source, "__array__"))


def foreign_array(source: Any) -> NDArray[Any]:
    """The pixels (height, width[, channels]): of a tensor (channels, height, width), or of anything with `__array__`.

    A tensor is taken from where it is and may have a gradient; uint8, or floats in [0, 1] of any precision.
    """
    if not is_tensor(source):
        return np.asarray(source)
    tensor = source.detach()
    if tensor.ndim == 3:
        if tensor.shape[0] not in (1, 3, 4):
            raise UsageError(
                f"a tensor is (channels, height, width) with 1, 3 or 4 channels; got {tuple(tensor.shape)}. "
                "Channels come first: use tensor.permute(2, 0, 1)."
            )
        tensor = tensor.permute(1, 2, 0)
    if tensor.is_floating_point():
        tensor = tensor.float()  # NumPy has no bfloat16
    pixels: NDArray[Any] = tensor.cpu().contiguous().numpy()
    return pixels
