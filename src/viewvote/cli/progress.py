"""A progress bar on stderr: images, images per second, time left. Nothing where nobody watches."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Bar(Protocol):
    """What a command tells the bar."""

    def __call__(self, advance: int = 1) -> None:
        """So many more are done."""
        ...


def _nobody(advance: int = 1) -> None:
    del advance


@contextmanager
def progress(total: int, *, quiet: bool, what: str = "images") -> Iterator[Bar]:
    """A bar for `total` steps; silent with `quiet`, for a single step, or where stderr is no terminal."""
    if quiet or total < 2 or not sys.stderr.isatty():
        yield _nobody
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
    # Results printed to the same terminal go above the bar; results that are piped must stay out of it.
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=sys.stdout.isatty(), transient=True) as bars:
        task = bars.add_task("", total=total, rate="")

        def step(advance: int = 1) -> None:
            speed = bars.tasks[0].finished_speed or bars.tasks[0].speed
            bars.update(task, advance=advance, rate=f"{speed:.1f}/s" if speed else "")

        yield step
