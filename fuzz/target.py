"""What a target is: a module of `fuzz.targets` with seeds, a mutator, and the call that must survive."""

import pkgutil
import random
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from . import targets

REPRODUCERS = Path(__file__).parent / "reproducers"
"""Inputs that once broke something, a folder per target; campaigns and the tests' slice start with them."""

SECONDS = 10.0
MEGABYTES = 1024


class Target(Protocol):
    """A module `fuzz/targets/NAME.py`. It has no state that one input could leave to the next.

    Where the defaults of this module do not fit, it may set SECONDS, the deadline of one input, and MEGABYTES, what its
    worker may take beyond what it had after the first seed. Further ones are optional: GROWTH, the megabytes that one
    input may take; THREADS, where inputs wait more than they work; `kind(data)`, under which an input is counted;
    `processes()`, others whose memory counts. `scratch()` in `fuzz.worker` is a folder for files.
    """

    def seeds(self, rng: random.Random) -> list[bytes]:
        """Good inputs and known bad ones, made by code; the first is small and accepted."""
        ...

    def mutate(self, data: bytes, rng: random.Random) -> bytes:
        """A changed input; a pure function of the data and the random numbers."""
        ...

    def run(self, data: bytes) -> None:
        """Hand the input to viewvote.

        It may return, or raise a `viewvote.errors.ViewvoteError`: anything else, a hang, a death of the process, memory
        over the limit or a byte on standard output is a finding. AssertionError reports a promise of the target's own.
        """
        ...


def names() -> list[str]:
    """The targets there are."""
    return sorted(module.name for module in pkgutil.iter_modules(targets.__path__))


def load(name: str) -> Target:
    """The target of a name."""
    return cast("Target", import_module(f"fuzz.targets.{name}"))


def limits(target: Target) -> tuple[float, int]:
    """The seconds and megabytes that an input of the target may take."""
    return getattr(target, "SECONDS", SECONDS), getattr(target, "MEGABYTES", MEGABYTES)


def reproducers(name: str) -> list[bytes]:
    """The target's committed inputs, in order of their names."""
    folder = REPRODUCERS / name
    return [path.read_bytes() for path in sorted(folder.iterdir())] if folder.is_dir() else []
