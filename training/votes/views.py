"""Features of views of photographs, kept on disk: encoded once, asked many times.

    python -m training.votes.views --data DIR --model pocket [--seeds 0,1] [--views 64] [--limit N] [--sets train ...]

`train` are the photographs of train/imagenet with ImageNet's 1000 names, `flickr8k` those with captions; the others
are the evaluation sets. Images are taken in a fixed random order, so that a larger limit holds a smaller; a run that
stopped goes on, and one with more views adds to those that are there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.eval_sets import SETS, data_folder, load_benchmark
from viewvote import LoadOptions, load_encoder
from viewvote.classify.prefetch import prepare_ahead
from viewvote.encoders import Encoder
from viewvote.encoders.likeness import label_likeness
from viewvote.encoders.text_head import TextHead, build_text_head
from viewvote.labels.templates import resolve_templates
from viewvote.methods import ViewLogits
from viewvote.methods.anchored import Anchored
from viewvote.stopping.rules import StoppingRule
from viewvote.views.sample import Keyed, Sample, prepare

TRAIN, FLICKR = "train", "flickr8k"
BUDGET = 64
PHOTO = resolve_templates("photo")


@dataclass(frozen=True)
class Photos:
    """A set of photographs; those with captions alone have neither classes nor labels."""

    name: str
    paths: tuple[Path, ...]
    classes: tuple[str, ...] = ()
    labels: tuple[int, ...] = ()

    def key(self, i: int) -> str:
        return f"{self.paths[i].parent.name}/{self.paths[i].name}"

    @property
    def order(self) -> NDArray[np.int64]:
        """A fixed random order, of which any first part is a fair sample."""
        return np.random.default_rng(0).permutation(len(self.paths))


@dataclass(frozen=True)
class Seen:
    """The photographs of a set whose views are known: their places in it, and the views' features."""

    photos: Photos
    places: NDArray[np.int64]
    features: NDArray[np.float32]  # (images, views, dim), unit


@dataclass(frozen=True)
class Labels:
    """What a model makes of a set's labels."""

    encoder: Encoder
    head: TextHead
    likeness: float

    def views(self, features: NDArray[np.float32]) -> ViewLogits:
        """What a method decides on, of one image's features (views, dim)."""
        logits = self.head.logits(features, self.encoder)
        scale, bias = self.encoder.logit_scale, self.encoder.logit_bias
        return ViewLogits(logits, scale, bias, features=features, text=self.head.features, likeness=self.likeness)

    def looked_at(self, features: NDArray[np.float32], method: Anchored, rule: StoppingRule) -> ViewLogits:
        """What the method decides on where the rule says how many of the views are looked at."""
        every = self.views(features)
        say, sure = method.say(every), float(every.top_probability[0])
        for n in rule.rounds[:-1]:
            views = self.views(features[:n])
            if rule.settled(views.labels, views.order, say=say, sure=sure):
                return views
        return every


def open_photos(data: Path, name: str) -> Photos:
    if name == FLICKR:
        return Photos(name, tuple(sorted((data / "train" / "flickr8k" / "images").glob("*.jpg"))))
    if name != TRAIN:
        bench = load_benchmark(data, name)
        return Photos(name, bench.paths, bench.classes, bench.labels)
    classes = load_benchmark(data, "imagenet").classes
    paths = tuple(sorted((data / "train" / "imagenet").glob("*/*.jpg")))
    return Photos(name, paths, classes, tuple(int(path.parent.name.split("_")[0]) for path in paths))


def labels_of(encoder: Encoder, classes: tuple[str, ...]) -> Labels:
    head = build_text_head(encoder, classes, templates=PHOTO)
    return Labels(encoder, head, label_likeness(encoder, head, templates=PHOTO))


def store(cache: Path, encoder: Encoder, seed: int, name: str) -> Path:
    """Where the views of a set are kept; what is of another image tower lies elsewhere."""
    tower = getattr(encoder, "vision_fingerprint", encoder.fingerprint)
    return cache / f"{tower[:12]}-seed{seed}" / f"{name}.npy"


def fill(encoder: Encoder, photos: Photos, *, cache: Path, seed: int, views: int, limit: int) -> None:
    """Encode what is not there yet of the first `limit` photographs (0: all)."""
    path = store(cache, encoder, seed, photos.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        shape = (len(photos.paths), BUDGET, encoder.dim)
        np.lib.format.open_memmap(path, "w+", np.float16, shape).flush()
    stored = np.load(path, mmap_mode="r+")
    todo = [int(i) for i in photos.order[: limit or None] if not stored[i, views - 1].any()]

    def one(keyed: Keyed) -> Sample:
        key, dataset = keyed.key, keyed.dataset
        return prepare(keyed.image, encoder.image_spec, n_views=BUDGET, seed=seed, dataset=dataset, key=key, first=0)

    images = [Keyed(photos.paths[i], photos.key(i), photos.name) for i in todo]
    for done, (i, sample) in enumerate(zip(todo, prepare_ahead(one, images, ahead=2), strict=True), start=1):
        start = int(stored[i].any(axis=-1).sum())
        stored[i, start:views] = encoder.encode_images(sample.draw(start, views))
        if done % 100 == 0 or done == len(todo):
            print(f"{photos.name}, seed {seed}: {done} of {len(todo)} encoded", file=sys.stderr, flush=True)


def seen(encoder: Encoder, photos: Photos, *, cache: Path, seed: int, views: int) -> Seen | None:
    """What is there with at least so many views; None if nothing is."""
    path = store(cache, encoder, seed, photos.name)
    if not path.exists():
        return None
    stored = np.load(path, mmap_mode="r")
    places = np.array([i for i in range(len(stored)) if stored[i, views - 1].any()], dtype=np.int64)
    if not len(places):
        return None
    features = stored[places, :views].astype(np.float32)
    return Seen(photos, places, features / np.linalg.norm(features, axis=-1, keepdims=True))


def every_set(
    data: Path, encoder: Encoder, *, cache: Path, seed: int, views: int, names: tuple[str, ...] = (TRAIN, *SETS)
) -> Iterator[Seen]:
    """The sets of which anything is there."""
    for name in names:
        found = seen(encoder, open_photos(data, name), cache=cache, seed=seed, views=views)
        if found is not None:
            yield found


def arguments(text: str | None) -> argparse.ArgumentParser:
    """The options that all steps take."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=data_folder, required=True)
    parser.add_argument("--model", default="pocket")
    parser.add_argument("--cache", type=Path, default=Path("runs/votes"))
    return parser


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--views", type=int, default=BUDGET, choices=range(1, BUDGET + 1), metavar="N")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--sets", nargs="+", default=[TRAIN, FLICKR, *SETS], choices=[TRAIN, FLICKR, *SETS])
    args = parser.parse_args()
    encoder = load_encoder(args.model, LoadOptions(threads=args.threads))
    for seed in map(int, args.seeds.split(",")):
        for name in args.sets:
            photos = open_photos(args.data, name)
            fill(encoder, photos, cache=args.cache, seed=seed, views=args.views, limit=args.limit)


if __name__ == "__main__":
    main()
