"""A service as a process of its own, and clients that ask it: what the modes of `benchmarks.serve_load` share."""

import asyncio
import io
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import IO
from urllib.request import urlopen

from PIL import Image

from viewvote.files import example_photos

LABELS = ("cat", "dog", "rocket", "coffee cup", "astronaut", "laptop", "flower", "car", "boat", "bird")


@dataclass
class Served:
    """A service at work, and afterwards how it ended."""

    process: subprocess.Popen[str]
    port: int
    ready_seconds: float

    @property
    def resident_mb(self) -> float:
        """What the process holds now (Linux)."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return round(pages * 4096 / 1e6, 1)

    @property
    def cpu_seconds(self) -> float:
        """What the process has used of all cores so far (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def service(*args: str, real_time: bool = False) -> Iterator[Served]:
    """`viewvote serve` with these arguments, until the end of the block.

    With `real_time` (Linux, root) it is measured beside other jobs as on an idle machine: its threads go before
    theirs, and those with little to do (its loop, the clients) before those that encode. Measure for less than a second
    at a time: the system then takes a twentieth of every second away.
    """
    command = [sys.executable, "-m", "viewvote", "serve", "--port", "0", "--quiet", *args]
    start = perf_counter()
    with tempfile.TemporaryFile("w+") as log:  # a pipe that nobody reads would stop the service
        process = subprocess.Popen(command, stderr=log, text=True)
        try:
            port = _port_of(process, log)
            served = Served(process, port, perf_counter() - start)
            if real_time:
                urlopen(f"http://127.0.0.1:{port}/health/ready").close()  # by then all its threads are there
                _go_first(process.pid)
            yield served
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            log.seek(max(0, log.seek(0, 2) - 2000))
            sys.stderr.write(log.read())


def _go_first(pid: int) -> None:
    for thread in (int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()):
        os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(12 if thread == pid else 10))
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(12))


def _port_of(process: subprocess.Popen[str], log: IO[str]) -> int:
    """The port that a service writes into its log once it is ready."""
    while process.poll() is None:
        log.seek(0)
        if found := re.search(r"http://[^:]+:(\d+)", log.read()):
            return int(found.group(1))
        sleep(0.02)
    raise SystemExit("the service did not start")


def photographs(folder: Path | None, number: int, *, side: int = 512) -> list[bytes]:
    """Encoded photographs, all different: those of a folder, or crops of the shipped ones."""
    if folder is not None:
        found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
        step = max(1, len(found) // number)
        return [path.read_bytes() for path in found[::step][:number]]
    out = []
    for i, path in zip(range(number), _forever(example_photos()), strict=False):
        with Image.open(path) as photo:
            photo.thumbnail((side, side))
            cropped = photo.crop((i % 17, i % 13, photo.width - i % 11, photo.height - i % 7))
            file = io.BytesIO()
            cropped.convert("RGB").save(file, "JPEG", quality=80 + i % 15)
            out.append(file.getvalue())
    return out


def _forever(paths: Sequence[Path]) -> Iterator[Path]:
    return (paths[i % len(paths)] for i in count())


def request_of(image: bytes, query: str = "", *, path: str = "/v1/classify") -> bytes:
    """A whole HTTP request with one image."""
    head = f"POST {path}{query} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: image/jpeg\r\n"
    return f"{head}Content-Length: {len(image)}\r\n\r\n".encode() + image


@dataclass
class Tally:
    """What clients saw."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # which request each of the seconds is of
    broken: int = 0

    def quantile(self, share: float) -> float:
        """That share of answers came within so many seconds."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def slower_than(self, other: "Tally") -> "Tally":
        """The seconds as multiples of the other's median for the same request."""
        theirs: dict[int, list[float]] = {}
        for number, seconds in zip(other.numbers, other.seconds, strict=True):
            theirs.setdefault(number, []).append(seconds)
        own = zip(self.numbers, self.seconds, strict=True)
        return Tally(seconds=[seconds / statistics.median(theirs[number]) for number, seconds in own])


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> tuple[int, bytes]:
    """The status and body of one request on an open connection."""
    writer.write(request)
    await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    body = await reader.readexactly(int(length.group(1))) if length else b""
    return int(head.split(b" ", 2)[1]), body


async def load(port: int, requests: Iterator[bytes], *, clients: int, seconds: float = 1e9) -> Tally:
    """Clients that ask one request after the other until the requests or the time end."""
    tally = Tally()
    end = monotonic() + seconds
    numbered = enumerate(requests)

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number, request in numbered:
            start = perf_counter()
            try:
                status, _ = await ask(reader, writer, request)
            except (OSError, asyncio.IncompleteReadError):
                tally.broken += 1
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                continue
            tally.statuses[status] += 1
            tally.seconds.append(perf_counter() - start)
            tally.numbers.append(number)
            if monotonic() >= end:
                break
        writer.close()

    await asyncio.gather(*[client() for _ in range(clients)])
    return tally
