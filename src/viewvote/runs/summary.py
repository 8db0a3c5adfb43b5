"""The summary of a run, made from its records alone but for the speed and memory of the last process."""

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..datasets import CATALOG
from ..errors import RecordError
from ..fields import NUMBER, TRUTH, Fields, Kind, is_text, list_of, or_null, table_of, whole
from ..metrics.accuracy import top1, top5
from ..metrics.cost import cost_of
from ..records.columns import Columns
from .job import Job
from .progress import Progress


@dataclass(frozen=True)
class Summary:
    """What a run came to. Rates are over the `n - errors` samples whose images could be used.

    subset         samples were left out (`limit`)
    full_split     these are all samples of a catalog dataset's official split: only then is a number "reproduced"
    split_size     how many samples that split has; None for data of your own
    top1_interval  Wilson's, 95 %
    seconds        mean per image and stage, from the records
    images_per_second, peak_memory_mb
                   of the last process that computed records, loading included; with Ray, the one that wrote them
    """

    run: str
    path: str
    dataset: str
    model: str
    method: str
    seed: int
    n: int
    dataset_size: int
    subset: bool
    full_split: bool
    split_size: int | None
    errors: int
    correct: int
    top1: float | None
    top1_interval: tuple[float, float] | None
    top5: float | None
    seconds: dict[str, float] = field(default_factory=dict)
    images_per_second: float | None = None
    peak_memory_mb: float | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def from_values(cls, values: Mapping[str, Any], *, source: str) -> "Summary":
        """The summary in a file of any version; what is not in it is taken to claim as little as possible."""
        read = Fields(values, source, error=RecordError)
        known = {name: read(name, _KINDS[name]) for name in values if name in _KINDS}
        return cls(**{**_NOT_WRITTEN, **known})

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON-ready values."""
        return asdict(self)

    def __str__(self) -> str:
        which = f"{self.n} of {self.dataset_size} samples, a subset" if self.subset else f"all {self.n} samples"
        if not (self.subset or self.full_split or self.split_size is None):
            which += f", but not the official split of {self.split_size:,}"
        if self.top1 is None or self.top1_interval is None:
            return f"{self.run}: no usable image, {which}, {self.errors} errors"
        low, high = self.top1_interval
        return f"{self.run}: top-1 {self.top1:.2%} [{low:.2%}, {high:.2%}], {which}, {self.errors} errors"


_KINDS: Mapping[str, Kind[Any]] = {
    **dict.fromkeys(("run", "path", "dataset", "model", "method"), Kind("a text", is_text)),
    "seed": Kind("a whole number", lambda value: type(value) is int),
    **dict.fromkeys(("n", "dataset_size", "errors", "correct"), whole(0)),
    "split_size": or_null(whole(0)),
    **dict.fromkeys(("subset", "full_split"), TRUTH),
    **dict.fromkeys(("top1", "top5", "images_per_second", "peak_memory_mb"), or_null(NUMBER)),
    "top1_interval": or_null(list_of(NUMBER, length=2)),
    "seconds": table_of(NUMBER),
    "notes": list_of(Kind("a text", is_text)),
}
_NOT_WRITTEN: Mapping[str, Any] = {
    **dict.fromkeys(each.name for each in fields(Summary)),
    **dict.fromkeys(("run", "path", "dataset", "model", "method"), ""),
    **dict.fromkeys(("seed", "n", "dataset_size", "errors", "correct"), 0),
    "subset": True,
    "full_split": False,
    "seconds": {},
    "notes": (),
}
"""What a field is where an older version did not write it."""


def summarise(job: Job, *, path: Path, columns: Columns, last: Progress, before: Summary | None) -> Summary:
    """The summary of the records of the run at `path`.

    last, before   the progress of this process, and the summary that the run had: it keeps the speed and memory of the
                   process that computed records where this one computed none
    """
    best, five, cost = top1(columns), top5(columns), cost_of(columns)
    speed, memory = None, None
    if last.rate is not None:
        speed, memory = round(last.rate, 4), peak_memory_mb()
    elif before is not None and last.computed == 0:
        speed, memory = before.images_per_second, before.peak_memory_mb
    return Summary(
        run=path.name,
        path=str(path),
        dataset=job.dataset.name,
        model=job.spec.model,
        method=job.spec.method,
        seed=job.spec.seed,
        n=len(columns),
        dataset_size=len(job.dataset),
        subset=job.samples.is_subset,
        full_split=job.dataset.complete and not job.samples.is_subset,
        split_size=CATALOG[job.spec.dataset].images if job.spec.dataset in CATALOG else None,
        errors=best.errors,
        correct=int(columns.correct.sum()),
        top1=best.value if best.n else None,
        top1_interval=(best.low, best.high) if best.n else None,
        top5=five.value if five.n else None,
        seconds={name: round(mean, 6) for name, mean in sorted(cost.mean.items())} if cost else {},
        images_per_second=speed,
        peak_memory_mb=memory,
        notes=job.dataset.notes,
    )


def peak_memory_mb() -> float | None:
    """The most memory this process held so far, where the system reports it."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6, 1)  # bytes there, kibibytes elsewhere
