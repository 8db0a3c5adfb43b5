"""A run from its spec to its summary: resumed where it stopped, one record per sample, errors retried on request."""

import logging
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import monotonic

from ..datasets import Dataset
from ..errors import RunError, UsageError
from ..records.record import Record, without_timings
from .engines.base import Engine, Environment
from .engines.local import LocalEngine
from .environment import differences
from .folder import RunFolder
from .job import Job, open_job
from .log import RecordLog, Recovered, cut_back, read_lines, recover
from .progress import Meter, Progress, Watch
from .spec import RunSpec
from .summary import Summary, summarise

logger = logging.getLogger("viewvote")
LOG_SECONDS = 30.0


def run(
    spec: RunSpec,
    *,
    out: Path = Path("runs"),
    engine: Engine | None = None,
    retry_errors: bool = False,
    watch: Watch | None = None,
    log_file: Path | None = None,
    dataset: Dataset | None = None,
) -> Summary:
    """The summary of the run, which is computed, continued or only read, as far as its folder below `out` has come.

    retry_errors  try the samples again whose images could not be used in an earlier call
    watch         called with the progress after every sample
    log_file      gets what the folder's run.log gets
    dataset       an open one, instead of opening the one the spec names
    """
    chosen = engine or LocalEngine()
    job = open_job(spec, dataset)
    chosen.check(job)
    folder = RunFolder(Path(out) / job.spec.folder_name(job.dataset.name))
    folder.create()
    with folder.hold(), folder.logging(log_file):
        return _Execution(job, folder, chosen, watch or _ignore).run(retry_errors=retry_errors)


@dataclass
class _Execution:
    """One call of `run`, its folder locked."""

    job: Job
    folder: RunFolder
    engine: Engine
    watch: Watch

    def run(self, *, retry_errors: bool) -> Summary:
        self.folder.settle_spec(self.job.spec)
        found = recover(self.folder.records, self.job.samples.keys)
        total = len(self.job.samples)
        if found.cut:
            logger.warning("%d bytes of a damaged end cut off after record %d", found.cut, found.count)
        if retry_errors and found.errors and self.job.is_streaming:
            raise UsageError(
                f"method {self.job.spec.method!r} learns from every image, so one image cannot be retried alone; "
                f"move {self.folder.path} away to run all again."
            )
        logger.info("%s: %d of %d records are there", self.folder.path.name, found.count, total)
        for note in self.job.dataset.notes:
            logger.info("%s: %s", self.job.dataset.name, note)
        meter = Meter(total=total, done=found.count, correct=found.correct, errors=len(found.errors), watch=self.watch)
        if found.count < total:
            self.folder.drop_summary()
            self._compute(found, meter)
        if retry_errors and found.errors:
            self._retry(found.errors)
        summary = summarise(
            self.job,
            path=self.folder.path,
            columns=self.folder.read_columns(),
            last=meter.now(),
            before=self.folder.read_summary(),
        )
        self.folder.write_summary(summary)
        logger.info("complete: %s", summary)
        return summary

    def _compute(self, found: Recovered, meter: Meter) -> None:
        """Append the records that are missing."""
        start = 0 if self.job.is_streaming else found.count
        results = self.engine.records(self.job, [range(start, len(self.job.samples))], report=self._settle)
        recorded = read_lines(self.folder.records) if self.job.is_streaming and found.count else iter(())
        started = chain([next(results)], results)  # loads the model: where that fails, no empty log is left behind
        logged = monotonic()
        with closing(results), RecordLog(self.folder.records) as log:
            for position, record in started:
                if position < found.count:
                    _check_replay(record, next(recorded, None))
                    continue
                log.append([record.to_line()])
                if record.error is not None:
                    logger.warning("%s: %s", record.key, record.error)
                moment = meter.step(correct=record.correct is True, failed=record.error is not None)
                if monotonic() - logged >= LOG_SECONDS:
                    logger.info("%s", moment)
                    logged = monotonic()

    def _retry(self, errors: list[int]) -> None:
        """Compute the failed samples again, into a new log that replaces the old one when it is whole."""
        before = recover(self.folder.retried, self.job.samples.keys)  # by a retry that was interrupted
        done = before.errors[0] if before.errors else before.count
        if before.errors:
            cut_back(self.folder.retried, done)
        wanted = {position for position in errors if position >= done}
        with RecordLog(self.folder.retried) as log, closing(self._computed(wanted)) as fresh:
            for position, line in enumerate(read_lines(self.folder.records)):
                if position >= done:
                    log.append([next(fresh).to_line() if position in wanted else line])
        self.folder.replace_records()
        logger.info("%d samples with errors were retried", len(wanted))

    def _computed(self, wanted: set[int]) -> Generator[Record, None, None]:
        """The records at these positions."""
        if wanted:
            stretches = [range(position, position + 1) for position in sorted(wanted)]
            with closing(self.engine.records(self.job, stretches, report=self._settle)) as results:
                yield from (record for _, record in results)

    def _settle(self, environment: Environment) -> None:
        settle_environment(self.folder, self.job, environment)


def settle_environment(folder: RunFolder, job: Job, environment: Environment) -> None:
    """Write down the environment and the dataset's name, or log what changed; other weights are an error."""
    before = folder.read_environment()
    if before is None:
        folder.write_environment(environment, dataset_name=job.dataset.name)
        return
    for change in differences(before, environment, source=str(folder.environment)):
        logger.info("differs from environment.json: %s", change)


def _check_replay(record: Record, recorded: str | None) -> None:
    """Raise RunError where a stream that is replayed to resume gives another answer than was recorded."""
    if recorded is not None and without_timings(recorded) != without_timings(record.to_line()):
        raise RunError(
            f"the stream cannot be resumed: {record.key!r} gives another answer than was recorded, so what was "
            "learned since differs too (was an image changed, or a library?). Move the run's folder away to start anew."
        )


def _ignore(moment: Progress) -> None:
    del moment
