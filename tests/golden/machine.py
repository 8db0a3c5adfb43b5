"""Which last bits to expect here: digests of what the libraries compute, without any code of viewvote.

Floats differ in their last bits between kinds of processors and releases of libraries. Were the probe computed by
viewvote, an answer that changed could pass for another kind of machine.
"""

from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image

ROOT = Path(__file__).parents[2]
POCKET = ROOT / "models" / "pocket"
HEX = 16


def digest(data: str | bytes) -> str:
    """The first hex digits of the sha256."""
    return sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:HEX]


@cache
def numpy_probe() -> str:
    """A digest of drawn numbers, exponentials, logarithms, sums, products and resized pictures."""
    rng = np.random.default_rng(0)
    x = rng.normal(0, 3, (37, 129)).astype(np.float32)
    y = rng.normal(0, 3, (37, 129))
    arrays = [rng.random(5), rng.permutation(9), rng.beta(1.0, 1.0, 5), rng.dirichlet(np.ones(3), 5)]
    for values in (x, y):
        powers = np.exp(values - values.max(axis=-1, keepdims=True))
        arrays += [powers, np.log(powers.sum(axis=-1)), values @ values.T, values.mean(axis=0), np.sqrt(np.abs(values))]
        arrays += [np.einsum("ij,kj->ik", values, values), np.linalg.norm(values, axis=-1), values[:3] @ values[0]]
    return digest(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays) + _pictures())


@cache
def pocket_probe() -> str:
    """A digest of what the shipped graphs give for fixed inputs, of decoded photographs, and of the numpy probe."""
    pixels = np.linspace(-1, 1, 3 * 224 * 224, dtype=np.float32).reshape(1, 3, 224, 224)[:, :, ::-1].copy()
    ids = np.array([[2, 1037, 1166, 1020, 3], [2, 1166, 3, 0, 0]])
    feeds = {"pixel_values": pixels, "input_ids": ids, "attention_mask": (ids > 0).astype(np.int64)}
    parts = [numpy_probe().encode()]
    for name in ("vision.onnx", "vision.int8.onnx", "text.onnx"):
        session = onnxruntime.InferenceSession(POCKET / name, providers=["CPUExecutionProvider"])
        types = {"tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(float)": np.float32}
        known = {port.name: feeds[port.name].astype(types[port.type]) for port in session.get_inputs()}
        parts += [np.ascontiguousarray(out).tobytes() for out in session.run(None, known)]
    parts += [_open(path).tobytes() for path in sorted((ROOT / "examples" / "photos").glob("*.jpg"))]
    return digest(b"".join(parts))


def _open(path: Path) -> Image.Image:
    with Image.open(path) as image:
        return image.convert("RGB")


def _pictures() -> bytes:
    """A drawn picture resized by Pillow, and by the SIMD resizer where it is installed."""
    drawn = Image.fromarray(np.random.default_rng(1).integers(0, 256, (61, 83, 3), dtype=np.uint8))
    sizes = ((32, 32), (97, 40))
    filters = (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC)
    parts = [drawn.resize(size, kind, box=(3, 5, 71, 50)).tobytes() for size in sizes for kind in filters]
    if find_spec("cykooz_resizer"):
        from cykooz_resizer import FilterType, ResizeAlg, ResizeOptions, Resizer

        for size in sizes:
            resized = Image.new("RGB", size)
            options = ResizeOptions(resize_alg=ResizeAlg.convolution(FilterType.bilinear), use_alpha=False)
            Resizer().resize_pil(drawn, resized, options)
            parts.append(resized.tobytes())
    return b"".join(parts)
