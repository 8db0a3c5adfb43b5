"""What the service holds under load: throughput against predict_many, latencies, memory, overload, hostile requests.

    python -m benchmarks.serve_load [throughput latency memory overload] [--data PHOTOGRAPHS] [--write]
    python -m benchmarks.serve_load hostile --data DAMAGED [--services 7] [--write]

Every mode starts `viewvote serve` as a process of its own on a free port and ends it. Clients are asyncio connections
that are kept open, each asking again as soon as it has its answer; photographs differ and no features are kept, so
nothing is answered from memory. What a mode found is recorded; hostile requests are recorded by the service they were
sent to, and have a table of their own.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count, islice
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any
from urllib.parse import quote

from benchmarks.kept import Kept, add_records
from benchmarks.machine import measured_on
from benchmarks.sections import add_write, section
from benchmarks.serve_client import LABELS, Tally, load, photographs, request_of, service
from benchmarks.serve_table import hostile_table, table
from viewvote import Classifier

ADAPTIVE = ("--labels", ",".join(LABELS), "--views", "adaptive", "--feature-cache", "0")
CLIENTS = (16, 64)
QUEUE = 32
SHARES = (0.5, 0.9, 0.99)

Found = dict[str, Any]


def throughput(args: argparse.Namespace) -> Found:
    """Images per second of clients and of predict_many, taken in turns, and processor milliseconds of an image."""
    photos = photographs(args.data, args.images)
    clf = Classifier("pocket", labels=LABELS, n_views="adaptive")
    turns = []
    with service(*ADAPTIVE, real_time=args.real_time) as served:
        for clients in CLIENTS * args.turns:
            sleep(args.pause)
            start, used = perf_counter(), process_time()
            assert sum(1 for _ in clf.predict_many(photos)) == len(photos)
            ceiling, own = len(photos) / (perf_counter() - start), process_time() - used
            requests = iter([request_of(photo) for photo in photos])
            sleep(args.pause)
            start, used, theirs = perf_counter(), process_time(), served.cpu_seconds
            tally = asyncio.run(load(served.port, requests, clients=clients))
            rate = tally.statuses[200] / (perf_counter() - start)
            spent = {"predict_many": own, "service": served.cpu_seconds - theirs, "clients": process_time() - used}
            row: Found = {"clients": clients, "rate": rate, "predict_many": ceiling}
            turns.append(row | {"cpu_ms": {what: 1000 * cpu / len(photos) for what, cpu in spent.items()}})
    return {"ready": served.ready_seconds, "exit": served.process.returncode, "n": len(photos), "turns": turns}


def latency(args: argparse.Namespace) -> Found:
    """Seconds of a single client and of four, in turns: median and 99th percentile.

    Photographs differ in the views that they need. So beside the quantiles stands how many times longer than alone the
    same photograph takes among four clients; alone is its median over the turns of the single client. At last each of a
    few photographs is asked again and again, as a load tool does, by one client and by four.
    """
    photos = photographs(args.data, args.images)
    one, four, again = Tally(), Tally(), Tally()
    with service(*ADAPTIVE, real_time=args.real_time) as served:
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
    tallies = {"1": one, "4": four, "same": four.slower_than(one), "again": again}
    return {"ready": served.ready_seconds, "exit": served.process.returncode} | {
        name: {"n": len(tally.seconds)} | {f"{share:.0%}": tally.quantile(share) for share in SHARES}
        for name, tally in tallies.items()
    }


def memory(args: argparse.Namespace) -> Found:
    """Resident memory of the service at each tenth of many requests."""
    photos = photographs(None, 400, side=160)
    resident, statuses = [], Counter[int]()
    with service("--labels", ",".join(LABELS), "--views", str(args.views)) as served:
        numbers = iter(range(args.requests))
        for tenth in range(1, 11):
            some = (
                request_of(photos[i % 400], f"?seed={i}&top=1&labels={quote(LABELS[i % 10])},thing{i % 1000}")
                for i in islice(numbers, args.requests // 10)
            )
            statuses += asyncio.run(load(served.port, some, clients=8)).statuses
            resident.append([tenth * (args.requests // 10), served.resident_mb])
    ended = {"ready": served.ready_seconds, "exit": served.process.returncode}
    return ended | {"resident_mb": resident, "statuses": statuses}


def overload(args: argparse.Namespace) -> Found:
    """Ten times as many clients as the queue holds: the accepted are answered, the rest refused, then all is well."""
    photos = photographs(args.data, args.images)
    with service(*ADAPTIVE, "--max-queue", str(QUEUE)) as served:
        endless = (request_of(photos[i % len(photos)]) for i in count())
        tally = asyncio.run(load(served.port, endless, clients=10 * QUEUE, seconds=args.seconds))
        sleep(1)
        after = asyncio.run(load(served.port, iter([request_of(photo) for photo in photos[:50]]), clients=4))
    row = {"clients": 10 * QUEUE, "queue": QUEUE, "seconds": args.seconds, "statuses": tally.statuses}
    row |= {"broken": tally.broken, "after": after.statuses, "after_broken": after.broken}
    return row | {"ready": served.ready_seconds, "exit": served.process.returncode}


def hostile(args: argparse.Namespace, seed: int) -> Found:
    """Damaged images, bodies, headers and clients, and requests made from the contract (serve_hostile.py)."""
    from benchmarks.serve_contract import contract_campaign
    from benchmarks.serve_hostile import campaign

    made = args.hostile // 10
    arguments = ["--labels", ",".join(LABELS), "--views", "4", "--timeout", "20", "--max-bytes", "3000000"]
    with service(*arguments) as served:
        statuses, dawdled = asyncio.run(campaign(served.port, args.hostile - made, seed=seed, folder=args.data))
        contract, against = contract_campaign(served.port, made, seed=seed)
        alive, held = served.process.poll() is None, served.resident_mb
        good = asyncio.run(load(served.port, iter([request_of(photo) for photo in photographs(None, 8)]), clients=1))
    row = {"statuses": statuses, "dawdlers": dawdled, "contract": contract, "against_contract": against}
    return row | {"alive": alive, "resident_mb": held, "after": good.statuses, "exit": served.process.returncode}


MODES: dict[str, Callable[[argparse.Namespace], Found]] = {
    "throughput": throughput,
    "latency": latency,
    "memory": memory,
    "overload": overload,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modes", nargs="*", metavar="MODE", help=f"of {', '.join(MODES)}, hostile; all but hostile")
    parser.add_argument("--data", type=Path, help="a folder of photographs, or of damaged files for hostile")
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--requests", type=int, default=20_000, help="of memory")
    parser.add_argument("--views", type=int, default=2, help="of memory")
    parser.add_argument("--seconds", type=float, default=20.0, help="of overload")
    parser.add_argument("--hostile", type=int, default=5_000, help="hostile requests to each service")
    parser.add_argument("--services", type=int, default=7, help="sent hostile requests, each from another seed")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds before each turn")
    parser.add_argument("--real-time", action="store_true", help="throughput and latency go before other jobs")
    add_records(parser, "serve-load")
    add_write(parser)
    args = parser.parse_args()
    if unknown := set(args.modes) - {*MODES, "hostile"}:
        parser.error(f"no mode {', '.join(sorted(unknown))}; expected {', '.join(MODES)} or hostile.")
    usual = [mode for mode in args.modes if mode != "hostile"] if args.modes else list(MODES)
    settings = {name: getattr(args, name) for name in ("images", "turns", "requests", "views", "seconds")}
    if usual:
        place = section("benchmarks.serve_load", write=args.write)
        kept = Kept(args.records, settings, anew=args.anew)
        found = {mode: kept.unit([mode], partial(noted, mode, partial(MODES[mode], args))) for mode in usual}
        place.show([f"{measured_on(kept)}.", "", *table(found)])
    if "hostile" in args.modes:
        place = section("benchmarks.serve_load", "hostile", write=args.write)
        records = args.records.with_name(f"{args.records.stem}-hostile.jsonl")
        kept = Kept(records, {"requests": args.hostile}, anew=args.anew)
        sent = [kept.unit([seed], partial(hostile, args, seed)) for seed in range(args.services)]
        place.show([f"{measured_on(kept)}.", "", *hostile_table(sent)])


def noted(mode: str, work: Callable[[], Found]) -> Found:
    """What a mode found, also printed as it comes."""
    found = work()
    print(json.dumps({mode: found}), file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    main()
