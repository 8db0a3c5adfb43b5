"""The seam every model family implements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, Protocol, cast, runtime_checkable

import numpy as np
from PIL import Image

from ..arrays import Float32, UInt8
from ..checks import checked_whole
from ..errors import UsageError
from ..fields import shown
from ..images.spec import ImageSpec
from ..views.crops import View

Scoring = Literal["softmax", "sigmoid"]
Runtime = Literal["auto", "onnxruntime", "openvino"]
Precision = Literal["auto", "fp32", "int8"]
Dtype = Literal["fp32", "fp16", "bf16"]


@dataclass(frozen=True)
class LoadOptions:
    """How to load a model; what does not apply to its family is ignored.

    device     "auto" (CUDA, then MPS, then the CPU), "cpu", "cuda", "cuda:1", "mps"
    dtype      precision of the torch towers; features are float32 whatever it is
    runtime    what runs ONNX packs: "auto" is ONNX Runtime, as fast as OpenVINO (docs/results/runtimes.md)
    precision  which vision tower of a pack: "auto" takes int8 where the pack has one
    threads    CPU threads of ONNX runtimes; 0 is one per core
    cache_dir  where downloaded weights live; None is the hub's own place
    offline    never touch the network
    drawing    where views are drawn: "cpu", or "device" for torch models on a GPU (pixels within one grey level)
    """

    device: str = "auto"
    dtype: Dtype = "fp32"
    runtime: Runtime = "auto"
    precision: Precision = "auto"
    threads: int = 0
    cache_dir: Path | None = None
    offline: bool = False
    drawing: Literal["cpu", "device"] = "cpu"

    def __post_init__(self) -> None:
        for name in ("device", "dtype", "runtime", "precision", "drawing"):
            if not isinstance(getattr(self, name), str):
                raise UsageError(f"{name} must be a text; got {shown(getattr(self, name))}.")
        checked_whole(self.threads, name="threads", least=0)
        if not isinstance(self.cache_dir, str | PathLike | None):
            raise UsageError(f"cache_dir must be a folder's path; got {shown(self.cache_dir)}.")
        object.__setattr__(self, "cache_dir", None if self.cache_dir is None else Path(self.cache_dir))


@runtime_checkable
class Encoder(Protocol):
    """A CLIP-like dual encoder: uint8 views and texts in, unit features out, both float32.

    The score of view v for text t is `logit_scale * <v, t> + logit_bias`. The encoder normalises pixels
    itself, so views travel as uint8.

    These are all the members that the package reads. `BaseEncoder` has defaults for those below `dim` that are not
    every model's concern. Further abilities are protocols of their own, checked by `isinstance`: `DrawsViews`,
    `PromptedEncoder` (text_head), the tunable ones (torch/tunable) and `Exportable` (export/parts).
    """

    @property
    def model_id(self) -> str:
        """The id it was loaded by, scheme included."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the text features may change: weights revision, tokenizer, precision."""
        ...

    @property
    def image_spec(self) -> ImageSpec:
        """How views must be rendered."""
        ...

    @property
    def dim(self) -> int:
        """Length of a feature vector."""
        ...

    @property
    def logit_scale(self) -> float:
        """The factor on cosines (CLIP: exp of the learned scale, about 100)."""
        ...

    @property
    def logit_bias(self) -> float:
        """The constant added to scaled cosines (SigLIP); 0 where there is none."""
        ...

    @property
    def scoring(self) -> Scoring:
        """How one label's score comes from its logit: among the labels (CLIP), or each alone (SigLIP)."""
        ...

    @property
    def block_views(self) -> int | None:
        """How many views are computed together; None where that is not known.

        `encode_images` cuts its views into blocks of that many, counted from the first, and a block's features depend,
        to the last bit, on nothing outside it. A block of 1: on no other view at all.
        """
        ...

    @property
    def linear_cost(self) -> bool:
        """Whether a view costs the same in a batch of any size, so that there is no best size to measure."""
        ...

    def encode_images(self, views: UInt8) -> Float32:
        """Unit features (views, dim) of uint8 views (views, height, width, 3)."""
        ...

    def encode_texts(self, texts: Sequence[str]) -> Float32:
        """Unit features (texts, dim)."""
        ...


class BaseEncoder:
    """The defaults of an Encoder: CLIP's scoring, no bias, and no promise about batches."""

    logit_bias: float = 0.0
    scoring: Scoring = "softmax"
    block_views: int | None = None
    linear_cost: bool = False


MEMBERS = tuple(name for name in vars(Encoder) if not name.startswith("_"))
"""The names that every Encoder has."""


def checked_encoder(encoder: object, *, role: str = "model") -> Encoder:
    """The encoder itself; anything else given as `role` raises UsageError with a list of what it lacks."""
    if isinstance(encoder, type):
        raise UsageError(
            f"{role} is the class {encoder.__name__}; give an object of it, or a model id such as 'pocket'."
        )
    # A look at the class first, because asking an object for its fingerprint may compute it.
    missing = [name for name in MEMBERS if not (hasattr(type(encoder), name) or hasattr(encoder, name))]
    if missing:
        raise UsageError(
            f"{role} is a {type(encoder).__name__}, which is no Encoder: it has no {', '.join(missing)}. "
            "Expected a model id such as 'pocket', or an encoder (viewvote.BaseEncoder has defaults for some members)."
        )
    return cast(Encoder, encoder)


@runtime_checkable
class Calibrated(Protocol):
    """An Encoder with numbers that were fitted for it on photographs."""

    @property
    def calibration(self) -> Mapping[str, Mapping[str, float]]:
        """The numbers, by what they are for: "vote" (see `ProbabilityFit`)."""
        ...


@runtime_checkable
class Concurrent(Protocol):
    """An Encoder whose `encode_images` may be called from several threads at once."""

    @property
    def concurrent(self) -> bool:
        """Whether it may."""
        ...


@runtime_checkable
class DrawsViews(Protocol):
    """An Encoder that can draw views on its own device."""

    @property
    def draws_views(self) -> bool:
        """Whether it was asked to."""
        ...

    def draw_views(self, levels: Mapping[int, Image.Image], views: Sequence[View]) -> UInt8:
        """Views (views, size, size, 3) of a photo's decoded levels."""
        ...


def checked_views(views: UInt8, encoder: Encoder) -> UInt8:
    """The views; UsageError unless they are uint8 of the shape that the encoder wants."""
    size = encoder.image_spec.size
    if views.dtype != np.uint8 or views.ndim != 4 or views.shape[1:] != (size, size, 3):
        raise UsageError(
            f"{encoder.model_id} expects uint8 views of shape (views, {size}, {size}, 3); "
            f"got {views.dtype} of shape {views.shape}."
        )
    return views


def unit_rows(features: Float32) -> Float32:
    """Rows scaled to length 1 in float32; a zero row stays zero instead of turning into NaN."""
    features = np.asarray(features, dtype=np.float32)
    norms = np.linalg.norm(features, axis=-1, keepdims=True)
    units: Float32 = features / np.maximum(norms, np.float32(1e-12))
    return units
