"""Features in a folder: written one image at a time, continued after any kill, read without loading them.

    encoding.json   how they were made (`Encoding`), and how many images there are once all are written
    images.jsonl    a line per image: path, key, dataset, size, and the checksum of its features
    features.npy    little-endian float32 (images, views, dim), in the order of the lines

An image's features are written before its line, so a line stands for features that are there. Nothing is pickled.
"""

import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np

from .. import files, reading
from ..arrays import Float32
from ..errors import FeaturesError, UsageError, ViewvoteError
from ..fields import NUMBER, TEXT, Fields, Kind, list_of, one_of, or_null, whole
from ..views.sample import Augment
from .features import EncodedImage, Encoding, Features, ImageFacts

FORMAT = "viewvote-features-1"
ENCODING, IMAGES, ROWS = "encoding.json", "images.jsonl", "features.npy"
HEADER = 128
"""Bytes before the first number, whatever the number of images."""


def open_features(folder: str | Path, *, skipped: Sequence[ViewvoteError] = ()) -> Features:
    """The features in a folder that `viewvote encode` or `Classifier.encode` wrote, mapped into memory.

    Of a folder whose writing was interrupted, or goes on, those of the images that are whole (`Features.complete`).
    `skipped` are the errors of images that are not there, where the caller knows them.
    """
    folder = Path(folder)
    encoding, total = _read_encoding(folder)
    facts = _read_facts(folder / IMAGES)
    path = folder / ROWS
    if total is not None and total != len(facts):
        raise FeaturesError(f"{folder / IMAGES} has {len(facts)} whole lines and should have {total}: it was changed.")
    needed = HEADER + len(facts) * _bytes_per_image(encoding)
    if not path.is_file() or path.stat().st_size < needed:
        raise FeaturesError(f"{path} is cut short; `viewvote encode --resume` encodes again what is missing.")
    rows = _mapped(path, encoding, len(facts))
    return Features(encoding, facts, rows, skipped=skipped, complete=total is not None, name=str(folder))


class FeatureWriter:
    """Writes encoded images into a folder, which is complete once the block of `with` ends without an error.

    One writer at a time: the command line holds a lock, other callers see to it themselves.

    paths  of the images that are there already
    """

    def __init__(self, folder: Path, encoding: Encoding, *, resume: bool = False, overwrite: bool = False) -> None:
        self._encoding = encoding
        self.paths: set[str] = set()
        there = any((folder / name).exists() for name in (ENCODING, IMAGES, ROWS))
        if there and not (resume or overwrite):
            raise UsageError(
                f"{folder} holds features already; continue them with resume=True, or replace them with overwrite=True."
            )
        kept: list[ImageFacts] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if there and resume:
                kept = _whole_images(folder, encoding)
                self.paths = {one.path for one in kept if one.path is not None}
            self._folder = folder
            self._count = len(kept)
            (folder / IMAGES).touch()
            (folder / ROWS).touch()
            self._write_encoding(None)
            _cut_lines(folder / IMAGES, len(kept))
            self._lines: BinaryIO = (folder / IMAGES).open("ab", buffering=0)
            self._rows: BinaryIO = (folder / ROWS).open("r+b", buffering=0)
        except OSError as error:
            raise UsageError(f"cannot write into {folder}: {error.strerror or error}.") from error
        self._rows.write(_header(encoding, 0))
        self._rows.truncate(HEADER + self._count * _bytes_per_image(encoding))
        self._rows.seek(0, os.SEEK_END)

    def __enter__(self) -> "FeatureWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._rows.seek(0)
            self._rows.write(_header(self._encoding, self._count))
            for file in (self._rows, self._lines):
                os.fsync(file.fileno())
            self._write_encoding(self._count)
        self._rows.close()
        self._lines.close()

    def add(self, image: EncodedImage) -> None:
        """Write one image."""
        rows = np.ascontiguousarray(image.features, dtype="<f4")
        _write_all(self._rows, rows.tobytes())
        facts = ImageFacts(**vars(image.facts) | {"checksum": crc32(rows.data)})
        _write_all(self._lines, _line(facts))
        self._count += 1

    def _write_encoding(self, images: int | None) -> None:
        facts = {"format": FORMAT, **self._encoding.to_dict(), "images": images}
        files.write_whole(self._folder / ENCODING, json.dumps(facts, indent=1) + "\n")


def _whole_images(folder: Path, encoding: Encoding) -> list[ImageFacts]:
    """The images of an earlier writer, up to the first whose features are not all there; checked by their checksums."""
    if not (folder / ENCODING).exists():
        raise FeaturesError(f"{folder} has no {ENCODING}, so nothing is known of what is there; start anew.")
    before, _ = _read_encoding(folder)
    different = before.difference(encoding)
    if before.n_views != encoding.n_views:
        different = f"{before.n_views} views of each image, not {encoding.n_views}"
    if different is not None:
        raise UsageError(f"{folder} was begun with {different}. Continue with the same options, or start anew.")
    if not (folder / IMAGES).exists() or not (folder / ROWS).exists():
        return []
    facts = _read_facts(folder / IMAGES)
    there = max(0, ((folder / ROWS).stat().st_size - HEADER) // _bytes_per_image(encoding))
    rows = _mapped(folder / ROWS, encoding, min(there, len(facts)))
    whole = []
    for one, features in zip(facts, rows, strict=False):
        if crc32(features.data) != one.checksum:
            break
        whole.append(one)
    return whole


def _read_encoding(folder: Path) -> tuple[Encoding, int | None]:
    """How the features were made, and the number of images; None where writing them has not ended."""
    path = folder / ENCODING
    if not path.exists():
        raise UsageError(f"{folder} holds no features: there is no {path}. Make some with `viewvote encode`.")
    values = reading.read_json(path, error=FeaturesError)
    if values.get("format") != FORMAT:
        raise FeaturesError(f"{path} has the format {values.get('format')!r}; this version reads {FORMAT!r}.")
    read = Fields(values, str(path), error=FeaturesError)
    found = {
        "model": read("model", TEXT),
        "fingerprint": read("fingerprint", TEXT),
        "probe": read("probe", list_of(NUMBER)),
        "dim": read("dim", whole(1, 1_000_000)),
        "n_views": read("n_views", whole(1, 1_000_000)),
        "seed": read("seed", Kind("a whole number", lambda value: type(value) is int)),
        "augment": read("augment", one_of(Augment)),
        "block_views": read("block_views", or_null(whole(1))),
    }
    return Encoding(**found), read("images", or_null(whole(0)))


def _read_facts(path: Path) -> list[ImageFacts]:
    """The images of the whole lines; what follows the last line break was never finished."""
    try:
        with reading.open_regular(path) as file:
            lines = file.read().split(b"\n")[:-1]
    except OSError as error:
        raise FeaturesError(f"cannot read {path}: {error.strerror or error}.") from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FeaturesError(f"{path}, line {number}, is no image's line: {error}.") from error
        found.append(_facts(Fields(values, f"{path}, line {number}", error=FeaturesError)))
    return found


def _facts(read: Fields) -> ImageFacts:
    """What a line says of an image."""
    width, height = read("size", list_of(whole(1), length=2))
    return ImageFacts(
        key=read("key", _ANY_TEXT),
        size=(width, height),
        dataset=read("dataset", _ANY_TEXT, default=""),
        path=read.optional("path", _ANY_TEXT),
        checksum=read.optional("checksum", whole(0)),
    )


_ANY_TEXT: Kind[str] = Kind("a text", lambda value: isinstance(value, str))  # of paths, which may be any bytes


def _cut_lines(path: Path, count: int) -> None:
    """Cut a file off after so many lines."""
    lines = path.read_bytes().split(b"\n")[:count]
    os.truncate(path, sum(len(line) + 1 for line in lines))


def _line(facts: ImageFacts) -> bytes:
    # In ASCII: a path that is not UTF-8 has half characters, which JSON can only hold as escapes.
    return json.dumps(asdict(facts)).encode("ascii") + b"\n"


def _header(encoding: Encoding, images: int) -> bytes:
    """The beginning of the .npy file of so many images, always `HEADER` bytes."""
    shape: dict[str, Any] = {"descr": "<f4", "fortran_order": False, "shape": (images, encoding.n_views, encoding.dim)}
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, shape)  # pads to whole lines of 64 bytes
    if len(header.getvalue()) != HEADER:
        raise AssertionError(f"a header of {len(header.getvalue())} bytes")
    return header.getvalue()


def _bytes_per_image(encoding: Encoding) -> int:
    return 4 * encoding.n_views * encoding.dim


def _mapped(path: Path, encoding: Encoding, images: int) -> Float32:
    shape = (images, encoding.n_views, encoding.dim)
    if images == 0:
        return np.zeros(shape, dtype=np.float32)  # nothing can be mapped
    return np.memmap(path, dtype="<f4", mode="r", offset=HEADER, shape=shape)


def _write_all(file: BinaryIO, data: bytes) -> None:
    """Write all of it: an unbuffered file may take a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
