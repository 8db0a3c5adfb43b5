"""A table on disk or in a store: a folder of parts that readers open, and beside it the manifest of how it was made."""

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import RecordError, RunError, RunWriteError, UsageError
from ..fields import TABLE, Fields
from ..reading import parse_json
from ..runs.environment import differences, version_of
from ..runs.lock import hold
from ..sources.address import is_address
from ..sources.columnar import arrow
from .folder import Folder, LocalFolder, StoreFolder
from .schema import table_of

_FINISHED = re.compile(r"(\d{8,})-([0-9a-f]{8})-(\d+)-(\d+)")
MANIFEST = "manifest.json"
_PIECE = b"viewvote.piece"
"""Under this name the metadata of a part has the digest of its piece: a part may be there before the piece's note."""


@dataclass(frozen=True)
class Finished:
    """A piece all of whose parts are there: the digest of its identity, its rows, and how many of them are errors."""

    digest: str
    rows: int
    errors: int


@dataclass(frozen=True)
class Written:
    """What is there of a piece that was not finished."""

    parts: int
    rows: int
    errors: int


@dataclass(frozen=True)
class Table:
    """The table at `place`: NAME.parquet has nothing but its parts, and NAME.parquet.manifest what else there is.

    A part and the note that a piece is finished are created once, each in one step: whoever comes second, after a
    worker that was taken for dead, leaves what is there.
    """

    place: str
    schema: Any

    @property
    def beside(self) -> str:
        """Where the manifest is."""
        return f"{self.place.rstrip('/')}.manifest"

    @cached_property
    def _parts(self) -> Folder:
        if is_address(self.place):
            return StoreFolder(self.place.rstrip("/"))
        return LocalFolder(Path(self.place), scratch=Path(self.beside))

    @cached_property
    def _notes(self) -> Folder:
        return StoreFolder(self.beside) if is_address(self.place) else LocalFolder(Path(self.beside))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes of this machine out; in a store two runs of one command do work twice, and no harm."""
        if is_address(self.place):
            yield
            return
        try:
            Path(self.beside).mkdir(parents=True, exist_ok=True)
            Path(self.place).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunWriteError(f"cannot write {self.place}: {error.strerror or error}.") from error
        with hold(Path(self.beside) / "lock"):
            yield

    def settle(self, settings: dict[str, Any]) -> None:
        """Write the manifest, or raise UsageError where the table was begun with other settings."""
        found = self.manifest()
        if found is None:
            if next(self._parts.names(""), None) is not None:
                raise UsageError(f"{self.place} holds files and has no {self.beside}; name another --output.")
            self._write_manifest({"viewvote": version_of("viewvote"), "settings": settings})
            return
        before, now = found.get("settings", {}), json.loads(json.dumps(settings))
        for name in sorted({*before, *now}):
            if before.get(name) != now.get(name):
                raise UsageError(
                    f"{self.place} was begun with {_shown(name, before.get(name))}, now it is "
                    f"{_shown(name, now.get(name))}. Give the same options, or another --output."
                )

    def settle_environment(self, environment: dict[str, Any]) -> list[str]:
        """Note with what the table is computed, or return what changed since; other weights raise RunError."""
        found = self.manifest() or {}
        if "environment" not in found:
            self._write_manifest({**found, "environment": environment})
            return []
        return differences(found["environment"], environment, source=f"{self.beside}/{MANIFEST}: environment")

    def conclude(self, totals: dict[str, int]) -> None:
        """Note that the table is complete."""
        if not totals["images"]:
            self._parts.create(_part_name(0, 0), self._encoded([]))  # a table without rows opens too
        for name in [one for one in self._notes.names("") if one.endswith(".half")]:  # of workers that were killed
            self._notes.remove(name)
        self._write_manifest({**(self.manifest() or {}), "complete": totals})

    def manifest(self) -> dict[str, Any] | None:
        """The manifest as it is now."""
        data = self._notes.read(MANIFEST)
        if data is None:
            return None
        source = f"{self.beside}/{MANIFEST}"
        found = Fields(parse_json(data, source=source, error=RecordError), source, error=RecordError)
        for name in ("settings", "environment"):
            found(name, TABLE, default={})
        return dict(found.data)

    def finished(self) -> dict[int, Finished]:
        """The pieces that are finished, by number."""
        found: dict[int, Finished] = {}
        for name in self._notes.names("finished"):
            if match := _FINISHED.fullmatch(name):
                found.setdefault(int(match[1]), Finished(match[2], int(match[3]), int(match[4])))
        return found

    def written(self, number: int, digest: str) -> Written:
        """What is there of a piece; raises RunError where it was begun as a piece of other images."""
        parts = rows = errors = 0
        while (data := self._parts.read(_part_name(number, parts))) is not None:
            found = arrow().parquet.read_table(io.BytesIO(data), columns=["error"])
            if (found.schema.metadata or {}).get(_PIECE, digest.encode()) != digest.encode():
                raise other_images(self.place, f"{_part_name(number, parts)} is of a piece that was another")
            column = found.column(0)
            rows, errors, parts = rows + len(column), errors + len(column) - column.null_count, parts + 1
        return Written(parts, rows, errors)

    def write_part(self, number: int, part: int, rows: list[dict[str, Any]], *, digest: str) -> None:
        """Write a part of a piece, unless it is there."""
        self._parts.create(_part_name(number, part), self._encoded(rows, digest=digest))

    def finish(self, number: int, done: Finished) -> None:
        """Note that all parts of a piece are there."""
        self._notes.create(f"finished/{number:08d}-{done.digest}-{done.rows}-{done.errors}", b"")

    def clear(self) -> None:
        """Take away what is there, the manifest first: half a table is never taken for one."""
        self._notes.remove(MANIFEST)
        for name in list(self._notes.names("finished")):
            self._notes.remove(f"finished/{name}")
        for name in [one for one in self._parts.names("") if re.fullmatch(r"part-\d+-\d+\.parquet", one)]:
            self._parts.remove(name)

    def _encoded(self, rows: list[dict[str, Any]], *, digest: str = "") -> bytes:
        out = io.BytesIO()
        table = table_of(rows, self.schema).replace_schema_metadata({_PIECE: digest})
        arrow().parquet.write_table(table, out, compression="zstd")
        return out.getvalue()

    def _write_manifest(self, values: dict[str, Any]) -> None:
        self._notes.write(MANIFEST, json.dumps(values, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def other_images(place: str, what: str) -> RunError:
    """The error of a table that was begun with other images."""
    return RunError(
        f"{place} was begun with other images: {what}. Were files added or removed? Give the same ones, "
        "or name another --output."
    )


def _part_name(number: int, part: int) -> str:
    return f"part-{number:08d}-{part:05d}.parquet"


def _shown(name: str, value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f"{name} {text if len(text) <= 80 else text[:77] + '...'}"
