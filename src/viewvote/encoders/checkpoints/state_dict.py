"""The tensors of a checkpoint by name, whatever it was saved with; nothing in the file is ever unpickled."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...arrays import Float32
from ...errors import CheckpointError, MissingExtraError, ModelNotFoundError
from .torch_file import TensorRef, open_torch_file

Shape = tuple[int, ...]


@dataclass(frozen=True)
class StateDict:
    """The floating-point tensors of a checkpoint: all shapes at once, values one tensor at a time."""

    path: Path
    shapes: Mapping[str, Shape]
    read_raw: Callable[[str], Float32]

    def read(self, key: str) -> Float32:
        """The tensor `key` as float32, every number finite."""
        try:
            values = self.read_raw(key)
        except (ValueError, OSError) as error:
            raise CheckpointError(f"{self.path}: tensor {key!r} cannot be read: {error}. Download it again.") from error
        if not np.isfinite(values).all():
            raise CheckpointError(f"{self.path}: tensor {key!r} contains NaN or infinity; expected finite weights.")
        return values


def open_state_dict(path: Path) -> StateDict:
    """The tensors of a Dassl checkpoint (under `state_dict`), of a plain torch state dict or of a safetensors file."""
    if not path.exists():
        raise ModelNotFoundError(f"no checkpoint at {path}. Download the authors' file and give its path.")
    if not path.is_file():
        raise CheckpointError(f"{path} is a directory; expected the checkpoint file in it, such as model.pth.tar-50.")
    return _open_safetensors(path) if path.suffix == ".safetensors" else _open_torch(path)


def _open_torch(path: Path) -> StateDict:
    try:
        file = open_torch_file(path)
    except (ValueError, OSError) as error:
        raise CheckpointError(
            f"{path} is not a readable checkpoint: {error}. Expected what torch.save wrote, or a .safetensors file."
        ) from error
    state = file.root.get("state_dict", file.root) if isinstance(file.root, dict) else None
    if not isinstance(state, dict):
        raise CheckpointError(f"{path} holds no dictionary of tensors; expected one under 'state_dict'.")
    tensors = {k: v for k, v in state.items() if isinstance(k, str) and isinstance(v, TensorRef) and v.is_floating}
    return StateDict(path, {k: v.shape for k, v in tensors.items()}, lambda key: file.read(tensors[key]))


def _open_safetensors(path: Path) -> StateDict:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise MissingExtraError.for_extra("torch", what="Reading safetensors") from error
    try:
        with safe_open(path, framework="pt") as file:
            slices = {key: file.get_slice(key) for key in file.keys()}  # noqa: SIM118 (not a mapping)
            floats = {k: s for k, s in slices.items() if s.get_dtype() in ("F16", "BF16", "F32", "F64")}
            shapes = {k: tuple(s.get_shape()) for k, s in floats.items()}
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} is not a readable safetensors file: {error}. Download it again.") from error

    def read(key: str) -> Float32:
        try:
            with safe_open(path, framework="pt") as file:
                values: Float32 = file.get_tensor(key).float().numpy()
        except SafetensorError as error:
            raise ValueError(str(error)) from error
        return values

    return StateDict(path, shapes, read)
