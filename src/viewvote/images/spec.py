"""How a model wants its images."""

from dataclasses import dataclass
from typing import Literal

from ..errors import UsageError

Interpolation = Literal["nearest", "bilinear", "bicubic", "lanczos"]
ResizeMode = Literal["shortest", "squash"]


@dataclass(frozen=True)
class ImageSpec:
    """How a model wants its pixels; views are rendered to `size` and normalised by the encoder.

    `resize="shortest"` scales the short side to `short_side` and crops the centre; `"squash"` scales both sides to
    `size` and keeps the whole image (SigLIP).
    """

    size: int
    mean: tuple[float, float, float] = (0.48145466, 0.4578275, 0.40821073)
    std: tuple[float, float, float] = (0.26862954, 0.26130258, 0.27577711)
    interpolation: Interpolation = "bicubic"
    resize: ResizeMode = "shortest"
    short_side: int = 0  # 0: the same as size

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(f"image size must be at least 1 pixel, got {self.size}.")
        if len(self.mean) != 3 or len(self.std) != 3 or min(self.std) <= 0:
            raise UsageError(f"mean and std need three numbers each, std above zero; got {self.mean} and {self.std}.")
        if self.short_side == 0:
            object.__setattr__(self, "short_side", self.size)
        if self.short_side < self.size:
            raise UsageError(f"short_side {self.short_side} is smaller than the crop of {self.size} pixels.")
