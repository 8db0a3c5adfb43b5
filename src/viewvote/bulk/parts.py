"""Pieces of a source, answered in one stream and written as parts."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..classify.classifier import Classifier
from ..errors import ViewvoteError
from ..prediction import Prediction
from ..sources import SourceItem
from ..sources.piece import Piece, digest_of
from .output import Finished, Table
from .schema import row_of


@dataclass(frozen=True)
class Task:
    """A piece and its number in the source."""

    number: int
    piece: Piece


@dataclass(frozen=True)
class Step:
    """What has just been written: so many images of a piece, or (`finished`) its end."""

    number: int
    images: int
    errors: int
    finished: Finished | None = None


@dataclass
class _Open:
    """A piece on its way."""

    number: int
    digest: str
    parts: int
    rows: int
    errors: int
    waiting: list[dict[str, Any]] = field(default_factory=list)


class _End:
    """What stands in the stream behind a piece's last image."""


def answer_pieces(
    classifier: Classifier,
    tasks: Iterable[Task],
    table: Table,
    *,
    part_images: int,
    top: int,
    batch_views: int | None = None,
) -> Iterator[Step]:
    """Answer the pieces and write their parts; one stream, so that the encoder never waits at the end of a piece.

    A piece that was begun before goes on behind its last part. Parts are cut by number alone, whoever writes them.
    """
    ahead: deque[SourceItem | _Open | _End] = deque()

    def items() -> Iterator[SourceItem]:
        for task in tasks:
            begun = _opened(task, table)
            ahead.append(begun)
            for item in task.piece.items(skip=begun.rows):
                ahead.append(item)
                yield item
            ahead.append(_End())

    stack = _Stack(table, part_images=part_images, top=top)
    for answer in classifier.predict_many(items(), batch_views=batch_views, on_error="return"):
        while not isinstance(ahead[0], SourceItem):
            yield from stack.mark(ahead.popleft())
        item = ahead.popleft()
        assert isinstance(item, SourceItem)  # noqa: S101 - the loop above ends at one
        yield from stack.add(item, answer)
    while ahead:
        yield from stack.mark(ahead.popleft())


def lose_piece(task: Task, table: Table, reason: str, *, part_images: int) -> Iterator[Step]:
    """Write errors in place of what is missing of a piece that nobody can read to its end."""
    begun = _opened(task, table)
    skip = begun.rows
    stack = _Stack(table, part_images=part_images, top=0)
    yield from stack.mark(begun)
    for item in task.piece.lost(reason, skip=skip):
        yield from stack.add(item, item.error or ViewvoteError(reason))
    yield from stack.mark(_End())


def _opened(task: Task, table: Table) -> _Open:
    digest = digest_of(task.piece)
    begun = table.written(task.number, digest)
    return _Open(task.number, digest, begun.parts, begun.rows, begun.errors)


class _Stack:
    """The rows of the piece at hand until they fill a part."""

    def __init__(self, table: Table, *, part_images: int, top: int) -> None:
        self._table = table
        self._part_images = part_images
        self._top = top
        self._open: _Open | None = None

    def mark(self, mark: SourceItem | _Open | _End) -> Iterator[Step]:
        """Begin a piece, or end the one at hand."""
        if isinstance(mark, _Open):
            self._open = mark
        elif self._open is not None:
            piece, self._open = self._open, None
            yield from self._write(piece)
            done = Finished(piece.digest, piece.rows, piece.errors)
            self._table.finish(piece.number, done)
            yield Step(piece.number, 0, 0, done)

    def add(self, item: SourceItem, answer: Prediction | ViewvoteError) -> Iterator[Step]:
        """Add a row, and write those before it where they are a part."""
        if self._open is None:
            raise AssertionError("an image comes behind the mark of its piece")
        if len(self._open.waiting) >= self._part_images:
            yield from self._write(self._open)
        self._open.waiting.append(row_of(item, answer, top=self._top))

    def _write(self, piece: _Open) -> Iterator[Step]:
        rows, piece.waiting = piece.waiting, []
        if not rows:
            return
        errors = sum(row.get("error") is not None for row in rows)
        self._table.write_part(piece.number, piece.parts, rows, digest=piece.digest)
        piece.parts, piece.rows, piece.errors = piece.parts + 1, piece.rows + len(rows), piece.errors + errors
        yield Step(piece.number, len(rows), errors)
