"""Folders that commands write and read again: features, logs of sorted folders, explanations, tables of bulk runs."""

import json
import random
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image

from viewvote import Classifier
from viewvote.bulk.output import Table
from viewvote.bulk.schema import schema_of
from viewvote.classify.feature_files import FeatureWriter, open_features
from viewvote.classify.features import Encoding
from viewvote.cli.explanations import SHOWN, Explainer
from viewvote.errors import ViewvoteError
from viewvote.runs.environment import environment_of
from viewvote.sorting.log import NAME, VERSION, read_log
from viewvote.sorting.sorter import Sorter

from ..mutators import first_file as kind
from ..mutators import join_files, split_files
from ..mutators import mutated_files as mutate
from ..worker import fresh

__all__ = ["GROWTH", "kind", "mutate", "run", "seeds"]

GROWTH = 300
LABELS = ["red", "green"]
FEATURES = ("encoding.json", "images.jsonl", "features.npy")


@cache
def _toy() -> Classifier:
    return Classifier("toy", labels=LABELS, method="zero", n_views=4)


@cache
def _environment() -> dict[str, Any]:
    return environment_of(_toy())


@cache
def _features() -> bytes:
    with TemporaryDirectory() as folder:
        images = [Path(folder) / f"{colour}.png" for colour in LABELS]
        for path in images:
            Image.new("RGB", (20, 14), path.stem).save(path)
        _toy().encode([*map(str, images)], out=Path(folder) / "features")
        return join_files({name: (Path(folder) / "features" / name).read_bytes() for name in FEATURES})


def seeds(rng: random.Random) -> list[bytes]:
    """A folder of every kind."""
    del rng
    entry = {"source": "/p/a.jpg", "target": "red/a.jpg", "label": "red", "probability": 0.5, "size": 3, "mtime_ns": 9}
    log = [{"viewvote_sort": VERSION, "settings": {"move": False}}, {"folder": "."}, {"folder": "red"}]
    log += [{"plan": entry}, {"done": "red/a.jpg"}, {"plan": {**entry, "target": "red/b.jpg"}}]
    shown = {"path": "a.png", "picture": "a.webp", "thumbnail": "thumbnails/a.webp", "label": "red"}
    shown |= {"probability": 0.5, "votes": "3 of 4"}
    manifest = {"viewvote": "0.1.0", "settings": {"seed": 0}, "environment": _environment()}
    return [
        _features(),
        join_files({NAME: _lines(log)}),
        join_files({SHOWN: _lines([shown, {**shown, "label": None}])}),
        join_files({"manifest.json": json.dumps(manifest).encode()}),
    ]


def _lines(rows: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def run(data: bytes) -> None:
    """Read the files as what they are named after."""
    folder = fresh("folder")
    files = split_files(data)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    if NAME in files:
        known = read_log(folder / NAME)
        sorter = Sorter(folder, move=False, settings={} if known is None else known.settings, dry_run=True)
        sorter.left(["/p/a.jpg", "a.jpg"])
        assert all(".." not in entry.target for entry in known.entries) if known else True
    elif SHOWN in files:
        shown = Explainer(folder, ["a.png"], resume=True)
        shown.write_page()
    elif "manifest.json" in files:
        _read_table(folder, files["manifest.json"])
    else:
        _read_features(folder)


def _read_table(folder: Path, manifest: bytes) -> None:
    table = Table(str(folder / "out.parquet"), schema_of({}))
    (folder / "out.parquet.manifest").mkdir()
    (folder / "out.parquet.manifest" / "manifest.json").write_bytes(manifest)
    table.manifest()
    table.settle_environment(_environment())
    table.settle({"seed": 0})
    table.finished()


def _read_features(folder: Path) -> None:
    refusal: ViewvoteError | None = None
    try:
        features = open_features(folder)
        for image in features:
            assert np.asarray(image.features).dtype == np.float32
        with suppress(ViewvoteError):  # of another model, or damaged rows
            list(_toy().predict_features(features))
    except ViewvoteError as error:
        refusal = error
    with suppress(ViewvoteError), FeatureWriter(folder, _encoding(), resume=True):
        pass
    if refusal is not None:
        raise refusal


@cache
def _encoding() -> Encoding:
    with TemporaryDirectory() as folder:
        for name, content in split_files(_features()).items():
            (Path(folder) / name).write_bytes(content)
        return open_features(folder).encoding
