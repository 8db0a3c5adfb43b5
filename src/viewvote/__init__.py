"""Zero-shot image classification that augments, predicts, keeps the confident views and votes."""

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
from .types import Box, ImageSpec, Prediction, Trace, ViewTrace

__version__ = "0.1.0"

__all__ = [
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
]
