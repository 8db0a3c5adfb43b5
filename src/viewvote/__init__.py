"""Zero-shot image classification that augments, predicts, keeps the confident views and votes."""

from importlib import import_module
from typing import TYPE_CHECKING

from . import telemetry as _telemetry

if TYPE_CHECKING:
    from .classify.classifier import Classifier
    from .classify.feature_files import open_features
    from .classify.features import Features
    from .classify.pipeline import pipeline
    from .datasets import register_dataset
    from .encoders import BaseEncoder, Encoder, LoadOptions, load_encoder, register_encoder
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
    from .images.photo import ImageLimits
    from .images.spec import ImageSpec
    from .methods import register_method
    from .pictures.explain import explain
    from .prediction import Box, Prediction, Trace, ViewTrace
    from .stopping import Adaptive

__version__ = "0.1.0"

_telemetry.switch_off()  # before anything of ours can import what reports

__all__ = [
    "Adaptive",
    "BaseEncoder",
    "Box",
    "CheckpointError",
    "Classifier",
    "Encoder",
    "Features",
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
    "explain",
    "load_encoder",
    "open_features",
    "pipeline",
    "register_dataset",
    "register_encoder",
    "register_method",
]

_HOMES = {
    "Adaptive": ".stopping",
    "BaseEncoder": ".encoders",
    "Box": ".prediction",
    "Classifier": ".classify.classifier",
    "Encoder": ".encoders",
    "Features": ".classify.features",
    "ImageLimits": ".images.photo",
    "ImageSpec": ".images.spec",
    "LoadOptions": ".encoders",
    "Prediction": ".prediction",
    "ToyEncoder": ".encoders.toy",
    "Trace": ".prediction",
    "ViewTrace": ".prediction",
    "explain": ".pictures.explain",
    "load_encoder": ".encoders",
    "open_features": ".classify.feature_files",
    "pipeline": ".classify.pipeline",
    "register_dataset": ".datasets",
    "register_encoder": ".encoders",
    "register_method": ".methods",
}


def __getattr__(name: str) -> object:
    """Public names are imported on first use, so `viewvote --help` need not wait for numpy."""
    if name not in __all__:
        raise AttributeError(f"module 'viewvote' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, ".errors"), __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
