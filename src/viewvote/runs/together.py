"""Runs of several training-free methods in one pass: views are drawn and encoded once, every run has its own folder."""

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path

from ..classify.together import predict_together
from ..datasets import Dataset, Item
from ..errors import ViewvoteError
from ..methods import METHODS, TrainingFreeMethod, method_entry
from ..prediction import Prediction
from ..records.record import Record, failed_record, record_of
from ..views.sample import Keyed
from .engines.base import Environment
from .environment import environment_of
from .execute import run, settle_environment
from .folder import RunFolder
from .job import Job, open_job
from .log import RecordLog, recover
from .progress import Watch
from .spec import RunSpec
from .summary import Summary

logger = logging.getLogger("viewvote")


def shared_passes(specs: Sequence[RunSpec]) -> list[list[RunSpec]]:
    """The specs in their order, consecutive ones that can share a pass together."""
    return [[spec for _, spec in group] for _, group in groupby(_keyed(specs), key=lambda pair: pair[0])]


def _keyed(specs: Sequence[RunSpec]) -> Iterator[tuple[object, RunSpec]]:
    """Each spec after what must be equal to share a pass; a spec that cannot share has a key of its own."""
    for number, spec in enumerate(specs):
        alone = spec.teacher is not None or spec.stop is not None or not isinstance(spec.views, int)
        if alone or not _training_free(spec.method):
            yield number, spec
        else:
            yield replace(spec, method="zero", settings={}, keep=None, templates=None).digest, spec


def _training_free(method: str) -> bool:
    """Whether a method decides from logits alone; one that needs torch tunes, and is not imported to ask."""
    entry = method_entry(method)
    return method in METHODS and entry.extra is None and issubclass(METHODS.get(method), TrainingFreeMethod)


def run_together(
    specs: Sequence[RunSpec],
    *,
    out: Path = Path("runs"),
    threads: int = 0,
    retry_errors: bool = False,
    watch: Watch | None = None,
    log_file: Path | None = None,
    dataset: Dataset | None = None,
) -> list[Summary]:
    """The summaries of runs over the same views, computed in one pass as far as their folders have not come.

    Their records are the same as those of separate runs, apart from timings. The run that has come least far leads;
    what the others lack is written beside it, record by record.
    """
    jobs = [open_job(spec, dataset) for spec in specs]
    folders = [RunFolder(Path(out) / job.spec.folder_name(job.dataset.name)) for job in jobs]
    counts = [recover(f.records, j.samples.keys).count if f.exists else 0 for f, j in zip(folders, jobs, strict=True)]
    lead = counts.index(min(counts))
    if len(jobs) > 1 and counts[lead] < len(jobs[lead].samples):
        with ExitStack() as stack:
            pairs = [(job, folder) for i, (job, folder) in enumerate(zip(jobs, folders, strict=True)) if i != lead]
            sides = [stack.enter_context(_side(job, folder)) for job, folder in pairs]
            engine = SharedEngine(threads, sides)
            run(specs[lead], out=out, engine=engine, watch=watch, log_file=log_file, dataset=dataset)
    return [  # what is there is only read and summarised
        run(spec, out=out, retry_errors=retry_errors, log_file=log_file, dataset=dataset) for spec in specs
    ]


@dataclass(frozen=True)
class Side:
    """A run that is written beside the leading one, its folder held; `count` records were there."""

    job: Job
    folder: RunFolder
    count: int
    log: RecordLog

    def append(self, position: int, record: Record) -> None:
        """Write the record, unless it is there."""
        if position >= self.count:
            self.log.append([record.to_line()])


@contextmanager
def _side(job: Job, folder: RunFolder) -> Iterator[Side]:
    folder.create()
    with folder.hold():
        folder.settle_spec(job.spec)
        found = recover(folder.records, job.samples.keys)
        if found.count < len(job.samples):
            folder.drop_summary()
        with RecordLog(folder.records) as log:
            yield Side(job, folder, found.count, log)


@dataclass(frozen=True)
class SharedEngine:
    """The local engine for a leading run that writes the sides' records as it goes."""

    threads: int
    sides: Sequence[Side]

    def check(self, job: Job) -> None:
        """It can do every job that shares a pass."""

    def records(
        self, job: Job, stretches: Sequence[range], *, report: Callable[[Environment], None]
    ) -> Generator[tuple[int, Record], None, None]:
        """The positions in the stretches with the leading run's records, in order."""
        first = job.classifier(threads=self.threads)
        others = [side.job.classifier(encoder=first.encoder) for side in self.sides]
        report(environment_of(first))
        for side, classifier in zip(self.sides, others, strict=True):
            settle_environment(side.folder, side.job, environment_of(classifier))
        ahead: deque[Item] = deque()

        def keyed() -> Iterator[Keyed]:
            for item in chain.from_iterable(map(job.samples.items, stretches)):
                ahead.append(item)
                yield Keyed(item.image, item.key, job.dataset.name)

        answers = predict_together([first, *others], keyed())
        for position, (own, *beside) in zip(chain.from_iterable(stretches), answers, strict=True):
            item = ahead.popleft()
            for side, answer in zip(self.sides, beside, strict=True):
                side.append(position, _record(answer, item))
            yield position, _record(own, item)


def _record(answer: Prediction | ViewvoteError, item: Item) -> Record:
    if isinstance(answer, ViewvoteError):
        return failed_record(answer, key=item.key, target=item.target)
    return record_of(answer, key=item.key, target=item.target)
