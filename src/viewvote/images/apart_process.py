"""The process that decodes apart: requests on standard input, answers on standard output, until the input ends.

A request is a line of JSON and the encoded bytes, an answer a line of JSON and, for a level, its pixels as RGB.
"""

import json
import signal
import sys
from pathlib import Path
from typing import IO, Any

from ..errors import ViewvoteError
from .apart import header_from
from .decode import decode
from .extras import preview_of
from .header import check_memory, read_header
from .limits import ImageLimits
from .rgb import STRIP

GRACE = 2
"""Seconds over the deadline after which the process ends by itself, should the one that watches it be gone."""


def main() -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the process that asks
    answers, requests = sys.stdout.buffer, sys.stdin.buffer
    base = _address_space()
    while line := requests.readline():
        asked = json.loads(line)
        data = requests.read(asked["bytes"])
        limits = ImageLimits(**asked["limits"])
        _guard(limits, base + len(data))
        try:
            _answer(asked, data, limits, answers)
        except ViewvoteError as error:
            kind = type(error).__name__
            answers.write(json.dumps({"error": kind, "message": str(error)}).encode() + b"\n")
        answers.flush()
        del data
        if hasattr(signal, "alarm"):
            signal.alarm(0)


def _answer(asked: dict[str, Any], data: bytes, limits: ImageLimits, answers: IO[bytes]) -> None:
    name = asked["name"]
    if asked.get("preview"):
        preview = preview_of(data, name)
        answers.write(json.dumps({"bytes": len(preview)}).encode() + b"\n" + preview)
        return
    if "header" not in asked:
        header = read_header(data, name, limits)
        answers.write(json.dumps({"header": vars(header)}).encode() + b"\n")
        return
    header = header_from(asked["header"])
    check_memory(header.decoding_bytes(asked["factor"]), header, name, limits)
    level = decode(data, name, header, factor=asked["factor"], limits=limits)
    rows = max(1, STRIP // level.width)
    answers.write(json.dumps({"size": level.size, "rows": rows}).encode() + b"\n")
    for top in range(0, level.height, rows):
        answers.write(level.crop((0, top, level.width, min(top + rows, level.height))).tobytes())


def _guard(limits: ImageLimits, base: int) -> None:
    """Let the system end this process at the deadline and refuse it memory beyond the limit, come what may."""
    try:
        import resource
    except ImportError:  # Windows: the process that watches this one stops it
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(limits.decode_seconds) + GRACE)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = base + limits.decode_memory
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def _address_space() -> int:
    """Bytes of address space that this process has before its first image."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * 4096
    except OSError:
        return 2_000_000_000  # not Linux
