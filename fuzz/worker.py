"""A process that hands inputs to one target and answers what happened: `python -m fuzz.worker NAME`.

`fuzz.campaign.Worker` starts it, and kills it where an answer is late. Standard input brings inputs, each after its
length in four bytes; every answer is a line of JSON on what was standard output when the process started.
"""

import json
import os
import random
import re
import resource
import shutil
import struct
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path
from time import perf_counter

from viewvote.errors import ViewvoteError

from .target import Target, limits, load

_SHAPE = re.compile(r" is .*(?=, expected)|0x[0-9a-f]+|[-+.\d]+|'[^']*'|\"[^\"]*\"|/\S+")


@cache
def scratch() -> Path:
    """A folder of this process for the files that a target hands over; the campaign removes it."""
    return Path(os.environ["FUZZ_SCRATCH"]) if "FUZZ_SCRATCH" in os.environ else Path(tempfile.mkdtemp())


def fresh(name: str) -> Path:
    """An empty folder below `scratch()`."""
    folder = scratch() / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def outcome_of(target: Target, data: bytes) -> dict[str, str]:
    """What the input led to: an outcome alone, or with it the `finding` that names a fault and its traceback."""
    try:
        target.run(data)
    except ViewvoteError as error:
        return {"outcome": f"{type(error).__name__}: {_SHAPE.sub('_', str(error))[:200]}"}
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        name = f"{type(error).__name__} in {_place(error)}"
        if isinstance(error, AssertionError):  # of a target: the place is always the same
            name = f"AssertionError: {_SHAPE.sub('_', str(error))[:150]}"
        return {"outcome": name, "finding": name, "trace": "".join(traceback.format_exception(error)[-12:])[-4000:]}
    return {"outcome": "accepted"}


def _place(error: BaseException) -> str:
    """The innermost function of the package, or else of anything, that the error passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/viewvote/" in frame.filename] or frames
    last = ours[-1]
    return f"{Path(last.filename).parent.name}/{Path(last.filename).name}:{last.name}"


def main(name: str) -> None:
    """Answer inputs until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    printed = os.open(scratch() / "printed", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(printed, 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    target = load(name)
    outcome_of(target, target.seeds(random.Random(0))[0])  # what is loaded only once does not count as an input's
    _limit_memory(limits(target)[1])
    answers.write("ready\n")
    answers.flush()
    inputs = sys.stdin.buffer
    while header := inputs.read(4):
        data = inputs.read(struct.unpack("<I", header)[0])
        start = perf_counter()
        answer: dict[str, object] = dict(outcome_of(target, data))
        answer["seconds"] = round(perf_counter() - start, 4)
        if size := os.fstat(printed).st_size:
            answer.setdefault("finding", "something was printed on standard output")
            answer.setdefault("trace", os.pread(printed, min(size, 2000), 0).decode("utf-8", "replace"))
            os.ftruncate(printed, 0)
            os.lseek(printed, 0, os.SEEK_SET)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _limit_memory(megabytes: int) -> None:
    """Limit the address space to what is in use now and so much more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    # Under its importable name, so that targets see the same `scratch` as this.
    from fuzz.worker import main as run_worker

    run_worker(sys.argv[1])
