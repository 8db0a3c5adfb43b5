"""How a transformers image processor's settings read as an ImageSpec."""

from typing import Any

from ...errors import UnsupportedEncoderError
from ...images.spec import ImageSpec, Interpolation, ResizeMode

RESAMPLE: dict[int, Interpolation] = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic"}  # Pillow's codes


def image_spec(processor: Any, *, image_size: int | None, model_id: str) -> ImageSpec:
    """The ImageSpec of an image processor; `image_size`, the vision tower's own, is for those without."""
    size = _sides(getattr(processor, "size", None))
    cropped = getattr(processor, "do_center_crop", False)
    crop = _square(_sides(getattr(processor, "crop_size", None))) if cropped else None
    if not getattr(processor, "do_resize", True) or not size:
        size = _sides({"shortest_edge": crop or image_size})
    resize: ResizeMode = "shortest" if "shortest_edge" in size else "squash"
    side = size.get("shortest_edge") or _square(size)
    wanted = crop or side
    resample = int(getattr(processor, "resample", 3))
    if not side or not wanted or side < wanted or (resize == "squash" and side != wanted) or resample not in RESAMPLE:
        raise UnsupportedEncoderError(
            f"{model_id} wants its images resized to {size}, cropped to {crop} and resampled by {resample}; expected "
            "the short side scaled and a square crop inside it, or a plain square."
        )
    mean, std = _normalisation(processor)
    return ImageSpec(
        size=int(wanted), mean=mean, std=std, interpolation=RESAMPLE[resample], resize=resize, short_side=int(side)
    )


def _sides(size: Any) -> dict[str, int]:
    """A processor's size by name, without those it leaves open; a plain number is the side of a square."""
    if isinstance(size, int):
        return {"height": size, "width": size}
    return {name: int(side) for name, side in dict(size or {}).items() if side is not None}


def _square(size: dict[str, int]) -> int | None:
    """The side of {"height": s, "width": s}; None for anything else."""
    return size.get("height") if size.get("height") == size.get("width") else None


def _normalisation(processor: Any) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Mean and std for pixels in [0, 1]: a rescale factor other than 1/255 is folded into both."""
    factor = float(processor.rescale_factor) if getattr(processor, "do_rescale", True) else 1.0
    stretch = 255 * factor
    normalised = getattr(processor, "do_normalize", True)
    mean = [float(v) / stretch for v in (processor.image_mean if normalised else (0, 0, 0))]
    std = [float(v) / stretch for v in (processor.image_std if normalised else (1, 1, 1))]
    return (mean[0], mean[1], mean[2]), (std[0], std[1], std[2])
