"""The summary of a run, made from its records alone but for the speed and memory of the last process."""

import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ..datasets import CATALOG
from ..errors import RecordError
from ..files import read_json
from ..metrics.accuracy import wilson_interval
from ..records.record import Record
from .folder import RunFolder
from .job import Job
from .log import read_lines
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


def summarise(job: Job, folder: RunFolder, *, last: Progress) -> Summary:
    """The summary of a run's records, read once."""
    counts = _count(Record.from_line(line) for line in read_lines(folder.records))
    usable = counts["n"] - counts["errors"]
    before = read_json(folder.summary, error=RecordError) if last.computed == 0 and folder.summary.exists() else {}
    return Summary(
        run=folder.path.name,
        path=str(folder.path),
        dataset=job.dataset.name,
        model=job.spec.model,
        method=job.spec.method,
        seed=job.spec.seed,
        n=int(counts["n"]),
        dataset_size=len(job.dataset),
        subset=job.samples.is_subset,
        full_split=job.dataset.complete and not job.samples.is_subset,
        split_size=CATALOG[job.spec.dataset].images if job.spec.dataset in CATALOG else None,
        errors=int(counts["errors"]),
        correct=int(counts["top1"]),
        top1=counts["top1"] / usable if usable else None,
        top1_interval=wilson_interval(int(counts["top1"]), int(usable)) if usable else None,
        top5=counts["top5"] / usable if usable else None,
        seconds={name[1:]: round(counts[name] / usable, 6) for name in sorted(counts) if name.startswith(":")},
        images_per_second=before.get("images_per_second") if last.rate is None else round(last.rate, 4),
        peak_memory_mb=before.get("peak_memory_mb") if last.rate is None else peak_memory_mb(),
        notes=job.dataset.notes,
    )


def _count(records: Iterable[Record]) -> dict[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for record in records:
        counts["n"] += 1
        counts["errors"] += record.error is not None
        counts["top1"] += record.correct is True
        counts["top5"] += record.target in record.top5
        for name, seconds in record.timings.items():
            counts[f":{name}"] += seconds
    return counts


def peak_memory_mb() -> float | None:
    """The most memory this process held so far, where the system tells."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6, 1)  # bytes there, kibibytes elsewhere
