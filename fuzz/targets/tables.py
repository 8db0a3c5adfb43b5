"""Files of labels, tables, cards, layouts, specs, split files, text heads, keys, and answers to be continued."""

import io
import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from viewvote import Classifier
from viewvote.cli.flat_csv import columns
from viewvote.cli.output import scores_shown
from viewvote.cli.resume import done_before
from viewvote.context.file import read_context
from viewvote.context.shares import read_shares
from viewvote.datasets.cards import load_cards
from viewvote.datasets.classes import ClassList
from viewvote.datasets.open import open_dataset
from viewvote.datasets.readers.splits import coop_rows, table_rows
from viewvote.encoders.head_file import read_head_file
from viewvote.labels.files import read_labels
from viewvote.labels.texts import checked_texts
from viewvote.outputs import csv_line
from viewvote.report.layouts import load_layout
from viewvote.runs.plan import plan_runs, read_plan
from viewvote.runs.spec import RunSpec
from viewvote.server.access import read_keys

from ..mutators import first_file as kind
from ..mutators import join_files, split_files
from ..mutators import mutated_files as mutate
from ..worker import fresh

__all__ = ["kind", "mutate", "run", "seeds"]

LABELS = ["red", "green"]
CLASSES = ClassList(("red fox", "green"))


def seeds(rng: random.Random) -> list[bytes]:
    """A good file of every kind."""
    del rng
    split = {"train": [], "val": [], "test": [["red_fox/a.jpg", 0, "red_fox"], ["b.jpg", 1, "green"]]}
    row = {"path": "a.png", "label": "red", "index": 0, "method": "zero", "model": "toy", "views_used": 8}
    row["scores"] = {"red": 0.75, "green": 0.25}
    names = columns(3)
    cells = [{**row, "second_label": "green"}.get(name, "") for name in names]
    head = io.BytesIO()
    np.save(head, np.eye(2, 4, dtype=np.float16))
    card = '[cards.birds]\nreader = "folders"\nfolders = ["b"]\nclasses = ["a", "b"]\nimages = 2\ntemplate = "a {}."\n'
    layout = 'name = "x"\ndatasets = ["imagenet"]\n[[averages]]\nname = "M"\nhow = "mean"\n'
    spec = 'dataset = "./table.csv"\nmodel = "toy"\nviews = 8\nkeep = 0.3\nseeds = [0, 1]\nstop = "exact"\n'
    spec += 'templates = ["a {}."]\nlimit = 3\n[settings]\nseed_ties = 1\ntie = "greedy"\n'
    files = {
        "labels.txt": "\ufeffred\n\n green \nétè\n".encode(),
        "labels.json": b'{"red": ["a red thing", "scarlet"], "green": "green"}',
        "labels.jsonl": b'"red"\n{"label": "green"}\n',
        "table.csv": b'path,label\na.jpg,red\n"sub/b, c.jpg",green\n',
        "table.jsonl": b'{"path": "a.jpg", "label": "red"}\n{"path": "b.jpg", "label": "green"}\n',
        "cards.toml": (card + '[suites]\nmine = ["birds"]\n').encode(),
        "layout.toml": layout.encode(),
        "spec.toml": spec.encode(),
        "split.json": json.dumps(split).encode(),
        "cars.csv": b"filename,split\na.jpg,test\nb.jpg,train\n",
        "head.npy": head.getvalue(),
        "head.safetensors": save({"features": np.eye(2, 4, dtype=np.float16)}, {"labels": json.dumps(LABELS)}),
        "context.json": json.dumps(_CONTEXT | {"teacher": _CONTEXT}).encode(),
        "shares.json": b'{"red": 0.2, "green": 0.8}',
        "keys.txt": b"# key\n" + b"0123456789abcdef" * 2 + b"\n",
        "answers.jsonl": json.dumps(row).encode() + b"\n",
        "answers.csv": f"{csv_line(names)}\n{csv_line(cells)}\n".encode(),
    }
    beside = {"labels": LABELS, "templates": ["a {}."], "model": "toy", "scale": 10.0}
    together = {"head.npy": {"head.json": json.dumps(beside).encode()}, "cars.csv": {"labels.csv": _CARS}}
    return [join_files({name: data, **together.get(name, {})}) for name, data in files.items()]


_CONTEXT = {
    "format": "viewvote-context-1",
    "offsets": [0.5, -0.5],
    "n": 9,
    "effective": 1.5,
    "share": 0.3,
    "estimator": "leaks",
    "labels": "a",
    "model": "toy",
    "fingerprint": "b",
    "note": None,
    "teacher": None,
}
_CARS = b"filename,class_idx\na.jpg,1\nb.jpg,0\n"


def run(data: bytes) -> None:
    """Read the files in a folder of their own, by the reader of the first one's name."""
    folder = fresh("files")
    files = split_files(data)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    for name in files:
        if name in _READERS:
            _READERS[name](folder / name)
            return


def _labels(path: Path) -> None:
    checked_texts(read_labels(path), unique=False)


def _table(path: Path) -> None:
    for classes in (None, "imagenet"):
        dataset = open_dataset(path, classes=classes)
        assert len(list(dataset)) == len(dataset) > 0
        assert all(0 <= target < len(dataset.class_names) for target in dataset.targets)
        assert dataset.fingerprint


def _spec(path: Path) -> None:
    for spec in plan_runs(read_plan(path)):
        assert RunSpec.from_toml(spec.to_toml()) == spec
        assert spec.folder_name("x")


@cache
def _toy() -> Classifier:
    return Classifier("toy", labels=LABELS, method="zero", n_views=8)


def _answers(path: Path) -> None:
    fmt, before = path.suffix[1:], path.read_bytes()
    done = done_before(path, fmt, top=scores_shown(fmt, None), classifier=_toy())
    assert fmt == "csv" or before.startswith(path.read_bytes())  # a table's rows of errors are left out
    assert done_before(path, fmt, top=scores_shown(fmt, None), classifier=_toy()) == done


_READERS: dict[str, Callable[[Path], object]] = {
    "labels.txt": _labels,
    "labels.json": _labels,
    "labels.jsonl": _labels,
    "table.csv": _table,
    "table.jsonl": _table,
    "cards.toml": load_cards,
    "layout.toml": load_layout,
    "spec.toml": _spec,
    "split.json": lambda path: coop_rows(path, CLASSES),
    "cars.csv": lambda path: table_rows(path, CLASSES),
    "head.npy": lambda path: read_head_file(path).fingerprint,
    "head.safetensors": lambda path: read_head_file(path).fingerprint,
    "context.json": lambda path: read_context(path).offsets.sum(),
    "shares.json": lambda path: read_shares(path, LABELS),
    "keys.txt": read_keys,
    "answers.jsonl": _answers,
    "answers.csv": _answers,
}
