"""One tower of a pack: a graph that turns one view or one text into one feature vector."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ..errors import CheckpointError
from ..types import Float32
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
        batch = self.inputs[main_input].shape[:1]
        if batch not in ((None,), (1,)):
            raise CheckpointError(
                f"{path} takes batches of {batch[0]} only; expected a batch size that may vary, or 1."
            )

    @property
    def dim(self) -> int | None:
        """The length of its features, or None where the graph leaves it open."""
        shape = self._session.outputs[self.output].shape
        return shape[-1] if shape else None

    def run(self, feeds: Feeds) -> Float32:
        """The features (dim,) of one item; of `feeds`, what the graph declares is cast to its types."""
        known = {
            name: np.ascontiguousarray(array, dtype=self.inputs[name].dtype)
            for name, array in feeds.items()
            if name in self.inputs
        }
        features = self._session.run(known, output=self.output)
        if features.ndim != 2 or len(features) != 1:
            raise CheckpointError(f"{self.path} gave features of shape {features.shape}, expected (1, dim).")
        return np.asarray(features[0], dtype=np.float32)


def _names(ports: Mapping[str, Port]) -> str:
    return ", ".join(sorted(ports)) or "none"
