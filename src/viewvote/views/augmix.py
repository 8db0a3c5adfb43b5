"""AugMix views: a crop mixed with three chains of small operations on it, as TPT draws them for fine-grained sets.

The authors mix normalised pixels. Normalisation is affine and the weights of the mix sum to one, so mixing uint8 pixels
and rounding gives the same view to within half a grey level.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageOps

from ..arrays import Float32, UInt8
from ..rng import SampleRng

CHAINS = 3
LONGEST = 3
LEVEL = (0.1, 1.0)
POSTERIZE_BITS = 4  # the authors' 4 - int(0.4 * level) is always 4 at severity 1
_DRAWS = CHAINS + 1 + CHAINS * (1 + 3 * LONGEST)  # weights, blend; per chain its length and op, level, sign of each op


@dataclass(frozen=True)
class Step:
    """One operation of a chain: which, how strong in [0.1, 1), and which way."""

    op: str
    level: float
    sign: int


@dataclass(frozen=True)
class Mix:
    """How one view is mixed: `blend` of the crop itself, the rest shared by the chains according to `weights`."""

    blend: float
    weights: tuple[float, ...]
    chains: tuple[tuple[Step, ...], ...]


def sample_mixes(n: int, rng: SampleRng) -> list[Mix]:
    """n mixes; mix i is the same whatever n is. Every mix takes equally many numbers, used or not."""
    return [_mix_of(row) for row in rng.uniform(n, _DRAWS).tolist()]


def _mix_of(draws: list[float]) -> Mix:
    # Dirichlet(1, 1, 1) is three exponentials over their sum; Beta(1, 1) is uniform.
    exponentials = -np.log1p(-np.array(draws[:CHAINS]))
    total = float(exponentials.sum())
    weights = exponentials / total if total > 0 else np.full(CHAINS, 1 / CHAINS)
    chains = []
    for c in range(CHAINS):
        first = CHAINS + 1 + c * (1 + 3 * LONGEST)
        length = 1 + int(draws[first] * LONGEST)
        chains.append(tuple(_step_of(draws[first + 1 + 3 * i : first + 4 + 3 * i]) for i in range(length)))
    return Mix(draws[CHAINS], tuple(weights.tolist()), tuple(chains))


def _step_of(draws: list[float]) -> Step:
    op = OPERATIONS[int(draws[0] * len(OPERATIONS))]
    return Step(op, LEVEL[0] + (LEVEL[1] - LEVEL[0]) * draws[1], -1 if draws[2] > 0.5 else 1)


def mix_view(view: Image.Image, mix: Mix) -> UInt8:
    """The mixed view (size, size, 3): every chain starts from the view itself."""
    total: Float32 = np.float32(mix.blend) * np.asarray(view, dtype=np.float32)
    for weight, chain in zip(mix.weights, mix.chains, strict=True):
        drawn = view
        for step in chain:
            drawn = apply(drawn, step)
        total = total + np.float32((1 - mix.blend) * weight) * np.asarray(drawn, dtype=np.float32)
    return np.rint(np.clip(total, 0, 255)).astype(np.uint8)


def apply(view: Image.Image, step: Step) -> Image.Image:
    """The view after one operation; translations are a thirtieth of the view at most, 7 pixels of 224."""
    return _APPLY[step.op](view, step.level, step.sign)


def _rotate(view: Image.Image, level: float, sign: int) -> Image.Image:
    return view.rotate(sign * int(3 * level), resample=Image.Resampling.BILINEAR)


def _solarize(view: Image.Image, level: float, sign: int) -> Image.Image:
    del sign
    return ImageOps.solarize(view, 256 - int(25.6 * level))


def _affine(view: Image.Image, matrix: tuple[float, float, float, float, float, float]) -> Image.Image:
    return view.transform(view.size, Image.Transform.AFFINE, matrix, resample=Image.Resampling.BILINEAR)


def _shear_x(view: Image.Image, level: float, sign: int) -> Image.Image:
    return _affine(view, (1, sign * 0.03 * level, 0, 0, 1, 0))


def _shear_y(view: Image.Image, level: float, sign: int) -> Image.Image:
    return _affine(view, (1, 0, 0, sign * 0.03 * level, 1, 0))


def _translate_x(view: Image.Image, level: float, sign: int) -> Image.Image:
    return _affine(view, (1, 0, sign * int(level * view.width / 30), 0, 1, 0))


def _translate_y(view: Image.Image, level: float, sign: int) -> Image.Image:
    return _affine(view, (1, 0, 0, 0, 1, sign * int(level * view.height / 30)))


_APPLY: dict[str, Callable[[Image.Image, float, int], Image.Image]] = {
    "autocontrast": lambda view, _level, _sign: ImageOps.autocontrast(view),
    "equalize": lambda view, _level, _sign: ImageOps.equalize(view),
    "posterize": lambda view, _level, _sign: ImageOps.posterize(view, POSTERIZE_BITS),
    "rotate": _rotate,
    "solarize": _solarize,
    "shear_x": _shear_x,
    "shear_y": _shear_y,
    "translate_x": _translate_x,
    "translate_y": _translate_y,
}
OPERATIONS = tuple(_APPLY)
