"""One tower of a pack: a graph that turns views or texts into features."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np

from ...arrays import Float32
from ...errors import CheckpointError
from .runtimes import Feeds, Port, open_session


class Tower:
    """A graph whose input `main_input` and whose output (the first of `outputs` it has) were found to be there."""

    def __init__(self, path: Path, *, main_input: str, outputs: Sequence[str], runtime: str, workers: int) -> None:
        self.path = path
        self._session = open_session(path, runtime=runtime, workers=workers)
        self.inputs = self._session.inputs
        if main_input not in self.inputs:
            raise CheckpointError(f"{path} has inputs {_names(self.inputs)}, expected {main_input}.")
        found = [name for name in outputs if name in self._session.outputs]
        if not found:
            raise CheckpointError(
                f"{path} has outputs {_names(self._session.outputs)}, expected {' or '.join(outputs)}."
            )
        self.output = found[0]
        shape = self.inputs[main_input].shape
        self.fixed_batch = shape[0] if shape else None
        if self.fixed_batch not in (None, 1):
            raise CheckpointError(f"{path} takes batches of {self.fixed_batch} only; expected 1, or any size.")

    @property
    def dim(self) -> int | None:
        """The length of its features, or None where the graph leaves it open."""
        shape = self._session.outputs[self.output].shape
        return shape[-1] if shape else None

    @cached_property
    def has_dynamic_ranges(self) -> bool:
        """Whether int8 ranges are measured while running, over the whole batch: then items must run alone."""
        with self.path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as graph:
            return graph.find(b"DynamicQuantizeLinear") >= 0

    def run(self, feeds: Feeds) -> Float32:
        """The features (items, dim) of the items in `feeds`, of which what the graph declares is cast to its types."""
        known = {
            name: np.ascontiguousarray(array, dtype=self.inputs[name].dtype)
            for name, array in feeds.items()
            if name in self.inputs
        }
        features = self._session.run(known, output=self.output)
        items = len(next(iter(known.values())))
        if features.ndim != 2 or len(features) != items:
            raise CheckpointError(f"{self.path} gave features of shape {features.shape}, expected ({items}, dim).")
        return np.asarray(features, dtype=np.float32)


def _names(ports: Mapping[str, Port]) -> str:
    return ", ".join(sorted(ports)) or "none"
