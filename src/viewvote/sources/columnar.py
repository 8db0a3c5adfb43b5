"""Image columns of Parquet and Arrow files, those of Hugging Face datasets among them: bytes, a path, or both."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..errors import DatasetError, MissingExtraError, UnreadableImageError, UsageError
from .files import Entry, FilesPiece
from .item import SourceItem
from .piece import LostPiece, Piece, lost_item
from .remote import open_binary
from .tables import resolve

BATCH = 16
"""Rows that are decoded at a time."""


def arrow() -> Any:
    """pyarrow with its Parquet and IPC modules."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError.for_extra("bulk", what="reading and writing Parquet and Arrow") from error
    return pyarrow


@dataclass(frozen=True)
class RowsPiece:
    """A row group of a Parquet file, or (`group` None) a whole Arrow file; rows are counted from the file's first."""

    address: str
    image_column: str
    keep: tuple[str, ...] = ()
    group: int | None = None
    first: int = 0
    rows: int | None = None

    @property
    def name(self) -> str:
        """Its address and its first row."""
        return f"{self.address}#{self.first}"

    @property
    def identity(self) -> str:
        """Its bounds and columns."""
        return f"{self.name} {self.rows} {self.image_column} {self.keep}"

    def items(self, *, skip: int = 0) -> Iterator[SourceItem]:
        """Its rows from `skip` on; where the file is damaged, one error stands for the rest."""
        row = self.first
        try:
            with _reading(self.address):
                for batch in self._batches():
                    if row + batch.num_rows > self.first + skip:
                        missing = max(0, self.first + skip - row)
                        yield from self._items(batch.slice(missing), row + missing)
                    row += batch.num_rows
        except DatasetError as error:
            if row >= self.first + skip:
                yield lost_item(f"{self.address}#{row}", str(error))

    def lost(self, error: str, *, skip: int = 0) -> Iterator[SourceItem]:
        """Each row with the error; of an Arrow file, whose length is not known, one."""
        for row in range(skip, skip + 1 if self.rows is None else self.rows):
            yield lost_item(f"{self.address}#{self.first + row}", error)

    def _batches(self) -> Iterator[Any]:
        columns = list(dict.fromkeys([self.image_column, *self.keep]))
        with open_binary(self.address) as stream:
            if self.group is None:
                for batch in _arrow_batches(stream):
                    chosen = batch.select(columns)
                    yield from (chosen.slice(start, BATCH) for start in range(0, batch.num_rows, BATCH))
                return
            file = arrow().parquet.ParquetFile(stream, pre_buffer=False, buffer_size=1 << 20)
            yield from file.iter_batches(BATCH, row_groups=[self.group], columns=columns, use_threads=False)

    def _items(self, batch: Any, first: int) -> Iterator[SourceItem]:
        batch.validate(full=True)  # Arrow believes the offsets and lengths of a file until it is asked to check them
        kept = [batch.column(name).to_pylist() for name in self.keep]
        images = batch.column(self.image_column).to_pylist()
        for i, cell in enumerate(images):
            columns = {name: values[i] for name, values in zip(self.keep, kept, strict=True)}
            yield _item(f"{self.address}#{first + i}", cell, columns, table=self.address)


def _item(key: str, cell: object, columns: Mapping[str, Any], *, table: str) -> SourceItem:
    if isinstance(cell, Mapping):
        cell = cell.get("bytes") or cell.get("path")
    if isinstance(cell, bytes):
        return SourceItem(key, cell, columns)
    if not isinstance(cell, str) or not cell:
        return SourceItem(key, None, columns, UnreadableImageError(f"{key} holds no image."))
    place = resolve(cell, table=table)
    if place is None:
        problem = f"{key} names a file of this machine, {cell}: a table of a store may not."
        return SourceItem(key, None, columns, UnreadableImageError(problem))
    (found,) = FilesPiece((Entry(place),)).items()
    return SourceItem(key, found.image, columns, found.error)


def parquet_pieces(address: str, *, image_column: str | None, keep: tuple[str, ...]) -> Iterator[Piece]:
    """A file's row groups."""
    try:
        with _reading(address), open_binary(address) as stream:
            file = arrow().parquet.ParquetFile(stream)
            column = chosen_column(_named(file.schema_arrow), image_column, keep, where=address)
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    except (DatasetError, UsageError) as error:
        yield LostPiece(address, str(error))
        return
    first = 0
    for group, rows in enumerate(sizes):
        yield RowsPiece(address, column, keep, group, first, rows)
        first += rows


def arrow_pieces(address: str, *, image_column: str | None, keep: tuple[str, ...]) -> Iterator[Piece]:
    """A file as one piece: it can be read in sequence only."""
    try:
        column = chosen_column(schema_of(address), image_column, keep, where=address)
    except (DatasetError, UsageError) as error:
        yield LostPiece(address, str(error))
        return
    yield RowsPiece(address, column, keep)


def schema_of(address: str) -> Any:
    """The Arrow schema of a Parquet or an Arrow file; raises DatasetError."""
    with _reading(address), open_binary(address) as stream:
        if not address.lower().endswith(".arrow"):
            schema = arrow().parquet.read_schema(stream)
        elif stream.read(6) == b"ARROW1":
            schema = arrow().ipc.open_file(stream).schema
        else:
            stream.seek(0)
            schema = arrow().ipc.open_stream(stream).schema
        return _named(schema)


def _named(schema: Any) -> Any:
    """The schema; raises UnicodeDecodeError where a name, of a column or inside of one, is no UTF-8."""
    waiting = list(schema)
    while waiting:
        field = waiting.pop()
        str(field.name)
        waiting += [field.type.field(i) for i in range(field.type.num_fields)]
    return schema


def chosen_column(schema: Any, asked: str | None, keep: Sequence[str], *, where: str) -> str:
    """The image column: the one asked for, `image`, or the only one that can hold images."""
    types = arrow().types
    for name in [asked, *keep]:
        if name is not None and name not in schema.names:
            raise UsageError(f"{where} has no column {name!r}; it has {', '.join(schema.names)}.")
    if asked is not None:
        return asked
    holding = [
        field.name
        for field in schema
        if types.is_binary(field.type)
        or types.is_large_binary(field.type)
        or (types.is_struct(field.type) and {"bytes", "path"} <= {inner.name for inner in field.type})
    ]
    if "image" in schema.names or len(holding) == 1:
        return "image" if "image" in schema.names else str(holding[0])
    raise UsageError(
        f"which column of {where} holds the images? Name one with --image-column: {', '.join(schema.names)}."
    )


def _arrow_batches(stream: Any) -> Iterator[Any]:
    """The record batches of either form of Arrow's files, one in memory at a time."""
    if stream.read(6) == b"ARROW1":
        file = arrow().ipc.open_file(stream)
        yield from (file.get_batch(i) for i in range(file.num_record_batches))
    else:
        stream.seek(0)
        yield from arrow().ipc.open_stream(stream)


@contextmanager
def _reading(address: str) -> Iterator[None]:
    """Errors of Arrow and of the disk or store as DatasetError."""
    try:
        yield
    except (OSError, arrow().ArrowException, MemoryError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise DatasetError(f"cannot read {address}: {reason}.") from error
