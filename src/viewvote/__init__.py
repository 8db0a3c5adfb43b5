"""Zero-shot image classification that augments, predicts, keeps the confident views and votes."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .classifier import Classifier
    from .encoders import Encoder, LoadOptions, load_encoder
    from .encoders.toy import ToyEncoder
    from .errors import (
        CheckpointError,
        ImageError,
        ImageTooLargeError,
        MissingExtraError,
        ModelError,
        ModelNotFoundError,
        NonFiniteError,
        UnknownNameError,
        UnreadableImageError,
        UnsupportedEncoderError,
        UsageError,
        ViewvoteError,
    )
    from .images import ImageLimits
    from .pipelines import pipeline
    from .stopping import Adaptive
    from .types import Box, ImageSpec, Prediction, Trace, ViewTrace

__version__ = "0.1.0"

__all__ = [
    "Adaptive",
    "Box",
    "CheckpointError",
    "Classifier",
    "Encoder",
    "ImageError",
    "ImageLimits",
    "ImageSpec",
    "ImageTooLargeError",
    "LoadOptions",
    "MissingExtraError",
    "ModelError",
    "ModelNotFoundError",
    "NonFiniteError",
    "Prediction",
    "ToyEncoder",
    "Trace",
    "UnknownNameError",
    "UnreadableImageError",
    "UnsupportedEncoderError",
    "UsageError",
    "ViewTrace",
    "ViewvoteError",
    "load_encoder",
    "pipeline",
]

_HOMES = {
    "Adaptive": ".stopping",
    "Box": ".types",
    "Classifier": ".classifier",
    "Encoder": ".encoders",
    "ImageLimits": ".images",
    "ImageSpec": ".types",
    "LoadOptions": ".encoders",
    "Prediction": ".types",
    "ToyEncoder": ".encoders.toy",
    "Trace": ".types",
    "ViewTrace": ".types",
    "load_encoder": ".encoders",
    "pipeline": ".pipelines",
}


def __getattr__(name: str) -> object:
    """Public names are imported on first use, so `viewvote --help` need not wait for numpy."""
    if name not in __all__:
        raise AttributeError(f"module 'viewvote' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, ".errors"), __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
