"""Formats that extras add: HEIC and HEIF photographs, and the previews inside of raw ones."""

import io
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import PurePath

from PIL import Image

from ..errors import UnreadableImageError
from .rgb import BROKEN_EXIF

HEIF = "HEIF"
_HEIC_BRANDS = frozenset([b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevm", b"hevs", b"hevx"])
_HEIF_BRANDS = frozenset([b"mif1", b"msf1"])  # AVIF has these too, and names itself beside them
_FLIPS = {3: Image.Transpose.ROTATE_180, 5: Image.Transpose.ROTATE_90, 6: Image.Transpose.ROTATE_270}


@dataclass(frozen=True)
class Extra:
    """An extra, the module it installs, what it opens, and the endings of those files."""

    name: str
    module: str
    what: str
    endings: frozenset[str]

    @property
    def installed(self) -> bool:
        """Whether its files can be opened here."""
        return find_spec(self.module) is not None

    @property
    def advice(self) -> str:
        """How to have it."""
        return f'{self.what} need: pip install "viewvote[{self.name}]"'


HEIC = Extra("heic", "pillow_heif", "HEIC and HEIF", frozenset([".heic", ".heif", ".hif"]))
RAW = Extra(
    "raw",
    "rawpy",
    "raw photographs",
    frozenset(
        (
            ".3fr",
            ".arw",
            ".cr2",
            ".cr3",
            ".dng",
            ".erf",
            ".iiq",
            ".kdc",
            ".mef",
            ".mrw",
            ".nef",
            ".nrw",
            ".orf",
            ".pef",
            ".raf",
            ".rw2",
            ".srw",
            ".x3f",
        )
    ),
)
EXTRAS = (HEIC, RAW)


def endings_of_extras() -> frozenset[str]:
    """The endings of files that the installed extras open."""
    return frozenset[str]().union(*(extra.endings for extra in EXTRAS if extra.installed))


def missing_extras(endings: Collection[str]) -> list[Extra]:
    """The extras that would open files with these endings and are not installed."""
    return [extra for extra in EXTRAS if not extra.installed and not extra.endings.isdisjoint(endings)]


def is_heif(data: bytes) -> bool:
    """Whether the data is an image in a HEIF container, other than AVIF, which Pillow opens itself."""
    if data[4:8] != b"ftyp":
        return False
    size = min(int.from_bytes(data[:4], "big"), 1024)
    brands = {data[8:12], *(data[i : i + 4] for i in range(16, size, 4))}
    return bool(brands & _HEIC_BRANDS) or bool(brands & _HEIF_BRANDS and not brands & {b"avif", b"avis"})


def prepare_heif(name: str) -> None:
    """Have Pillow open HEIF; UnreadableImageError where the extra is missing."""
    if not HEIC.installed:
        raise UnreadableImageError(f"cannot decode {name}: {HEIC.advice}")
    _register_heif()


@cache
def _register_heif() -> None:
    import pillow_heif

    pillow_heif.register_heif_opener(thumbnails=False)


def is_raw(name: str) -> bool:
    """Whether this is the name of a raw photograph."""
    return PurePath(name).suffix.lower() in RAW.endings


def preview_of(data: bytes, name: str) -> bytes:
    """The JPEG or bitmap that a camera put into its raw file; other files as they are.

    Raw files have no mark in common, so their ending tells; the developed picture would take seconds and look worse
    than the camera's own.
    """
    if not is_raw(name):
        return data
    if not RAW.installed:
        raise UnreadableImageError(f"cannot decode {name}: {RAW.advice}")
    import rawpy

    try:
        with rawpy.imread(io.BytesIO(data)) as raw:
            preview, flip = raw.extract_thumb(), raw.sizes.flip
    except (rawpy.LibRawError, *BROKEN_EXIF) as error:
        reason = error.args[0] if error.args else type(error).__name__
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise UnreadableImageError(f"cannot decode {name}: no preview in this raw photograph ({text}).") from error
    if preview.format == rawpy.ThumbFormat.JPEG:  # LibRaw adds the orientation where the camera left it out
        return bytes(preview.data)
    picture = Image.fromarray(preview.data)
    held = io.BytesIO()
    (picture.transpose(_FLIPS[flip]) if flip in _FLIPS else picture).save(held, "PNG")
    return held.getvalue()
