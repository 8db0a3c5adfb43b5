"""The embedded model: an ONNX pack that ships inside the package, so the first command works offline."""

from importlib.resources import files
from pathlib import Path

from ..errors import ModelNotFoundError
from .base import LoadOptions
from .onnx_pack import OnnxEncoder, load_folder


def load(rest: str, options: LoadOptions) -> OnnxEncoder:
    """The pocket model."""
    del rest
    return load_folder(pocket_dir(), model_id="pocket", options=options)


def pocket_dir() -> Path:
    """Where the pack lies: inside the installed package, or at the root of a source checkout."""
    installed = Path(str(files("viewvote"))) / "models" / "pocket"
    checkout = Path(__file__).parents[3] / "models" / "pocket"
    for place in (installed, checkout):
        if (place / "viewvote.json").is_file():
            return place
    raise ModelNotFoundError(f"the pocket model is missing from this installation; expected it in {installed}.")
