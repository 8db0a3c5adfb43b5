"""Bilinear antialiased resizing, by SIMD code where there is a build of it for the machine, else by Pillow.

Both compute the same filter in fixed-point numbers of different width, so a pixel differs by one grey level at most;
the SIMD code is about four times as fast. Nothing here depends on threads or order.
"""

import threading
from functools import lru_cache
from importlib.util import find_spec

from PIL import Image

_local = threading.local()


@lru_cache(maxsize=1)
def is_fast() -> bool:
    """Whether the SIMD resizer is installed: everywhere but on ARM Linux and ARM Windows, where Pillow does it."""
    return find_spec("cykooz_resizer") is not None


def resize(
    image: Image.Image,
    size: tuple[int, int],
    *,
    box: tuple[float, float, float, float] | None = None,
    exact: bool = False,
) -> Image.Image:
    """The RGB image, or the part of it in `box`, at `size`; `exact` asks for Pillow's pixels to the last bit."""
    if exact or not is_fast():
        return image.resize(size, Image.Resampling.BILINEAR, box=box)
    from cykooz_resizer import CropBox, FilterType, ResizeAlg, ResizeOptions, Resizer

    if not hasattr(_local, "resizer"):  # it owns scratch memory: one for each thread
        _local.resizer = Resizer()
    options = ResizeOptions(resize_alg=ResizeAlg.convolution(FilterType.bilinear), use_alpha=False)
    if box is not None:
        left, top, right, bottom = box
        options.crop_box = CropBox(left, top, right - left, bottom - top)
    resized = Image.new("RGB", size)
    _local.resizer.resize_pil(image, resized, options)
    return resized
