"""A piece of a source: what one worker reads, small enough to be sent to it and the same in every run."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from ..errors import DatasetError
from .item import SourceItem


class Piece(Protocol):
    """Some images of a source, in order. Pieces are data: they can be pickled."""

    @property
    def name(self) -> str:
        """What errors call it."""
        ...

    @property
    def identity(self) -> str:
        """A text that differs between pieces of other images."""
        ...

    def items(self, *, skip: int = 0) -> Iterator[SourceItem]:
        """Its images from position `skip` on; what cannot be read is an item with its error."""
        ...

    def lost(self, error: str, *, skip: int = 0) -> Iterator[SourceItem]:
        """What stands for its images from `skip` on where nobody can read them."""
        ...


@dataclass(frozen=True)
class LostPiece:
    """A piece that cannot be opened: one item, its error."""

    name: str
    error: str

    @property
    def identity(self) -> str:
        """Its name: the reason may change."""
        return self.name

    def items(self, *, skip: int = 0) -> Iterator[SourceItem]:
        """The error."""
        return self.lost(self.error, skip=skip)

    def lost(self, error: str, *, skip: int = 0) -> Iterator[SourceItem]:
        """The error."""
        if not skip:
            yield lost_item(self.name, error)


def lost_item(key: str, error: str) -> SourceItem:
    """An item that stands for what cannot be read."""
    return SourceItem(key, error=DatasetError(error))


def digest_of(piece: Piece) -> str:
    """Eight hex digits of a piece's identity."""
    return sha256(piece.identity.encode("utf-8", "surrogateescape")).hexdigest()[:8]
