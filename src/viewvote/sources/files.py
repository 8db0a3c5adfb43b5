"""Single image files, local or in a store; those of a store are fetched some at a time, ahead of what wants them."""

import json
import os
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ..errors import ImageTooLargeError, UnreadableImageError
from ..images.photo import ImageLimits
from .address import is_address
from .item import SourceItem
from .remote import read_object

FETCHES = 8
"""Images that are fetched at the same time, and held until they are asked for."""


@dataclass(frozen=True)
class Entry:
    """An image that a listing or a table names, or a line of a table that names none (`error`)."""

    address: str
    columns: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True)
class FilesPiece:
    """Consecutive images of a listing or a table."""

    entries: tuple[Entry, ...]
    max_bytes: int = ImageLimits().max_bytes

    @property
    def name(self) -> str:
        """The first image's address."""
        return self.entries[0].address

    @property
    def identity(self) -> str:
        """All addresses and columns."""
        return json.dumps([[one.address, dict(one.columns)] for one in self.entries], default=str)

    def items(self, *, skip: int = 0) -> Iterator[SourceItem]:
        """The images; local ones are left to be read by who decodes them."""
        entries = iter(self.entries[skip:])
        with ThreadPoolExecutor(FETCHES, thread_name_prefix="viewvote-fetch") as pool:
            pending: deque[SourceItem | Future[SourceItem]] = deque()
            try:
                while True:
                    pending.extend(self._start(pool, one) for one in islice(entries, FETCHES - len(pending)))
                    if not pending:
                        return
                    found = pending.popleft()
                    yield found if isinstance(found, SourceItem) else found.result()
            finally:
                for one in pending:
                    if isinstance(one, Future):
                        one.cancel()

    def lost(self, error: str, *, skip: int = 0) -> Iterator[SourceItem]:
        """Each image with the error."""
        for entry in self.entries[skip:]:
            yield SourceItem(entry.address, None, entry.columns, UnreadableImageError(f"{entry.address}: {error}"))

    def _start(self, pool: ThreadPoolExecutor, entry: Entry) -> "SourceItem | Future[SourceItem]":
        if entry.error is not None or not _is_name(entry.address):
            problem = entry.error or f"{entry.address!r} is no file's name."
            return SourceItem(entry.address, None, entry.columns, UnreadableImageError(problem))
        if not is_address(entry.address):
            return SourceItem(entry.address, entry.address, entry.columns)
        return pool.submit(self._fetch, entry)

    def _fetch(self, entry: Entry) -> SourceItem:
        key, columns = entry.address, entry.columns
        try:
            data = read_object(key, limit=self.max_bytes)
        except FileNotFoundError:
            return SourceItem(key, None, columns, UnreadableImageError(f"{key} does not exist."))
        except OSError as error:
            reason = str(error.strerror or error).rstrip(".")
            return SourceItem(
                key,
                None,
                columns,
                UnreadableImageError(f"{reason}." if key in reason else f"cannot read {key}: {reason}."),
            )
        if len(data) > self.max_bytes:
            limit = f"{self.max_bytes:,} bytes"
            return SourceItem(
                key, None, columns, ImageTooLargeError(f"{key} has more than {limit}; the limit is {limit}.")
            )
        return SourceItem(key, data, columns)


def _is_name(address: str) -> bool:
    """Whether a file can have the name: JSON may hold what the system does not take."""
    try:
        return b"\0" not in os.fsencode(address)
    except UnicodeEncodeError:
        return False
