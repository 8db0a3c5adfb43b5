"""Drawing 64 views: ours against the straightforward torchvision pipeline, interleaved in one run.

Both start from JPEG bytes and end with 64 uint8 views. The reference decodes once, then resizes and crops the source
view and runs 63 x RandomResizedCrop + RandomHorizontalFlip + pil_to_tensor, one after another.
"""

import argparse
import io
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from PIL import Image
from torchvision import transforms
from torchvision.transforms.functional import pil_to_tensor

from viewvote.images.photo import open_photo
from viewvote.images.spec import ImageSpec
from viewvote.rng import sample_rng
from viewvote.views.crops import sample_views
from viewvote.views.draw import render_views

SIZES = {"500 x 375": (500, 375), "1024 x 768": (1024, 768), "12 megapixels": (4000, 3000)}
SPEC = ImageSpec(size=224)
SOURCE = transforms.Compose(
    [transforms.Resize(224, interpolation=transforms.InterpolationMode.BICUBIC), transforms.CenterCrop(224)]
)
CROP = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip()])


def photo_like(width: int, height: int) -> bytes:
    """A JPEG with structure at several scales and some grain."""
    rng = np.random.default_rng(0)
    pixels = np.zeros((height, width, 3), dtype=np.float32)
    for cells in (4, 16, 64):
        small = Image.fromarray(rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        pixels += np.asarray(small.resize((width, height), Image.Resampling.BICUBIC), dtype=np.float32) / 3
    pixels += rng.normal(0, 4, pixels.shape).astype(np.float32)
    out = io.BytesIO()
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(out, "JPEG", quality=90)
    return out.getvalue()


def reference(data: bytes) -> object:
    image = Image.open(io.BytesIO(data)).convert("RGB")
    views = [pil_to_tensor(SOURCE(image))] + [pil_to_tensor(CROP(image)) for _ in range(63)]
    return torch.stack(views)


def ours(data: bytes) -> object:
    photo = open_photo(data)
    return render_views(
        photo, sample_views(photo.size, SPEC, n_views=64, rng=sample_rng(seed=0, dataset="", key=photo.key)), SPEC
    )


def seconds(function: Callable[[bytes], object], data: bytes) -> float:
    start = time.perf_counter()
    function(data)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    # As in a DataLoader worker; otherwise torch's idle threads spin into the next measurement.
    torch.set_num_threads(1)
    print("| image | torchvision (s) | viewvote (s) | ratio | range of ratios |\n|---|---|---|---|---|")
    for name, size in SIZES.items():
        data = photo_like(*size)
        reference(data), ours(data)  # warm up
        pairs = [(seconds(reference, data), seconds(ours, data)) for _ in range(rounds)]
        theirs, mine = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratios = sorted(a / b for a, b in pairs)
        spread = f"{ratios[0]:.1f}-{ratios[-1]:.1f}"
        print(f"| {name} | {theirs:.3f} | {mine:.3f} | {statistics.median(ratios):.1f} | {spread} |")


if __name__ == "__main__":
    main()
