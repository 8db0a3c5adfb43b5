"""Views drawn where the model is: each level of the photo is uploaded once, and all crops are resampled in batches.

The filters are Pillow's antialiased ones as two products with matrices of weights, rounded once at the end where Pillow
rounds after each pass: a pixel differs by one grey level at most.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from ...errors import UsageError
from ...images.spec import ImageSpec, Interpolation
from ...views.crops import View
from ...views.draw import reduction

BATCH = 16
"""Crops resampled at once: bounds memory, for each is widened to floats at its level's resolution."""

_SUPPORT: dict[Interpolation, float] = {"nearest": 0.5, "bilinear": 1.0, "bicubic": 2.0, "lanczos": 3.0}


class _Spans(NamedTuple):
    """Along one axis, per view: the stretch it shows, the pixels it may read, and whether it is mirrored."""

    start: Tensor
    length: Tensor
    low: Tensor
    high: Tensor
    flip: Tensor


def draw_views(
    levels: Mapping[int, Image.Image], views: Sequence[View], spec: ImageSpec, *, device: torch.device
) -> Tensor:
    """The views as uint8 (views, size, size, 3) on the device, from decoded levels (`Photo.levels`)."""
    if any(view.mix is not None for view in views):
        raise UsageError("AugMix views are not drawn on the device; take crops, or draw on the CPU.")
    out = torch.empty((len(views), spec.size, spec.size, 3), dtype=torch.uint8, device=device)
    factors = [max(f for f in levels if f <= reduction(view.box, spec.size)) for view in views]
    for factor in sorted(set(factors)):
        level = torch.from_numpy(np.array(levels[factor])).to(device)  # (height, width, 3)
        for is_source in (True, False):
            chosen = [i for i, view in enumerate(views) if factors[i] == factor and view.source is is_source]
            kind: Interpolation = spec.interpolation if is_source else "bilinear"
            for at in range(0, len(chosen), BATCH):
                batch = chosen[at : at + BATCH]
                out[batch] = _resample(level, [views[i] for i in batch], factor, size=spec.size, kind=kind)
    return out


def _resample(level: Tensor, views: Sequence[View], factor: int, *, size: int, kind: Interpolation) -> Tensor:
    """Views of one level and one filter, (views, size, size, 3)."""
    height, width = level.shape[:2]
    boxes = [(v.box.left, v.box.top, v.box.right, v.box.bottom) for v in views]
    edges = torch.tensor(boxes, dtype=torch.float64, device=level.device) / factor
    mirrored = torch.tensor([view.flip for view in views], device=level.device)
    upright = torch.zeros_like(mirrored)
    # A crop reads nothing outside itself, as torchvision crops first; other views may, as on the CPU.
    cropped = factor == 1 and not views[0].source
    columns = _spans(edges[:, 0], edges[:, 2], width, flip=mirrored, cropped=cropped)
    rows = _spans(edges[:, 1], edges[:, 3], height, flip=upright, cropped=cropped)
    row_weights, row_pixels = _weights(rows, size=size, kind=kind)
    column_weights, column_pixels = _weights(columns, size=size, kind=kind)
    windows = level[row_pixels[:, :, None], column_pixels[:, None, :]].float()  # (views, rows, columns, 3)
    drawn = torch.einsum("vyr,vrck,vxc->vyxk", row_weights, windows, column_weights)
    # floor(x + 0.5), not round: Pillow rounds halves up
    return (drawn + 0.5).floor().clamp(0, 255).to(torch.uint8)


def _spans(start: Tensor, end: Tensor, limit: int, *, flip: Tensor, cropped: bool) -> _Spans:
    end = end.clamp(max=limit)
    low, high = (start, end) if cropped else (torch.zeros_like(start), torch.full_like(end, limit))
    return _Spans(start, end - start, low, high, flip)


def _weights(spans: _Spans, *, size: int, kind: Interpolation) -> tuple[Tensor, Tensor]:
    """Each output pixel's weights (views, size, window) of the pixels (views, window) that its view reads."""
    scale = (spans.length / size)[:, None, None]
    stretch = torch.ones_like(scale) if kind == "nearest" else scale.clamp(min=1)
    steps = torch.arange(size, device=scale.device, dtype=scale.dtype).expand(len(scale), size)
    steps = torch.where(spans.flip[:, None], size - 1 - steps, steps)
    centres = spans.start[:, None, None] + (steps[:, :, None] + 0.5) * scale  # (views, size, 1)
    reach = _SUPPORT[kind] * stretch[:, 0, 0]
    first = (spans.start - reach).floor().maximum(spans.low)
    last = (spans.start + spans.length + reach).ceil().minimum(spans.high)
    window = torch.arange(int((last - first).max()), device=scale.device, dtype=scale.dtype)
    pixels = first[:, None] + window  # (views, window)
    weights = _filter((pixels[:, None, :] + 0.5 - centres) / stretch, kind)
    weights = weights * (pixels < spans.high[:, None])[:, None, :]
    weights = weights / weights.sum(dim=-1, keepdim=True)
    inside = pixels.minimum(spans.high[:, None] - 1)  # what lies beyond has no weight, but must exist
    return weights.float(), inside.long()


def _filter(x: Tensor, kind: Interpolation) -> Tensor:
    """Pillow's resampling kernels."""
    x = x if kind == "nearest" else x.abs()
    match kind:
        case "nearest":  # the pixel that holds the point
            return ((x > -0.5) & (x <= 0.5)).to(x.dtype)
        case "bilinear":
            return (1 - x).clamp(min=0)
        case "bicubic":  # a = -0.5
            near, far = (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
            return torch.where(x < 1, near, torch.where(x < 2, far, 0))
        case "lanczos":
            return torch.where(x < 3, torch.sinc(x) * torch.sinc(x / 3), 0)
