"""WebDataset shards: tar archives whose members lie together by the name before the first dot."""

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from ..errors import DatasetError, UnreadableImageError
from ..images.photo import EXTENSIONS, ImageLimits
from .item import SourceItem
from .piece import lost_item
from .remote import open_binary
from .tar import Member, TarReader

SIDE_BYTES = 1_000_000
"""The longest text beside an image that is looked into for kept columns."""

SAMPLE_BYTES = 500_000_000
"""The most that all members of one sample may have where columns are kept."""


@dataclass(frozen=True)
class TarPiece:
    """A tar shard, local or in a store, read in sequence.

    A kept column is a member beside the image (`txt` for 0001.txt beside 0001.jpg) or a field of the `json` there.
    """

    address: str
    keep: tuple[str, ...] = ()
    max_bytes: int = ImageLimits().max_bytes

    @property
    def name(self) -> str:
        """Its address."""
        return self.address

    @property
    def identity(self) -> str:
        """Its address."""
        return self.address

    def items(self, *, skip: int = 0) -> Iterator[SourceItem]:
        """Its images from position `skip` on; where the archive is damaged, one error stands for the rest."""
        done = 0
        try:
            with self._open() as stream:
                for item in self._images(TarReader(stream, name=self.address), skip=skip):
                    if done >= skip:
                        yield item
                    done += 1
        except DatasetError as error:
            found = str(error)
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or str(error).rstrip(".") or type(error).__name__
            found = f"cannot read {self.address}: {reason}."
        else:
            return
        if done >= skip:
            yield lost_item(self.address, found)

    def lost(self, error: str, *, skip: int = 0) -> Iterator[SourceItem]:
        """One item: how many images there are is not known."""
        del skip
        yield lost_item(self.address, error)

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        with open_binary(self.address) as stream:
            if self.address.lower().endswith((".gz", ".tgz")):
                with gzip.GzipFile(fileobj=stream) as unpacked:
                    yield cast(BinaryIO, unpacked)
            else:
                yield stream

    def _images(self, reader: TarReader, *, skip: int) -> Iterator[SourceItem]:
        """The images; those before `skip` without their bytes."""
        done = 0
        for _, members in groupby(reader.members(), key=lambda member: _split(member.name)[0]):
            images: list[SourceItem] = []
            beside: dict[str, str] = {}
            held = 0
            for member in members:
                if PurePosixPath(member.name).suffix.lower() in EXTENSIONS:
                    found = self._image(reader, member, wanted=done >= skip)
                    done += 1
                    if not self.keep:
                        yield found
                        continue
                    images.append(found)
                    held += len(found.image or b"")
                elif self.keep and member.is_file and member.size <= SIDE_BYTES:
                    text = beside[_split(member.name)[1]] = reader.read(SIDE_BYTES).decode("utf-8", "replace")
                    held += len(text)
                if held > SAMPLE_BYTES:  # its images wait in memory for the texts that may follow them
                    raise DatasetError(f"{self.address}: a sample has more than {SAMPLE_BYTES:,} bytes.")
            if images:
                kept = _kept(self.keep, beside)
                yield from (SourceItem(one.key, one.image, kept, one.error) for one in images)

    def _image(self, reader: TarReader, member: Member, *, wanted: bool) -> SourceItem:
        key = f"{self.address}#{member.name}"
        if not member.is_file:
            return SourceItem(key, error=UnreadableImageError(f"{key} is a link or another member that is no file."))
        return SourceItem(key, reader.read(self.max_bytes + 1) if wanted else b"")


def _split(name: str) -> tuple[str, str]:
    """What a sample's members have in common, and the rest: photos/0001 and left.jpg."""
    folder, _, base = name.rpartition("/")
    stem, _, ending = base.partition(".")
    return f"{folder}/{stem}", ending


def _kept(columns: tuple[str, ...], beside: dict[str, str]) -> dict[str, Any]:
    try:
        fields = json.loads(beside.get("json", "{}"))
    except (ValueError, RecursionError):
        fields = {}
    fields = fields if isinstance(fields, dict) else {}
    return {column: beside.get(column, fields.get(column)) for column in columns}
