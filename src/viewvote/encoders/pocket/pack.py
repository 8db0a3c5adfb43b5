"""The embedded model: an ONNX pack that ships inside the package, so the first command works offline."""

from pathlib import Path

from ...files import shipped
from ..base import LoadOptions
from ..onnx.encoder import OnnxEncoder, load_folder


def load(rest: str, options: LoadOptions) -> OnnxEncoder:
    """The pocket model."""
    del rest
    return load_folder(pocket_dir(), model_id="pocket", options=options)


def pocket_dir() -> Path:
    """Where the pack lies."""
    return shipped("models/pocket")
