"""A run's folder: the only reader and writer of its files. A crash leaves each of them old or new, never half."""

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from ..errors import RecordError, RunError, UsageError
from ..fields import NUMBER, TEXT, Fields
from ..files import opened_at_once, sync_folder, write_whole
from ..reading import read_json, read_toml
from ..records.columns import Columns, read_columns
from .lock import hold
from .log import write_error
from .spec import RunSpec
from .summary import Summary

logger = logging.getLogger("viewvote")


@dataclass(frozen=True)
class RunFolder:
    """The folder at `path` and its files.

    spec.toml         what decides the records; `viewvote eval --spec` on it is the same run
    environment.json  what it started with: the dataset's own name, versions, machine, weights
    records.jsonl     one line per sample, in the run's order
    retried.jsonl     only while errors are retried: the next records.jsonl
    summary.json      made from the records when they are complete
    run.log           what happened when
    lock              held by the process at work
    """

    path: Path

    @property
    def spec(self) -> Path:
        """The spec."""
        return self.path / "spec.toml"

    @property
    def environment(self) -> Path:
        """The environment."""
        return self.path / "environment.json"

    @property
    def records(self) -> Path:
        """The records."""
        return self.path / "records.jsonl"

    @property
    def retried(self) -> Path:
        """The records with errors retried, until they take their place."""
        return self.path / "retried.jsonl"

    @property
    def summary(self) -> Path:
        """The summary."""
        return self.path / "summary.json"

    @property
    def log(self) -> Path:
        """The log."""
        return self.path / "run.log"

    @property
    def exists(self) -> bool:
        """Whether there is a run: a file of records."""
        return self.records.is_file()

    def create(self) -> None:
        """Make the folder where there is none."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_error(self.path, error) from error

    def hold(self) -> AbstractContextManager[None]:
        """Hold the folder's lock while the block runs; an error names the process that holds it already."""
        return hold(self.path / "lock")

    def settle_spec(self, spec: RunSpec) -> None:
        """Write the spec, or make sure that the one there is the same."""
        if not self.spec.exists():
            self._write(self.spec, spec.to_toml())
        elif RunSpec.from_values(read_toml(self.spec, error=RunError)) != spec:
            raise RunError(f"{self.spec} is the spec of another run: it was changed by hand. Move the folder away.")

    def read_spec(self) -> tuple[RunSpec, dict[str, Any]]:
        """The spec of a run of any version, and what is under keys that this one does not know."""
        try:
            return RunSpec.from_stored(read_toml(self.spec, error=UsageError), dataset=self.path.name)
        except ValueError as error:
            raise RecordError(f"{self.path} is not a run: its spec.toml cannot be read ({error}).") from error

    def read_environment(self) -> dict[str, Any] | None:
        """What the run started with; None where it has not computed anything yet."""
        if not self.environment.exists():
            return None
        values = read_json(self.environment, error=RecordError)
        read = Fields(values, str(self.environment), error=RecordError)
        return {
            **values,
            "dataset_name": read.optional("dataset_name", TEXT),
            "likeness": read.optional("likeness", NUMBER),
        }

    def write_environment(self, environment: Mapping[str, Any], *, dataset_name: str) -> None:
        """Write down what the run starts with."""
        self._write_json(self.environment, {"dataset_name": dataset_name, **environment})

    def read_summary(self) -> Summary | None:
        """The summary; None where the run has none yet."""
        if not self.summary.exists():
            return None
        return Summary.from_values(read_json(self.summary, error=RecordError), source=str(self.summary))

    def write_summary(self, summary: Summary) -> None:
        """Write the summary."""
        self._write_json(self.summary, summary.to_dict())

    def drop_summary(self) -> None:
        """Remove a summary of records that were there once."""
        self.summary.unlink(missing_ok=True)

    def replace_records(self) -> None:
        """Put the retried records in the place of the records."""
        self.retried.replace(self.records)
        sync_folder(self.path)

    def read_columns(self, *, views: bool = False) -> Columns:
        """The records as columns; what their views answered only on demand."""
        return read_columns(self.records, views=views)

    @contextmanager
    def logging(self, also: Path | None = None) -> Iterator[None]:
        """Send the run's messages to its log, and to a file of the user's, while the block runs."""
        with ExitStack() as stack:
            stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.INFO)
            for path in (self.log, also):
                if path is not None:
                    handler = _open_log(path)
                    stack.callback(handler.close)
                    stack.callback(logger.removeHandler, handler)
                    logger.addHandler(handler)
            yield

    def _write_json(self, path: Path, values: Mapping[str, Any]) -> None:
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        self._write(path, text.encode("utf-8", "backslashreplace").decode())  # a path may be any bytes

    def _write(self, path: Path, text: str) -> None:
        """Put the text at `path` in one step; a place that cannot be written raises RunWriteError with what to do."""
        try:
            write_whole(path, text)
        except OSError as error:
            raise write_error(path, error) from error


class _LogFile(logging.FileHandler):
    """A log that cannot be written (disk full) is not worth the run; the records complain for themselves."""

    def _open(self) -> TextIOWrapper:
        descriptor = opened_at_once(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, ARG002 - logging's name
        return

    def close(self) -> None:
        with suppress(OSError):  # what was not written yet is written now, which fails again
            super().close()


def _open_log(path: Path) -> _LogFile:
    try:
        handler = _LogFile(path, encoding="utf-8", errors="backslashreplace")  # file names may be any bytes
    except OSError as error:
        raise write_error(path, error) from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    return handler
