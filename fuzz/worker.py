"""A process that hands inputs to one target and answers what happened: `python -m fuzz.worker NAME`.

`fuzz.killable.Worker` starts it, and kills it where an answer is late. Standard input brings inputs, many at a time:
their number and then each after its length, in four bytes. Every answer is a line of JSON in the file `answers` as soon
as it is known. When all are there, a line with the megabytes in use and the seconds of processor time goes to what was
standard output when the process started.
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
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from time import perf_counter, process_time

from viewvote.errors import ViewvoteError

from .peak import Peak
from .target import Target, limits, load

_SHAPE = re.compile(r" is .*(?=, expected)|0x[0-9a-f]+|[-+.\d]+|'[^']*'|\"[^\"]*\"|/\S+")


@cache
def scratch() -> Path:
    """A folder of this process for the files that a target hands over; the campaign removes it."""
    return Path(os.environ["FUZZ_SCRATCH"]) if "FUZZ_SCRATCH" in os.environ else Path(tempfile.mkdtemp())


def fresh(name: str) -> Path:
    """An empty folder below `scratch()`."""
    folder = scratch() / name
    if folder.is_dir() and not folder.is_symlink():
        for path in folder.iterdir():  # the folder itself may stay: most have a file or two
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    else:
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


class Answers:
    """Asks the target, and writes what came of it."""

    def __init__(self, target: Target, printed: int, file: int) -> None:
        self._target = target
        self._printed = printed
        self._file = file
        self._kind = getattr(target, "kind", lambda _: "")
        self._peak = Peak(getattr(target, "processes", lambda: ()))
        self._budget = getattr(target, "GROWTH", None)

    def write(self, data: bytes) -> None:
        """One line about the input."""
        self._peak.start()
        start = perf_counter()
        answer: dict[str, object] = dict(outcome_of(self._target, data))
        answer["seconds"] = round(perf_counter() - start, 4)
        answer["megabytes"] = grown = round(self._peak.grown(), 1)
        answer["kind"] = self._kind(data)
        if self._budget is not None and grown > self._budget:
            answer.setdefault("finding", f"memory grew by more than {self._budget} MB")
            answer.setdefault("trace", f"{grown} MB")
        if size := os.fstat(self._printed).st_size:
            answer.setdefault("finding", "something was printed on standard output")
            answer.setdefault("trace", os.pread(self._printed, min(size, 2000), 0).decode("utf-8", "replace"))
            os.ftruncate(self._printed, 0)
            os.lseek(self._printed, 0, os.SEEK_SET)
        os.write(self._file, json.dumps(answer).encode() + b"\n")


def main(name: str) -> None:
    """Answer inputs until standard input ends."""
    done = os.fdopen(os.dup(1), "w")
    printed = os.open(scratch() / "printed", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(printed, 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    target = load(name)
    outcome_of(target, target.seeds(random.Random(0))[0])  # what is loaded only once does not count as an input's
    answers = Answers(target, printed, os.open(scratch() / "answers", os.O_WRONLY | os.O_CREAT | os.O_APPEND))
    threads = getattr(target, "THREADS", 1)
    others = getattr(target, "processes", lambda: ())
    _limit_memory(limits(target)[1])
    print("ready", file=done, flush=True)
    inputs = sys.stdin.buffer
    while header := inputs.read(4):
        some = [inputs.read(struct.unpack("<I", inputs.read(4))[0]) for _ in range(struct.unpack("<I", header)[0])]
        if threads == 1:
            for data in some:
                answers.write(data)
        else:  # each waits for most of its time
            with ThreadPoolExecutor(threads) as pool:
                lines = list(pool.map(lambda data: outcome_of(target, data), some))
            for line in lines:
                os.write(answers._file, json.dumps({"seconds": 0.0, **line}).encode() + b"\n")
        print(resident(), process_time() + sum(map(processor_time, others())), file=done, flush=True)


def resident() -> float:
    """Megabytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def processor_time(pid: int) -> float:
    """Seconds that another process had; 0 where it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
