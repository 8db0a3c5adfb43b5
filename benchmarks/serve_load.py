"""What the service holds under load: throughput against predict_many, latencies, memory, overload, hostile requests.

    python -m benchmarks.serve_load throughput --data PHOTOGRAPHS     (also: latency, memory, overload, hostile)

Every mode starts `viewvote serve` as a process of its own on a free port, prints one JSON line per measurement with the
machine's load at that time, and ends the process. Clients are asyncio connections that are kept open, each asking
again as soon as it has its answer; photographs differ and no features are kept, so nothing is answered from memory.
"""

import argparse
import asyncio
import io
import json
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
from itertools import count, islice
from pathlib import Path
from time import monotonic, perf_counter, process_time, sleep
from typing import IO
from urllib.parse import quote
from urllib.request import urlopen

from PIL import Image

from viewvote import Classifier
from viewvote.files import example_photos

LABELS = ("cat", "dog", "rocket", "coffee cup", "astronaut", "laptop", "flower", "car", "boat", "bird")


@dataclass
class Served:
    """A service at work."""

    process: subprocess.Popen[str]
    port: int

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
            served = Served(process, _port_of(process, log))
            if real_time:
                urlopen(f"http://127.0.0.1:{served.port}/health/ready").close()  # by then all its threads are there
                _go_first(process.pid)
            print(
                json.dumps({"ready_seconds": round(perf_counter() - start, 2), "load": os.getloadavg()[0]}), flush=True
            )
            yield served
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            print(json.dumps({"exit": process.returncode, "log_bytes": log.seek(0, 2)}))
            log.seek(max(0, log.tell() - 2000))
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


def throughput(args: argparse.Namespace) -> None:
    """Images per second of 16 and 64 clients and of predict_many, taken in turns."""
    photos = photographs(args.data, args.images)
    clf = Classifier("pocket", labels=LABELS, n_views="adaptive")
    ratios: dict[int, list[float]] = {16: [], 64: []}
    arguments = ["--labels", ",".join(LABELS), "--views", "adaptive", "--feature-cache", "0"]
    with service(*arguments, real_time=args.real_time) as served:
        for turn in range(args.turns):
            for clients in ratios:
                sleep(args.pause)
                start, used = perf_counter(), process_time()
                assert sum(1 for _ in clf.predict_many(photos)) == len(photos)
                ceiling, own_cpu = len(photos) / (perf_counter() - start), process_time() - used
                requests = iter([request_of(photo) for photo in photos])
                sleep(args.pause)
                start, used = perf_counter(), served.cpu_seconds
                tally = asyncio.run(load(served.port, requests, clients=clients))
                rate, cpu = tally.statuses[200] / (perf_counter() - start), served.cpu_seconds - used
                ratios[clients].append(rate / ceiling)
                row = {"turn": turn, "clients": clients, "images_per_second": round(rate, 2)}
                row |= {"predict_many": round(ceiling, 2), "ratio": round(rate / ceiling, 3)}
                row |= {"cpu_ms": round(1000 * cpu / len(photos), 1)}
                row |= {"predict_many_cpu_ms": round(1000 * own_cpu / len(photos), 1)}
                print(json.dumps(row | {"statuses": tally.statuses, "load": os.getloadavg()[0]}), flush=True)
    for clients, found in ratios.items():
        print(json.dumps({"clients": clients, "median_ratio": round(statistics.median(found), 3), "of": len(found)}))


def latency(args: argparse.Namespace) -> None:
    """Seconds of a single client and of four, in turns: median and 99th percentile.

    Photographs differ in the views that they need. So beside the quantiles stands how many times longer than alone the
    same photograph takes among four clients; alone is its median over the turns of the single client. At last each of a
    few photographs is asked again and again, as a load tool does, by one client and by four.
    """
    photos = photographs(args.data, args.images)
    one, four, again = Tally(), Tally(), Tally()
    arguments = ["--labels", ",".join(LABELS), "--views", "adaptive", "--feature-cache", "0"]
    with service(*arguments, real_time=args.real_time) as served:
        for _ in range(args.turns):
            for tally, clients in ((one, 1), (four, 4)):
                sleep(args.pause)
                found = asyncio.run(load(served.port, iter([request_of(photo) for photo in photos]), clients=clients))
                tally.seconds += found.seconds
                tally.numbers += found.numbers
        for photo in photos[:: max(1, len(photos) // 10)]:
            sleep(args.pause)
            alone = asyncio.run(load(served.port, iter([request_of(photo)] * 20), clients=1)).quantile(0.5)
            sleep(args.pause)
            found = asyncio.run(load(served.port, iter([request_of(photo)] * max(20, int(1.2 / alone))), clients=4))
            again.seconds += [seconds / alone for seconds in found.seconds]
    for tally, clients in ((one, 1), (four, 4)):
        row = {"clients": clients, "n": len(tally.seconds), "median_ms": round(1000 * tally.quantile(0.5), 1)}
        print(json.dumps(row | {"p99_ms": round(1000 * tally.quantile(0.99), 1)}))
    ratios = {"p99_of_4_to_median_of_1": round(four.quantile(0.99) / one.quantile(0.5), 2)}
    ratios |= {"p99_of_4_to_p99_of_1": round(four.quantile(0.99) / one.quantile(0.99), 2)}
    slower = four.slower_than(one)
    ratios |= {"same_photo_median": round(slower.quantile(0.5), 2), "same_photo_p99": round(slower.quantile(0.99), 2)}
    ratios |= {f"one_photo_{round(100 * share)}%": round(again.quantile(share), 2) for share in (0.5, 0.9, 0.99)}
    print(json.dumps(ratios | {"one_photo_n": len(again.seconds), "load": os.getloadavg()[0]}))


def memory(args: argparse.Namespace) -> None:
    """Resident memory of the service at each tenth of many requests."""
    photos = photographs(None, 400, side=160)
    with service("--labels", ",".join(LABELS), "--views", str(args.views)) as served:
        numbers = iter(range(args.requests))
        for tenth in range(10):
            some = (
                request_of(photos[i % 400], f"?seed={i}&top=1&labels={quote(LABELS[i % 10])},thing{i % 1000}")
                for i in _take(numbers, args.requests // 10)
            )
            tally = asyncio.run(load(served.port, some, clients=8))
            row = {"requests": (tenth + 1) * (args.requests // 10), "resident_mb": served.resident_mb}
            print(json.dumps(row | {"statuses": tally.statuses, "broken": tally.broken}), flush=True)


def _take(numbers: Iterator[int], most: int) -> list[int]:
    return list(islice(numbers, most))


def overload(args: argparse.Namespace) -> None:
    """Ten times as many clients as the queue holds: the accepted are answered, the rest refused, then all is well."""
    photos = photographs(args.data, args.images)
    queue = 32
    arguments = ["--labels", ",".join(LABELS), "--views", "adaptive", "--feature-cache", "0", "--max-queue", str(queue)]
    with service(*arguments) as served:
        endless = (request_of(photos[i % len(photos)]) for i in count())
        tally = asyncio.run(load(served.port, endless, clients=10 * queue, seconds=args.seconds))
        row = {"clients": 10 * queue, "queue": queue, "statuses": tally.statuses, "broken": tally.broken}
        print(json.dumps(row | {"p99_seconds": round(tally.quantile(0.99), 2), "load": os.getloadavg()[0]}))
        sleep(1)
        after = asyncio.run(load(served.port, iter([request_of(photo) for photo in photos[:50]]), clients=4))
        print(json.dumps({"after": after.statuses, "broken": after.broken, "resident_mb": served.resident_mb}))


def hostile(args: argparse.Namespace) -> None:
    """Damaged images, bodies, headers and clients, and requests made from the contract (serve_hostile.py)."""
    from .serve_contract import contract_campaign
    from .serve_hostile import campaign

    made = args.requests // 10
    arguments = ["--labels", ",".join(LABELS), "--views", "4", "--timeout", "20", "--max-bytes", "3000000"]
    with service(*arguments) as served:
        print(json.dumps({"resident_mb": served.resident_mb}), flush=True)
        asyncio.run(campaign(served.port, args.requests - made, seed=args.seed, folder=args.data))
        print(json.dumps({"alive": served.process.poll() is None, "resident_mb": served.resident_mb}), flush=True)
        contract_campaign(served.port, made, seed=args.seed)
        print(json.dumps({"alive": served.process.poll() is None, "resident_mb": served.resident_mb}), flush=True)
        good = asyncio.run(load(served.port, iter([request_of(photo) for photo in photographs(None, 8)]), clients=1))
        print(json.dumps({"after": good.statuses, "load": os.getloadavg()[0]}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["throughput", "latency", "memory", "overload", "hostile"])
    parser.add_argument("--data", type=Path, help="a folder of photographs, or of damaged files for hostile")
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--views", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds before each turn")
    parser.add_argument("--real-time", action="store_true", help="throughput and latency go before other jobs")
    args = parser.parse_args()
    {"throughput": throughput, "latency": latency, "memory": memory, "overload": overload, "hostile": hostile}[
        args.mode
    ](args)


if __name__ == "__main__":
    main()
