"""The runs to report on: folders with a spec, records and, once complete, a summary."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..datasets.readers.hf import PREFIX
from ..datasets.readers.tables import SUFFIXES
from ..errors import RecordError, UsageError
from ..records.columns import Columns, read_columns

# What a run may differ in and still be in the same row of a table.
_NOT_SETTINGS = ("dataset", "root", "seed", "classes", "limit", "fingerprint", "device", "batch_views", "order")
FULL_SPLIT = "full split"
BLOCK = 1 << 20
_DEFAULTS: Mapping[str, object] = {
    "views": 64,
    "templates": "photo",
    "augment": "crops",
    "dtype": "fp32",
    "runtime": "auto",
    "precision": "auto",
}
# Of the methods, told here because asking some of them imports torch: their own keep, and which learn as they go.
_STREAMING = ("tda", "dota")
_KEEPS = {"zero": 0.3} | dict.fromkeys(("marginal", "mean-logits", "tda", "dota", "tpt", "promptalign", "rlcf"), 0.1)


@dataclass(frozen=True)
class Run:
    """One run with its `n` records; `summary` is None while it is not complete.

    dataset_name   what the run was told its dataset is called when it began; None in runs of older versions
    """

    path: Path
    spec: Mapping[str, Any]
    summary: Mapping[str, Any] | None
    n: int
    dataset_name: str | None = None

    @property
    def records(self) -> Path:
        """The file of records."""
        return self.path / "records.jsonl"

    @property
    def dataset(self) -> str:
        """The dataset's own name."""
        told = (self.summary or {}).get("dataset") or self.dataset_name
        return str(told or _guessed_name(str(self.spec.get("dataset", self.path.name))))

    @property
    def model(self) -> str:
        """The model, "student -> teacher" in a cascade."""
        teacher = self.spec.get("teacher")
        return str(self.spec.get("model", "pocket")) + (f" -> {teacher}" if teacher else "")

    @property
    def method(self) -> str:
        """The method's name."""
        return str(self.spec.get("method", "zero"))

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self.spec.get("seed", 0))

    @property
    def split(self) -> str:
        """Which samples it is over: "full split" is said only of a complete run over a whole official split."""
        told = self.summary
        if told is None:
            return "not complete"
        if told.get("full_split") is True and told.get("n") == told.get("dataset_size"):
            return FULL_SPLIT
        if told.get("subset") is not False:
            return "subset"
        expected = told.get("split_size")
        if expected is None:
            return "no official split"
        usable = told.get("n", 0) - told.get("errors", 0)
        return f"incomplete: {usable:,} of {expected:,}" if usable < expected else "not the official split"

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the answers besides dataset and seed, without what has its default."""
        given = {name: value for name, value in self.spec.items() if name not in _NOT_SETTINGS}
        if self.method in _STREAMING:  # the order of samples decides no other method's answers
            given["order"] = self.spec.get("order")
        defaults = {**_DEFAULTS, "keep": _KEEPS.get(self.method), "order": "shuffled"}
        return {name: value for name, value in given.items() if value and value != defaults.get(name)}

    @property
    def title(self) -> str:
        """The method and what is not default about it: "zero (keep 0.1, templates ensemble)"."""
        rest = {k: v for k, v in self.settings.items() if k not in ("method", "model", "teacher", "settings")}
        rest |= dict(self.settings.get("settings", {}))
        return self.method + (f" ({', '.join(f'{k} {v}' for k, v in rest.items())})" if rest else "")

    def columns(self, *, views: bool = False) -> Columns:
        """The run's records; what their views said only on demand."""
        return read_columns(self.records, views=views)


def load_run(path: Path) -> Run:
    """The run in a folder, or an error that says what is missing."""
    if not (path / "records.jsonl").is_file():
        raise UsageError(f"{path} is not a run: it has no records.jsonl. Give a folder that `viewvote eval` made.")
    try:
        spec = tomllib.loads((path / "spec.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecordError(f"{path} is not a run: its spec.toml cannot be read ({error}).") from error
    summary, environment = (_told(path / f"{name}.json") for name in ("summary", "environment"))
    n = count_records(path / "records.jsonl")
    # Records may have been lost since the summary was written.
    return Run(path, spec, summary if summary.get("n") == n else None, n, environment.get("dataset_name"))


def _told(path: Path) -> dict[str, Any]:
    """What a JSON file of a run tells; nothing where it is not written yet."""
    try:
        told = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (OSError, ValueError) as error:
        raise RecordError(f"{path.parent} is not a run: its {path.name} cannot be read ({error}).") from error
    if not isinstance(told, dict):
        raise RecordError(f"{path} is not a file of a run: it is no JSON object.")
    return told


def _guessed_name(given: str) -> str:
    """The name that the dataset of a spec gives itself, as far as the spec's word for it tells."""
    place = Path(given.removeprefix(PREFIX).partition("?")[0] if given.startswith(PREFIX) else given)
    return place.stem if place.suffix.lower() in SUFFIXES else place.name


def count_records(path: Path) -> int:
    """How many whole lines a file of records has; a cut-off last line is not yet a record."""
    try:
        with path.open("rb") as stream:
            return sum(block.count(b"\n") for block in iter(lambda: stream.read(BLOCK), b""))
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror or error}.") from error


def load_runs(paths: Sequence[Path]) -> list[Run]:
    """The runs in these folders; a folder of runs stands for all of them, in order of name."""
    runs: dict[Path, Run] = {}
    for path in paths:
        below = sorted(found.parent for found in path.glob("*/records.jsonl"))
        for folder in [path] if (path / "records.jsonl").is_file() or not below else below:
            runs.setdefault(folder.resolve(), load_run(folder))
    return list(runs.values())
