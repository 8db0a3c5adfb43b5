"""A raw photograph as small as can be: a DNG with a preview as JPEG and a sensor of a few pixels."""

import io
import struct

from PIL import Image

SHORT, LONG, RATIONAL = 3, 4, 5
SENSOR = (32, 32)


def dng(preview: Image.Image | None, *, orientation: int = 1) -> bytes:
    """The file; its sensor is grey. Without a preview it has none."""
    jpeg = b""
    if preview is not None:
        held = io.BytesIO()
        preview.save(held, "JPEG", quality=95)
        jpeg = held.getvalue()
    width, height = SENSOR
    sensor = struct.pack("<H", 2000) * (width * height)
    start = 8
    jpeg_at, sensor_at = start, start + len(jpeg)
    raw_at = sensor_at + len(sensor)
    raw = _directory(
        raw_at,
        [
            (254, LONG, [0]),  # the full image
            (256, LONG, [width]),
            (257, LONG, [height]),
            (258, SHORT, [16]),
            (259, SHORT, [1]),  # not compressed
            (262, SHORT, [32803]),  # colour filter array
            (273, LONG, [sensor_at]),
            (277, SHORT, [1]),
            (278, LONG, [height]),
            (279, LONG, [len(sensor)]),
            (33421, SHORT, [2, 2]),
            (33422, 1, [0, 1, 1, 2]),
        ],
    )
    first_at = raw_at + len(raw)
    tags = [
        (254, LONG, [1]),  # a preview
        (271, 2, [*b"viewvote\0"]),
        (272, 2, [*b"tests\0"]),
        (274, SHORT, [orientation]),
        (330, LONG, [raw_at]),
        (50706, 1, [1, 4, 0, 0]),
        (50708, 2, [*b"viewvote tests\0"]),
    ]
    if preview is not None:
        tags += [
            (256, LONG, [preview.width]),
            (257, LONG, [preview.height]),
            (258, SHORT, [8, 8, 8]),
            (259, SHORT, [7]),  # JPEG
            (262, SHORT, [6]),
            (273, LONG, [jpeg_at]),
            (277, SHORT, [3]),
            (278, LONG, [preview.height]),
            (279, LONG, [len(jpeg)]),
        ]
    first = _directory(first_at, sorted(tags))
    return struct.pack("<2sHI", b"II", 42, first_at) + jpeg + sensor + raw + first


def _directory(at: int, tags: list[tuple[int, int, list[int]]]) -> bytes:
    """The directory of TIFF that starts at `at`, its longer values behind it."""
    formats = {1: "B", 2: "B", SHORT: "H", LONG: "I"}
    behind = at + 2 + 12 * len(tags) + 4
    entries, values = b"", b""
    for tag, kind, numbers in tags:
        packed = struct.pack(f"<{len(numbers)}{formats[kind]}", *numbers)
        if len(packed) > 4:
            packed, values = struct.pack("<I", behind + len(values)), values + packed + b"\0" * (len(packed) % 2)
        entries += struct.pack("<HHI", tag, kind, len(numbers)) + packed.ljust(4, b"\0")
    return struct.pack("<H", len(tags)) + entries + struct.pack("<I", 0) + values
