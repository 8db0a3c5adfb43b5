"""Images of every format: opened, decoded at full and at reduced size, and drawn as views."""

import io
import os
import random
import struct
import zlib
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from typing import Any

import numpy as np
from PIL import Image

from viewvote.images import apart
from viewvote.images.photo import FORMATS, ImageLimits, open_photo
from viewvote.images.spec import ImageSpec
from viewvote.views import draw
from viewvote.views.sample import prepare
from viewvote.views.threads import Pool

from ..mutators import mutated_bytes
from ..pictures import mutated_picture
from ..pictures.png import chunk, chunks

__all__ = ["GROWTH", "LIMITS", "MEGABYTES", "SECONDS", "kind", "mutate", "processes", "run", "seeds"]

LIMITS = ImageLimits(max_pixels=1_500_000, decode_memory=100_000_000)
SPEC = ImageSpec(size=32)
FACTORS = ({1, 4}, {2}, {4}, {8})
SECONDS = LIMITS.decode_seconds + 3.0
MEGABYTES = 500
GROWTH = 2 * LIMITS.decode_memory // 1_000_000
"""Of one input: the decoding memory in the process that asks and in the one that decodes apart."""

_MODES = ("RGB", "L", "P", "RGBA", "LA", "1", "CMYK", "I;16", "I", "F", "YCbCr")
_SIZES = ((24, 16), (1, 1), (3, 200), (70, 50), (257, 130))
_NUMBERS = (0, 1, 2, 7, 8, 15, 16, 127, 128, 255, 256, 1000, 4095, 16383, 32767, 65534, 65535, 2**31 - 1, 2**32 - 1)


def seeds(rng: random.Random) -> list[bytes]:
    """Images of all formats, modes and orientations, and those that once cost memory, time or a run."""
    found = [_encoded(_picture((24, 16), rng), fmt) for fmt in ("JPEG", *FORMATS)]
    for mode in _MODES:
        picture = _picture(rng.choice(_SIZES), rng).convert(_base(mode)).convert(mode)
        found += [_encoded(picture, fmt) for fmt in FORMATS]
    photo = _picture((257, 130), rng)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        found += [_encoded(photo, fmt, exif=exif) for fmt in ("JPEG", "PNG", "WEBP", "TIFF")]
    found += [_encoded(photo, "JPEG", progressive=True, subsampling=sampling) for sampling in (0, 1, 2)]
    found += [_encoded(photo, "TIFF", compression=how) for how in ("tiff_lzw", "tiff_deflate", "packbits", "jpeg")]
    found += [_encoded(photo, "WEBP", lossless=True), _encoded(photo, "PNG", interlace=1), _two_exifs(photo)]
    found += [_encoded(photo, fmt, save_all=True, append_images=[photo.rotate(90)]) for fmt in ("GIF", "WEBP", "PNG")]
    found += [_many_scans(200), _tiny_bomb("P", (1100, 1300)), _tiny_bomb("I;16", (1100, 1300)), _run_length_bmp()]
    return [data for data in found if data]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """The image changed as its format has it, or with changes that keep more or less of its structure."""
    if rng.random() < 0.6:
        return mutated_picture(data, rng)[:2_000_000]
    changes: tuple[Callable[[bytes, random.Random], bytes], ...] = (mutated_bytes, _number, _block, _pair)
    for _ in range(rng.choices((1, 2, 3), (4, 2, 1))[0]):
        data = rng.choice(changes)(data, rng)
        if data.startswith(b"\x89PNG") and rng.random() < 0.8:
            data = _with_checksums(data)
    return data[:2_000_000]


def run(data: bytes) -> None:
    """Open the image, decode it in two sizes, and draw some views: all of the sizes that its header has."""
    _draw_without_threads()
    photo = open_photo(data, limits=LIMITS)
    width, height = photo.size
    for factor, level in photo.levels(FACTORS[len(data) % len(FACTORS)]).items():
        assert level.mode == "RGB", level.mode
        assert level.size == (-(-width // factor), -(-height // factor)), f"{level.size} of {photo.size} by {factor}"
    assert prepare(photo, SPEC, n_views=3, seed=0, limits=LIMITS).pixels.shape == (3, 32, 32, 3)


def kind(data: bytes) -> str:
    """The format that the bytes start as."""
    return next((name for start, name in _STARTS.items() if start in data[:12]), "TGA, other")


def processes() -> list[int]:
    """Those that decode apart and wait for the next image."""
    return [worker.process.pid for worker in apart._idle.get(os.getpid(), [])]


_STARTS = {
    b"\xff\xd8\xff": "JPEG",
    b"\x89PNG": "PNG",
    b"WEBP": "WebP",
    b"GIF8": "GIF",
    b"BM": "BMP",
    b"jP": "JPEG 2000",
}
_STARTS |= {b"\xff\x4f\xff\x51": "JPEG 2000", b"II\x2a": "TIFF", b"MM\0\x2a": "TIFF", b"ftyp": "AVIF, HEIC"}
_STARTS |= {b"\0\0\1\0": "ICO"} | {b"P%d" % number: "PPM" for number in range(1, 8)} | {b"PF": "PPM", b"Pf": "PPM"}


class _Here(Pool):
    """Does what is submitted at once: handing a small image to a thread takes longer than drawing it."""

    def submit(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever asks for the result
            future.set_exception(error)
        return future


@cache
def _draw_without_threads() -> None:
    draw._DRAWING._pools[os.getpid()] = _Here(0, "here")


def _picture(size: tuple[int, int], rng: random.Random) -> Image.Image:
    width, height = size
    noise = np.frombuffer(rng.randbytes(width * height * 3), np.uint8).reshape(height, width, 3)
    return Image.blend(Image.linear_gradient("L").resize(size).convert("RGB"), Image.fromarray(noise), 0.3)


def _base(mode: str) -> str:
    """What Pillow converts to the mode from."""
    return "L" if mode in ("I;16", "LA", "F", "I") else "RGB"


def _encoded(image: Image.Image, fmt: str, **options: object) -> bytes:
    """The image as a file; empty where the format does not have its mode."""
    if fmt == "PNG" and options.pop("interlace", 0):
        return _interlaced(image)
    out = io.BytesIO()
    try:
        image.save(out, fmt, **options)
    except (OSError, ValueError, KeyError):
        return b""
    return out.getvalue()


def _interlaced(image: Image.Image) -> bytes:
    """A PNG in seven passes."""
    rgb = np.asarray(image.convert("RGB"))
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    rows = (row for x, y, dx, dy in passes for row in rgb[y::dy, x::dx] if row.size)
    body = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))
    header = struct.pack(">IIBBBBB", image.width, image.height, 8, 2, 0, 0, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def _with_checksums(data: bytes) -> bytes:
    """A PNG whose checksums are right again, so that what was changed is looked at."""
    return data[:8] + b"".join(chunk(kind, body) for kind, body in chunks(data))


def _two_exifs(image: Image.Image) -> bytes:
    """A PNG that says one orientation before its pixels and another behind them."""
    data = _encoded(image, "PNG")
    turned = [b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0" + bytes([turn]) + b"\0\0\0\0\0\0" for turn in (1, 6)]
    start = data.index(b"IDAT") - 4
    return data[:start] + chunk(b"eXIf", turned[0]) + data[start:-12] + chunk(b"eXIf", turned[1]) + data[-12:]


def _many_scans(count: int) -> bytes:
    data = _encoded(Image.new("L", (64, 64), 90), "JPEG", progressive=True)
    return data[:-2] + data[data.rindex(b"\xff\xda") : -2] * count + data[-2:]


def _tiny_bomb(mode: str, size: tuple[int, int]) -> bytes:
    """Many pixels in a few bytes."""
    return _encoded(Image.new(mode, size), "PNG", **({"transparency": 0} if mode == "P" else {}))


def _run_length_bmp() -> bytes:
    header = struct.pack("<IiiHHIIiiII", 40, 2000, 1000, 1, 8, 1, 4, 0, 0, 2, 2) + bytes([0, 0, 0, 0, 255, 255, 255, 0])
    return b"BM" + struct.pack("<IHHI", 18 + len(header), 0, 0, 14 + len(header)) + header + b"\x02\x01\x00\x01"


def _number(data: bytes, rng: random.Random) -> bytes:
    """One number of 1, 2 or 4 bytes, mostly in the header, made another."""
    width, order = rng.choice((1, 2, 4)), rng.choice(("big", "little"))
    most = min(len(data), 200) if rng.random() < 0.7 else len(data)
    at = rng.randrange(max(1, most))
    number = rng.choice(_NUMBERS) % 256**width
    return data[:at] + number.to_bytes(width, order) + data[at + width :]  # type: ignore[arg-type]


def _block(data: bytes, rng: random.Random) -> bytes:
    """A chunk or segment dropped, doubled, moved or repeated many times; a piece of any length where there are none."""
    starts = _starts(data)
    if len(starts) < 3:
        starts = sorted(rng.randrange(len(data) + 1) for _ in range(4))
    at = rng.randrange(len(starts) - 1)
    block, rest = data[starts[at] : starts[at + 1]], data[: starts[at]] + data[starts[at + 1] :]
    to = min(rng.choice(starts), len(rest))
    match rng.randrange(4):
        case 0:
            return rest
        case 1:
            return rest[:to] + block + rest[to:]
        case 2:
            return data[: starts[at]] + block + data[starts[at] :]
    times = rng.choices((2, 10, 300, 20_000), (50, 40, 9, 1))[0]  # the last ones cost a hundred others
    return data[: starts[at]] + block[:200] * (times if len(block) < 100 else 10) + data[starts[at] :]


def _starts(data: bytes) -> list[int]:
    """Where the chunks of a PNG or RIFF, or the segments of a JPEG, start."""
    found: list[int] = []
    if data.startswith(b"\x89PNG"):
        at = 8
        while at + 12 <= len(data) and len(found) < 1000:
            found.append(at)
            at += 12 + struct.unpack_from(">I", data, at)[0]
    elif data.startswith(b"RIFF"):
        at = 12
        while at + 8 <= len(data) and len(found) < 1000:
            found.append(at)
            at += 8 + (struct.unpack_from("<I", data, at + 4)[0] + 1 & ~1)
    elif data.startswith(b"\xff\xd8"):
        at = 2
        while (at := data.find(b"\xff", at)) >= 0 and len(found) < 1000:
            if data[at + 1 : at + 2] not in (b"\0", b"\xff", b""):
                found.append(at)
            at += 2
    return found


@cache
def _others() -> list[bytes]:
    rng = random.Random(0)
    return [_encoded(_picture(size, rng), fmt) for size in _SIZES for fmt in FORMATS]


def _pair(data: bytes, rng: random.Random) -> bytes:
    """The head of one image with the tail of another kind."""
    other = rng.choice(_others())
    cut = rng.randrange(min(len(data), 64) + 1)
    return data[:cut] + other[cut:] if rng.random() < 0.5 else other[:cut] + data[cut:]
