"""A run's folder: where its files lie, and how they are written so that a crash leaves each old or new, never half."""

import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import RunError
from ..files import write_whole
from .log import write_error
from .spec import RunSpec

logger = logging.getLogger("viewvote")


@dataclass(frozen=True)
class RunFolder:
    """The folder at `path` and its files.

    spec.toml         what decides the records; `viewvote eval --spec` on it is the same run
    environment.json  what it began with: the dataset's own name, versions, machine, weights
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
    def lock(self) -> Path:
        """The lock."""
        return self.path / "lock"

    def create(self) -> None:
        """Makes the folder where there is none."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_error(self.path, error) from error

    def settle_spec(self, spec: RunSpec) -> None:
        """Writes the spec, or makes sure that the one there is the same."""
        if not self.spec.exists():
            write_text(self.spec, spec.to_toml())
        elif RunSpec.from_toml(self.spec.read_text(encoding="utf-8")) != spec:
            raise RunError(f"{self.spec} is the spec of another run: it was changed by hand. Move the folder away.")

    @contextmanager
    def logging(self, also: Path | None = None) -> Iterator[None]:
        """Sends the run's messages to its log, and to a file of the user's, while the block runs."""
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


class _LogFile(logging.FileHandler):
    """A log that cannot be written (disk full) is not worth the run; the records complain for themselves."""

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


def write_text(path: Path, text: str) -> None:
    """Put the text at `path` in one step; a place that cannot be written raises RunWriteError with what to do."""
    try:
        write_whole(path, text)
    except OSError as error:
        raise write_error(path, error) from error


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Put the values at `path` as JSON, in one step."""
    write_text(path, json.dumps(values, indent=1, ensure_ascii=False) + "\n")
