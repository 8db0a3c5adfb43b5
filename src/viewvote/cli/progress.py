"""Progress on stderr: a bar with images per second and time left on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from .terminal import lines_above

if TYPE_CHECKING:
    from ..runs.progress import Progress as Moment

EVERY_SECONDS = 30.0


class Bar(Protocol):
    """Called by a command as it goes on."""

    def __call__(self, advance: int = 1) -> None:
        """Count so many more steps as done."""
        ...


def _ignored(advance: int = 1) -> None:
    del advance


@contextmanager
def progress(total: int, *, quiet: bool, what: str = "images") -> Iterator[Bar]:
    """A bar for `total` steps; silent with `quiet`, for a single step, or where stderr is no terminal."""
    if quiet or total < 2 or not sys.stderr.isatty():
        yield _ignored
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    rate = TextColumn("{task.fields[rate]}")
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what), TaskProgressColumn(), rate, TimeRemainingColumn())
    console = Console(file=sys.stderr)
    bars = Progress(*columns, console=console, redirect_stdout=False, redirect_stderr=False, transient=True)
    with lines_above(console), bars:  # a line without an end is written after the bar
        task = bars.add_task("", total=total, rate="")

        def step(advance: int = 1) -> None:
            speed = bars.tasks[0].finished_speed or bars.tasks[0].speed
            bars.update(task, advance=advance, rate=f"{speed:.1f}/s" if speed else "")

        yield step


@contextmanager
def watching(*, quiet: bool) -> "Iterator[Callable[[Moment], None]]":
    """What a run reports to: a bar on a terminal, a line every half minute elsewhere, nothing with quiet."""
    if quiet or not sys.stderr.isatty():
        yield _silent if quiet else _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=sys.stdout.isatty(), transient=True) as bars:
        task = bars.add_task("loading the model", total=None)

        def show(moment: "Moment") -> None:
            bars.update(task, completed=moment.done, total=moment.total, description=str(moment))

        yield show


def _silent(moment: "Moment") -> None:
    del moment


class _Lines:
    """Writes the progress as a line, at most every half minute."""

    def __init__(self) -> None:
        self._written = monotonic()

    def __call__(self, moment: "Moment") -> None:
        if monotonic() - self._written >= EVERY_SECONDS:
            self._written = monotonic()
            sys.stderr.write(f"viewvote: {moment}\n")
