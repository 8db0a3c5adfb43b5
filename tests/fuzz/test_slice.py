"""A slice of every campaign: all reproducers and seeds, and the first changes of a fixed seed. Nothing may be found."""

import random
from importlib.util import find_spec

import pytest

from fuzz.killable import Worker
from fuzz.target import load, names, reproducers

CHANGES = {"commands": 100, "requests": 60, "images": 300}
MOST = 200
NEEDS = {
    "checkpoints": ["torch", "safetensors"],
    "folders": ["pyarrow"],
    "packs": ["onnx"],
    "requests": ["fastapi", "uvicorn"],
    "sources": ["pyarrow"],
    "tables": ["safetensors"],
}


@pytest.mark.parametrize("name", names())
def test_nothing_but_our_own_errors_comes_of_the_first_inputs(name):
    for module in NEEDS.get(name, []):
        if find_spec(module) is None:
            pytest.skip(f"needs {module}")
    rng, target = random.Random(0), load(name)
    pool = [*reproducers(name), *target.seeds(rng)]
    changed = [target.mutate(rng.choice(pool), rng) for _ in range(CHANGES.get(name, MOST))]
    with Worker(name) as worker:
        first = worker.ask(target.seeds(random.Random(0))[0])
        assert (first.outcome, first.finding) == ("accepted", None), first.trace
        inputs = [*pool, *changed]
        for data, verdict in zip(inputs, worker.ask_all(inputs), strict=True):
            assert verdict.finding is None, f"{verdict.finding}\n{data[:300]!r}\n{verdict.trace[-1500:]}"
