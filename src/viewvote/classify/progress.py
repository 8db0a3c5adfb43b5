"""Answers counted as they come."""

from collections.abc import Callable, Iterator, Sized
from typing import TypeVar

T = TypeVar("T")

Progress = Callable[[int, int | None], None]
"""Called with the number of images done, and of how many: None where that is not known (a generator)."""


def counted(answers: Iterator[T], progress: Progress | None, *, images: object) -> Iterator[T]:
    """The answers for `images`; `progress` is called after each, by the thread that asks for them."""
    if progress is None:
        return answers
    return _counted(answers, progress, len(images) if isinstance(images, Sized) else None)


def _counted(answers: Iterator[T], progress: Progress, total: int | None) -> Iterator[T]:
    for done, answer in enumerate(answers, 1):
        progress(done, total)
        yield answer
