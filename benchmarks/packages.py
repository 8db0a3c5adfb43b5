"""One photo and ten labels through viewvote and through what others ship: first answer, the next ones, memory.

    python -m benchmarks.packages --pack FOLDER --weights vit-b-16.safetensors --photo PHOTO [--rounds 5] [--zero FILE]
                                  [--write]

All run the same ViT-B/16 in float32 with random weights (`benchmarks.endtoend` makes both files), so answers mean
nothing and are not compared. Every way has a process of its own; answers after the first are asked in turns. `--zero`
is torch_uncertainty/methods/zero.py of torch-uncertainty, loaded by itself: it decides on views that its user has
drawn, so it gets the authors' crops, and its decision is compared with ours on drawn logits.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.sections import add_write, section

LABELS = ("cat", "dog", "horse", "car", "tree", "house", "cup", "rocket", "astronaut", "guitar")
PROMPTS = [f"a photo of a {label}." for label in LABELS]
WAYS = {
    "viewvote, 1 view": "viewvote:1",
    "viewvote, 64 views": "viewvote:64",
    "open_clip 3, 1 view": "open_clip",
    "transformers' pipeline, 1 view": "transformers",
    "torch-uncertainty 0.13's `Zero` on the authors' 64 crops": "torch_uncertainty",
}


def viewvote_way(asked: argparse.Namespace, views: int) -> Callable[[], Any]:
    from viewvote import Classifier, LoadOptions

    options = LoadOptions(precision="fp32")
    ways = {"n_views": views, "method": "zero"} if views > 1 else {"method": "zero-shot"}
    clf = Classifier(f"onnx:{asked.pack}", labels=list(LABELS), options=options, **ways)
    return lambda: clf(asked.photo)


def tower(asked: argparse.Namespace) -> tuple[Any, Any, Any]:
    """open_clip's model, its preprocessing, and unit class embeddings."""
    import open_clip
    import torch

    model, _, preprocess = open_clip.create_model_and_transforms("ViT-B-16", pretrained=str(asked.weights))
    model.eval()
    with torch.no_grad():
        text = model.encode_text(open_clip.get_tokenizer("ViT-B-16")(PROMPTS), normalize=True)
    return model, preprocess, text


def open_clip_way(asked: argparse.Namespace) -> Callable[[], Any]:
    import torch
    from PIL import Image

    model, preprocess, text = tower(asked)

    def ask() -> Any:
        with torch.no_grad():
            features = model.encode_image(preprocess(Image.open(asked.photo)).unsqueeze(0), normalize=True)
            return (model.logit_scale.exp() * features @ text.T).softmax(dim=-1)

    return ask


def transformers_way(asked: argparse.Namespace) -> Callable[[], Any]:
    import open_clip
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPTokenizer, pipeline

    simple = open_clip.SimpleTokenizer()
    merges = [pair for pair, _ in sorted(simple.bpe_ranks.items(), key=lambda item: item[1])]
    names = {"<start_of_text>": "<|startoftext|>", "<end_of_text>": "<|endoftext|>"}
    vocab = {names.get(token, token): i for token, i in simple.encoder.items()}
    tokenizer = CLIPTokenizer(vocab=vocab, merges=merges, model_max_length=77)
    model = CLIPModel(CLIPConfig(vision_config={"patch_size": 16})).eval()
    ask = pipeline(
        "zero-shot-image-classification", model=model, tokenizer=tokenizer, image_processor=CLIPImageProcessor()
    )
    return lambda: ask(str(asked.photo), candidate_labels=list(LABELS))


def torch_uncertainty_way(asked: argparse.Namespace) -> Callable[[], Any]:
    import torch

    from benchmarks.reference import Reference
    from viewvote.images.spec import ImageSpec

    model, _, text = tower(asked)
    scale = model.logit_scale.exp().item()
    mean, std = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
    crops = Reference(model.visual, text, ImageSpec(size=224, mean=mean, std=std), logit_scale=scale)

    class Probabilities(torch.nn.Module):
        def forward(self, views: Any) -> Any:
            return (scale * model.encode_image(views, normalize=True) @ text.T).softmax(dim=-1)

    zero = their_zero(asked.zero)(Probabilities(), num_tta=64, filter_views=0.3).eval()

    def ask() -> Any:
        with torch.no_grad():
            return zero(crops.draw(Path(asked.photo).read_bytes()))

    return ask


def their_zero(path: Path) -> Any:
    """torch-uncertainty's class Zero, from its file alone."""
    spec = spec_from_file_location("their_zero", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Zero


def same_decisions(path: Path, *, images: int = 500, views: int = 64, classes: int = 10) -> tuple[int, int]:
    """How many drawn images their Zero answers as ours, and how many of our votes were tied."""
    import torch

    from viewvote.vote import vote

    rng = np.random.default_rng(0)
    same = ties = 0
    zero = their_zero(path)(torch.nn.Identity(), num_tta=views, filter_views=0.3).eval()
    for _ in range(images):
        logits = (rng.normal(size=classes) + 2.0 * rng.normal(size=(views, classes))).astype(np.float32)
        ours = vote(logits, keep=0.3)
        theirs = int(zero(torch.softmax(torch.from_numpy(logits), dim=-1)).argmax())
        same += theirs == ours.winner
        ties += ours.tie_break is not None
    return same, ties


def serve(way: str, asked: argparse.Namespace) -> None:
    """The process of one way: an answer for each line on standard input."""
    start, cpu = time.perf_counter(), time.process_time()
    name, _, views = way.partition(":")
    ask = viewvote_way(asked, int(views)) if views else globals()[f"{name}_way"](asked)
    ask()
    print(json.dumps([time.perf_counter() - start, time.process_time() - cpu]), flush=True)
    for _ in sys.stdin:
        start, cpu = time.perf_counter(), time.process_time()
        ask()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps([time.perf_counter() - start, time.process_time() - cpu, peak]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--photo", type=Path, required=True)
    parser.add_argument("--zero", type=Path, help="torch-uncertainty's zero.py; without it that row is left out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--way", help=argparse.SUPPRESS)
    add_write(parser)
    asked = parser.parse_args()
    if asked.way:
        serve(asked.way, asked)
        return
    place = section("benchmarks.packages", write=asked.write)
    ways = {title: way for title, way in WAYS.items() if way != "torch_uncertainty" or asked.zero}
    command = [sys.executable, "-m", "benchmarks.packages", *sys.argv[1:], "--way"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    workers, first = {}, {}
    for title, way in ways.items():
        workers[title] = subprocess.Popen([*command, way], text=True, **pipes)
        first[title] = json.loads(workers[title].stdout.readline())
    rounds: dict[str, list[list[float]]] = {title: [] for title in ways}
    for _ in range(asked.rounds):
        for title, worker in workers.items():
            worker.stdin.write("again\n")
            worker.stdin.flush()
            rounds[title].append(json.loads(worker.stdout.readline()))
    for worker in workers.values():
        worker.stdin.close()
        worker.wait()
    print("Processor seconds, medians of the rounds:\n")
    place.show(table(first, rounds))
    if asked.zero:
        same, ties = same_decisions(asked.zero)
        print(f"\ntorch-uncertainty's Zero answers {same} of 500 drawn images as ours; {ties} votes were tied.")


def table(first: dict[str, list[float]], rounds: dict[str, list[list[float]]]) -> Iterator[str]:
    """A line for each way, of (wall seconds, processor seconds[, peak MB]) of its first and of later answers."""
    yield "| way | to the first answer | an answer after it | peak MB |"
    yield "|---|---:|---:|---:|"
    for title, found in rounds.items():
        cpu, peak = median(one[1] for one in found), max(one[2] for one in found)
        yield f"| {title} | {first[title][1]:.1f} s | {cpu:.2f} s | {peak:,.0f} |"


if __name__ == "__main__":
    main()
