"""64 views through the pocket model's image tower, as the package runs it, against eager PyTorch; and end to end.

Rounds are interleaved in one process. The references are the same tower in eager PyTorch and a ViT-B/16-shaped CLIP
tower (random weights) in eager PyTorch, both in fp32 on all cores, all 64 views in batches of 16.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import open_clip
import torch

from viewvote import Classifier, load_encoder
from viewvote.files import example_photos

BATCH = 16


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def eager(tower: Callable[[torch.Tensor], object], pixels: torch.Tensor) -> None:
    with torch.inference_mode():
        for i in range(0, len(pixels), BATCH):
            tower(pixels[i : i + BATCH])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    views = np.random.default_rng(0).integers(0, 256, (64, 224, 224, 3), dtype=np.uint8)
    pixels = torch.from_numpy(views).permute(0, 3, 1, 2).float() / 255
    pack, ours = load_encoder("pocket"), load_encoder("pocket-torch")
    vit = open_clip.create_model("ViT-B-16").eval().visual
    classifier = Classifier(pack, labels=["cat", "dog", "rocket", "coffee cup"])
    photo = next(path for path in example_photos() if path.stem == "coffee").read_bytes()
    modes: dict[str, Callable[[], object]] = {
        "pocket, ONNX Runtime": lambda: pack.encode_images(views),
        "pocket, JPEG bytes to Prediction": lambda: classifier(photo),
        "pocket, eager PyTorch": lambda: eager(ours.model.image, pixels),
        "ViT-B/16, eager PyTorch": lambda: eager(vit, pixels),
    }
    times: dict[str, list[float]] = {name: [] for name in modes}
    for round_number in range(rounds + 1):
        for name, work in modes.items():
            taken = seconds(work)
            if round_number:  # the first round warms up
                times[name].append(taken)
    base = times["pocket, JPEG bytes to Prediction"]
    print("| 64 views of one photo | seconds (range) | times the end-to-end time |\n|---|---|---|")
    for name, taken in times.items():
        ratio = statistics.median(a / b for a, b in zip(taken, base, strict=True))
        print(f"| {name} | {statistics.median(taken):.2f} ({min(taken):.2f}-{max(taken):.2f}) | {ratio:.2f} |")


if __name__ == "__main__":
    main()
