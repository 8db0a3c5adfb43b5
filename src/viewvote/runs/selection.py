"""Which samples a run takes, and in which order: a dataset of its own, with the views of the whole one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..datasets import Dataset, Item
from ..rng import sample_rng


@dataclass(frozen=True)
class Selection:
    """The samples of one run, in the run's order. The same every time, and in every process.

    limit     so many samples, evenly spaced over the dataset's order: the first ones would be of a few classes only
    shuffled  by (seed, dataset, key), so two samples keep their order whatever else is in the dataset
    """

    dataset: Dataset
    limit: int | None = None
    shuffled: bool = False
    seed: int = 0

    def __len__(self) -> int:
        return len(self.dataset) if self.limit is None else min(self.limit, len(self.dataset))

    @property
    def is_subset(self) -> bool:
        """Whether samples were left out."""
        return len(self) < len(self.dataset)

    @property
    def keys(self) -> Iterator[str]:
        """The samples' keys; nothing is read."""
        return (self.dataset.keys[i] for i in self._indices)

    def items(self, stretch: range) -> Iterator[Item]:
        """The samples at these positions of the run."""
        return (self.dataset[self._indices[position]] for position in stretch)

    @cached_property
    def _indices(self) -> Sequence[int]:
        """Where the samples are in the dataset."""
        total, wanted = len(self.dataset), len(self)
        chosen = range(total) if wanted == total else [i * total // wanted for i in range(wanted)]
        return sorted(chosen, key=self._draw) if self.shuffled else chosen

    def _draw(self, index: int) -> tuple[float, int]:
        rng = sample_rng(seed=self.seed, dataset=self.dataset.name, key=self.dataset.keys[index], stream="order")
        return float(rng.uniform(1)[0]), index
