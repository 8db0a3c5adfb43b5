"""Sources of images without labels: whatever a user names, as pieces and as one stream of items."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..images.photo import EXTENSIONS
from .address import is_address
from .braces import expand, has_braces
from .files import Entry, FilesPiece
from .item import SourceItem
from .listing import NAMES, holds_more, list_files, split_pattern
from .piece import LostPiece, Piece
from .shards import TarPiece
from .tables import check_table, table_entries

TAR = (".tar", ".tar.gz", ".tgz")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow",)
TABLES = (".csv", ".jsonl")
PIECE = 1000
"""Single images of a piece, where the caller names no number."""


@dataclass(frozen=True)
class Source:
    """Images wherever they lie; going through it yields each as a SourceItem.

    >>> [item.key for item in open_source("shards/{000..127}.tar")]  # doctest: +SKIP
    ['shards/000.tar#0001.jpg', ...]
    """

    places: tuple[str, ...]
    image_column: str | None = None
    path_column: str | None = None
    keep: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[SourceItem]:
        for piece in self.pieces():
            yield from piece.items()

    def pieces(self, size: int = PIECE) -> Iterator[Piece]:
        """The pieces, found while they are asked for and the same in every run: a shard, a row group, `size` files."""
        waiting: list[Entry] = []
        for found in self._found():
            if isinstance(found, Entry):
                waiting.append(found)
            if waiting and (len(waiting) >= size or not isinstance(found, Entry)):
                yield FilesPiece(tuple(waiting))
                waiting = []
            if not isinstance(found, Entry):
                yield found
        if waiting:
            yield FilesPiece(tuple(waiting))

    def column_types(self) -> dict[str, Any]:
        """The Arrow type of each kept column: the first Parquet or Arrow file's, else text."""
        from .columnar import arrow, schema_of

        tables = (place for place in map(self._first, self.places) if place.lower().endswith(PARQUET + ARROW))
        first = next(tables, None) if self.keep else None
        schema = schema_of(first) if first else None
        return {name: arrow().string() if schema is None else schema.field(name).type for name in self.keep}

    def check(self) -> None:
        """Raise UsageError for columns that the first file of a place lacks, and for places that are not there."""
        for place in self.places:
            first = self._first(place)
            if first.lower().endswith(TABLES):
                check_table(first, path_column=self.path_column, keep=self.keep)
            elif first.lower().endswith(PARQUET + ARROW):
                from .columnar import chosen_column, schema_of

                chosen_column(schema_of(first), self.image_column, self.keep, where=first)

    def _first(self, place: str) -> str:
        """The first file of a place."""
        first = next(_files(place), None)
        if first is None:
            raise UsageError(f"{place} holds no images, shards or tables.")
        if not is_address(first) and not _is_here(first):
            raise UsageError(f"no such file or folder: {first or repr(first)}")
        return first

    def _found(self) -> Iterator[Entry | Piece]:
        for place in self.places:
            try:
                for file in _files(place):
                    yield from self._open(file)
            except UsageError as error:
                yield LostPiece(place, str(error))

    def _open(self, file: str) -> Iterable[Entry | Piece]:
        name = file.lower()
        if name.endswith(TAR):
            return [TarPiece(file, self.keep)]
        if name.endswith(TABLES):
            return table_entries(file, path_column=self.path_column, keep=self.keep)
        if name.endswith(PARQUET + ARROW):
            from .columnar import arrow_pieces, parquet_pieces  # pyarrow is an extra

            open_rows = arrow_pieces if name.endswith(ARROW) else parquet_pieces
            return open_rows(file, image_column=self.image_column, keep=self.keep)
        return [Entry(file, dict.fromkeys(self.keep))]


def open_source(
    *places: str | os.PathLike[str],
    image_column: str | None = None,
    path_column: str | None = None,
    keep_columns: Sequence[str] = (),
) -> Source:
    """The images at the places, for `Classifier.predict_many` or to go through.

    A place is an image, a folder of images, a tar shard (WebDataset), a Parquet or Arrow file, a folder of those
    written by Hugging Face `datasets`, or a CSV or JSONL table of paths; on this machine or behind an address such as
    s3://, gs://, az://, hf:// or https://, which fsspec reads. Patterns (*, **, ?) and braces ({000..127}) stand for
    many. Raises UsageError where a place is not there, or its first file lacks a column.

    Args:
        places: What to read, in this order.
        image_column: Of Parquet and Arrow: holds bytes, a path or the struct of both. None: `image`, or the only one.
        path_column: Of CSV and JSONL: holds paths or addresses. None: path, url, image or file_name.
        keep_columns: Columns that travel with each image as `item.columns`.
    """
    source = Source(tuple(os.fspath(place) for place in places), image_column, path_column, tuple(keep_columns))
    source.check()
    return source


def is_more_than_images(place: str) -> bool:
    """Whether a place is, or stands for, something else than image files of this machine."""
    if is_address(place) or (has_braces(place) and not _is_here(place)):
        return True
    name = place.lower().rstrip("/")
    return name.endswith((*TAR, *PARQUET, *ARROW, *TABLES)) or (os.path.isdir(place) and _holds_rows(Path(place)))  # noqa: PTH112


def is_crowded(place: str) -> bool:
    """Whether a place is a folder of this machine with more images than should be listed before the first answer."""
    return os.path.isdir(place) and holds_more(place, NAMES)  # noqa: PTH112 - Path("") would be the working directory


def _files(place: str) -> Iterator[str]:
    """The files that a place stands for, found one at a time."""
    if has_braces(place) and not _is_here(place):
        for one in expand(place):
            yield from _files(one) if is_address(one) or _is_here(one) or split_pattern(one)[1] else [one]
    elif split_pattern(place)[1] and not _is_here(place):
        readable = (*EXTENSIONS, *TAR, *PARQUET, *ARROW, *TABLES)
        yield from (file for file in _listed(place) if file.lower().endswith(readable))
    elif is_address(place):
        yield from _remote(place)
    elif os.path.isdir(place):  # noqa: PTH112 - Path("") would be the working directory
        rows = _holds_rows(Path(place))
        wanted = (*PARQUET, *ARROW) if rows else tuple(EXTENSIONS)
        yield from (file for file in _listed(place) if file.lower().endswith(wanted))
    else:
        yield place


def _remote(place: str) -> Iterator[str]:
    """The address itself where it ends as a file does, else what lies below it."""
    files = (*EXTENSIONS, *TAR, *PARQUET, *ARROW, *TABLES)
    if place.lower().endswith(files):
        yield place
    elif place.endswith("/") or not place.lower().startswith(("http:", "https:")):
        wanted = (*PARQUET, *ARROW) if place.rstrip("/").lower().endswith(PARQUET) else tuple(EXTENSIONS)
        yield from (file for file in _listed(place) if file.lower().endswith(wanted))
    else:  # https://host/photo?id=3
        yield place


def _listed(place: str) -> Iterator[str]:
    try:
        yield from list_files(place)
    except FileNotFoundError as error:
        raise UsageError(f"nothing is at {place}.") from error
    except OSError as error:
        reason = str(error.strerror or error).rstrip(".")
        raise UsageError(f"{reason}." if place in reason else f"cannot list {place}: {reason}.") from error


def _holds_rows(folder: Path) -> bool:
    """Whether a folder is one of `datasets`, or a table written as several files."""
    return folder.name.lower().endswith(PARQUET) or (folder / "state.json").is_file()


def _is_here(place: str) -> bool:
    return not is_address(place) and os.path.lexists(place)
