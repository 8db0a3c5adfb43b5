"""Changes of tar archives and Parquet files that leave their structure readable: checksums, where the footer is."""

import gzip
import random
import struct
import zlib

from .mutators import mutated_bytes

BLOCK = 512
_SIZES = (
    b"0",
    b"1",
    b"777",
    b"-1",
    b"-000000001",
    b"7777777777",
    b"77777777777",
    b"\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
)
_SIZES += (b"\xff" * 12, b"8", b"1_0", b"", b"+5", b"0o7", b"\x80" + b"\0" * 10 + b"\x05")
_KINDS = (b"0", b"1", b"2", b"3", b"5", b"6", b"7", b"L", b"K", b"x", b"g", b"S", b"\0", b"V")
_PAX = (
    b"path=a.jpg",
    b"size=-1",
    b"size=99",
    b"size=" + b"9" * 30,
    b"size=" + b"1" * 5000,
    b"GNU.sparse.size=1",
    b"path=",
    b"path=\0\xff/../b.jpg",
)


def mutated_tar(data: bytes, rng: random.Random) -> bytes:
    """One header changed, with its checksum, or a member of a name or of extended values put before one."""
    starts = [at for at in range(0, len(data) - BLOCK + 1, BLOCK) if data[at + 257 : at + 262] == b"ustar"]
    if not starts or rng.random() < 0.15:
        return mutated_bytes(data, rng)
    at = rng.choice(starts)
    header = bytearray(data[at : at + BLOCK])
    match rng.randrange(5):
        case 0:
            header[124:136] = (
                rng.choice(_SIZES)[:12].rjust(12, b"0")
                if rng.random() < 0.5
                else rng.choice(_SIZES).ljust(12, b" ")[:12]
            )
        case 1:
            header[156:157] = rng.choice(_KINDS)
        case 2:
            header[:100] = rng.choice(
                (b"", b"../../x.jpg", b"/etc/x.png", b"\xff\xfe.jpg", b"a" * 100, b".", b"a.b.jpg")
            ).ljust(100, b"\0")
        case 3:
            return data[:at] + _before(rng) + data[at:]
        case _:
            end = rng.choice((at, at + 100, at + BLOCK, at + BLOCK + 1, len(data) - 1))
            return data[:end] + rng.choice((b"", b"\0" * 1024, data[at:]))
    return data[:at] + _summed(header) + data[at + BLOCK :]


def _before(rng: random.Random) -> bytes:
    """A member that says something of the next one."""
    kind = rng.choice((b"L", b"K", b"x", b"g"))
    if kind in b"xg":
        records = [rng.choice(_PAX) for _ in range(rng.choice((1, 2, 30)))]
        body = b"".join(_record(one, rng) for one in records)
    else:
        body = rng.choice((b"long/" * 40 + b"name.jpg\0", b"", b"\0", b"\xff" * 300))
    size = b"%011o\0" % len(body) if rng.random() < 0.9 else rng.choice(_SIZES).ljust(12, b"\0")[:12]
    header = bytearray(BLOCK)
    header[:4], header[124:136], header[156:157], header[257:265] = b"next", size, kind, b"ustar\00000"
    return _summed(header) + body + bytes(-len(body) % BLOCK)


def _record(text: bytes, rng: random.Random) -> bytes:
    length = len(text) + 3
    length += len(str(length)) - 1
    says = b"%d" % length if rng.random() < 0.9 else rng.choice((b"0", b"-1", b"9" * 6000, b"x", b"3"))
    return says + b" " + text + b"\n"


def _summed(header: bytearray) -> bytes:
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def mutated_packed_tar(data: bytes, rng: random.Random) -> bytes:
    """The archive in a gzip file changed, or the gzip file."""
    try:
        inside = gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return mutated_bytes(data, rng)
    return mutated_bytes(data, rng) if rng.random() < 0.2 else gzip.compress(mutated_tar(inside, rng), mtime=0)


def mutated_parquet(data: bytes, rng: random.Random) -> bytes:
    """Bytes of the footer or of the columns changed, the length of the footer kept right, mostly."""
    if len(data) < 12 or rng.random() < 0.1:
        return mutated_bytes(data, rng)
    (length,) = struct.unpack("<I", data[-8:-4])
    start = max(4, len(data) - 8 - length)
    columns, footer = data[4:start], data[start:-8]
    if rng.random() < 0.8:
        footer = _few_bytes(footer, rng)
    else:
        columns = _few_bytes(columns, rng)
    says = len(footer) if rng.random() < 0.95 else rng.choice((0, 2**31, 2**32 - 1, len(footer) + 1))
    return b"PAR1" + columns + footer + struct.pack("<I", says) + b"PAR1"


def mutated_arrow(data: bytes, rng: random.Random) -> bytes:
    """Some bytes changed; the lengths and offsets of its tables are among them."""
    return _few_bytes(data, rng) if rng.random() < 0.8 else mutated_bytes(data, rng)


def _few_bytes(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if out:
            out[rng.randrange(len(out))] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    return bytes(out)
