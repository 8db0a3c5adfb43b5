"""The runs to report on: folders with a spec, records and, once complete, a summary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..datasets.readers.hf import PREFIX
from ..datasets.readers.tables import SUFFIXES
from ..errors import RecordError, UsageError
from ..labels.templates import resolve_templates
from ..methods import method_entry
from ..records.columns import Columns
from .folder import RunFolder
from .log import count_records
from .spec import RunSpec
from .summary import Summary

# What a run may differ in and still be in the same row of a table; an older version wrote batch_views.
_NOT_SETTINGS = (
    "dataset",
    "root",
    "seed",
    "classes",
    "limit",
    "fingerprint",
    "device",
    "batch_views",
    "detail",
    "text_head_fingerprint",
)
_DEFAULTS = {each.name: each.default for each in fields(RunSpec)} | {"templates": "photo"}
FULL_SPLIT = "full split"


@dataclass(frozen=True)
class Run:
    """One run with its `n` records; `summary` is None while it is not complete.

    dataset_name   what the run's dataset was called when it started; None in runs of older versions
    likeness       how alike its labels are to the model, where the method asked for it
    weights        the fingerprint of its model; None in runs that did not start
    other          what its spec holds under keys that this version does not know
    """

    path: Path
    spec: RunSpec
    summary: Summary | None
    n: int
    dataset_name: str | None = None
    other: Mapping[str, Any] = field(default_factory=dict)
    likeness: float | None = None
    weights: str | None = None

    @property
    def records(self) -> Path:
        """The file of records."""
        return RunFolder(self.path).records

    @property
    def dataset(self) -> str:
        """The dataset's own name."""
        written = self.summary.dataset if self.summary else None
        return written or self.dataset_name or _guessed_name(self.spec.dataset)

    @property
    def model(self) -> str:
        """The model, "student -> teacher" in a cascade."""
        return self.spec.model + (f" -> {self.spec.teacher}" if self.spec.teacher else "")

    @property
    def method(self) -> str:
        """The method's name."""
        return self.spec.method

    @property
    def uses_others(self) -> bool:
        """Whether an answer depends on the test set's other images."""
        return method_entry(self.method).streams

    @property
    def seed(self) -> int:
        """The seed."""
        return self.spec.seed

    @property
    def peak_memory_mb(self) -> float | None:
        """The most memory of the last process that computed records, where it was measured."""
        return self.summary.peak_memory_mb if self.summary else None

    @property
    def split(self) -> str:
        """Which samples it is over; only a complete run over a whole official split is a "full split"."""
        summary = self.summary
        if summary is None:
            return "not complete"
        if summary.full_split and summary.n == summary.dataset_size:
            return FULL_SPLIT
        if summary.subset:
            return "subset"
        if summary.split_size is None:
            return "no official split"
        usable = summary.n - summary.errors
        if usable < summary.split_size:
            return f"incomplete: {usable:,} of {summary.split_size:,}"
        return "not the official split"

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the answers besides dataset and seed, without what has its default."""
        method = method_entry(self.method)
        # The order of samples decides no other method's answers.
        left_out = _NOT_SETTINGS if method.streams else (*_NOT_SETTINGS, "order")
        defaults = {**_DEFAULTS, "keep": method.keep, "order": "shuffled"}
        given = {**self.spec.to_values(), **self.other}
        if self.spec.text_head is not None:
            given["text_head"] = "given"  # a file for each dataset's labels
        if given.get("templates") == [*resolve_templates("photo")]:  # as vectors that name their texts have it
            given["templates"] = "photo"
        return {
            name: value
            for name, value in given.items()
            if name not in left_out and value and value != defaults.get(name)
        }

    @property
    def title(self) -> str:
        """The method and what is not default about it: "zero (keep 0.1, templates ensemble)"."""
        rest = {k: v for k, v in self.settings.items() if k not in ("method", "model", "teacher", "settings")}
        rest |= self.spec.settings
        return self.method + (f" ({', '.join(f'{k} {v}' for k, v in rest.items())})" if rest else "")

    def columns(self, *, views: bool = False) -> Columns:
        """The run's records; what their views answered only on demand."""
        return RunFolder(self.path).read_columns(views=views)


def load_run(path: Path) -> Run:
    """The run in a folder, or an error that names what is missing."""
    folder = RunFolder(path)
    if not folder.exists:
        raise UsageError(f"{path} is not a run: it has no records.jsonl. Give a folder that `viewvote eval` made.")
    spec, other = folder.read_spec()
    summary, environment = folder.read_summary(), folder.read_environment() or {}
    n = count_records(folder.records)
    whole = summary is not None and summary.n == n  # records may have been lost since it was written
    return Run(
        path,
        spec,
        summary if whole else None,
        n,
        environment.get("dataset_name"),
        other,
        likeness=environment.get("likeness"),
        weights=environment.get("model_fingerprint"),
    )


def load_runs(paths: Sequence[Path]) -> list[Run]:
    """The runs in these folders; a folder of runs stands for all of them, in order of name."""
    return [load_run(folder) for folder in run_folders(paths)]


def run_folders(paths: Sequence[Path]) -> list[Path]:
    """The folders of the runs that paths name, each once; a folder of runs stands for all of them, in order of name.

    A path that neither is a run nor has one directly in it stands for itself.
    """
    folders: dict[Path, Path] = {}
    for path in paths:
        below = [] if RunFolder(path).exists else [each for each in sorted(path.glob("*")) if RunFolder(each).exists]
        for folder in below or [path]:
            folders.setdefault(folder.resolve(), folder)
    return list(folders.values())


def find_run(path: Path) -> Run:
    """The one run that a path names: its folder, or a folder with this run alone in it."""
    folders = run_folders([path])
    if len(folders) > 1:
        names = ", ".join(map(str, folders))
        raise UsageError(f"{path} has {len(folders)} runs in it, and one is asked for. Give one of: {names}")
    return load_run(folders[0])


def records_at(path: Path) -> Path:
    """The file of records that a path names: a run's folder, or such a file itself."""
    records = RunFolder(path).records if path.is_dir() else path
    if not records.is_file():
        raise UsageError(f"{records} does not exist. Give a folder that `viewvote eval` made, or a file of records.")
    return records


def provenance_of(path: Path) -> dict[str, Any]:
    """What the records at a path are of, from the run's spec; without one they have a name only."""
    folder = RunFolder(path)
    if not path.is_dir() or not folder.spec.exists():
        return {"name": path.name}
    try:
        spec, _ = folder.read_spec()
    except RecordError as error:
        raise UsageError(str(error)) from error
    return {"name": path.name, "dataset": spec.dataset, "model": spec.model, "method": spec.method, "seed": spec.seed}


def _guessed_name(given: str) -> str:
    """The name that the dataset of a spec gives itself, as far as the spec's word for it shows."""
    place = Path(given.removeprefix(PREFIX).partition("?")[0] if given.startswith(PREFIX) else given)
    return place.stem if place.suffix.lower() in SUFFIXES else place.name
