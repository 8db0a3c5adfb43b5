"""`python -m fuzz`: the campaigns of all targets or some; exits with 1 where anything but our own errors was seen."""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import target
from .campaign import run_campaign
from .killable import Worker


def main() -> int:
    """Run what the command line asks; returns the exit code."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets together (default: 10)")
    parser.add_argument("--target", default=",".join(target.names()), metavar="NAME,...", help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="targets attacked at once (default: 1)")
    parser.add_argument("--seed", type=int, metavar="N", help="of the changes (default: the ledger's next one)")
    parser.add_argument("--inputs", type=int, metavar="N", help="of each target, at most (default: until time is up)")
    parser.add_argument("--input", type=Path, metavar="FILE", help="only show what this input leads to")
    args = parser.parse_args()
    names = args.target.split(",")
    if unknown := set(names) - set(target.names()):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(target.names())}")
    if args.input is not None:
        return _show(names, args.input.read_bytes())
    each = args.minutes * 60 * args.jobs / len(names)
    found = False
    with ThreadPoolExecutor(args.jobs) as pool:
        for report in pool.map(lambda name: run_campaign(name, seconds=each, seed=args.seed, most=args.inputs), names):
            print(json.dumps(report.to_dict()), flush=True)
            found |= bool(report.findings)
    return 1 if found else 0


def _show(names: list[str], data: bytes) -> int:
    """Print what one input leads to in each target."""
    bad = False
    for name in names:
        with Worker(name) as worker:
            verdict = worker.ask(data)
        print(
            f"{name}: {verdict.finding or verdict.outcome} "
            f"({verdict.seconds:.2f} s, {verdict.megabytes:.0f} MB)\n{verdict.trace}"
        )
        bad |= verdict.finding is not None
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
