"""What transformers' pipelines are given, in viewvote's words."""

from pathlib import Path

from ..encoders import SCHEMES
from ..encoders.hub import is_repo_id
from ..encoders.onnx.config import FILE
from ..errors import UsageError


def full_model_id(model: str) -> str:
    """The model id; a bare repository of the hub or folder, as transformers takes them, gets its scheme."""
    if ":" in model or model in SCHEMES:
        return model
    folder = Path(model).expanduser()
    if folder.is_dir():
        return f"onnx:{model}" if (folder / FILE).is_file() else f"hf:{model}"
    return f"hf:{model}" if is_repo_id(model) else model


def device_name(device: object) -> str:
    """The device that transformers' `device` means: -1 is the CPU, 0 the first GPU, and others are named."""
    if isinstance(device, bool):
        raise UsageError(f"device is a number or a name such as 'cpu' or 'cuda:0'; got {device!r}.")
    if isinstance(device, int):
        return "cpu" if device < 0 else f"cuda:{device}"
    return str(device)  # a torch.device is shown as its name
