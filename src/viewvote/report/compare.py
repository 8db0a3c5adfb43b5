"""Whether the difference of two runs is real: on the same images, in numbers and in words."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import UsageError
from ..metrics.paired import Difference, McNemar, mcnemar, paired_bootstrap
from ..rates import Rate, rate_of
from ..runs.read import Run

LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """Two runs over the images that both have an answer to; `left_out` more are in only one, or unusable in one."""

    first: str
    second: str
    dataset: str
    first_rate: Rate
    second_rate: Rate
    difference: Difference
    test: McNemar
    left_out: int

    @property
    def real(self) -> bool:
        """Whether McNemar's mid-p is below 5%."""
        return self.test.mid_p < LEVEL

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON-ready values."""
        return asdict(self) | {"real": self.real}

    def __str__(self) -> str:
        d, test = self.difference, self.test
        others = f" ({self.left_out} others are in one run only or unusable, and left out)" if self.left_out else ""
        lines = [
            f"{self.dataset}, {d.n} images that both runs answered{others}.",
            f"{self.first}: {self.first_rate}",
            f"{self.second}: {self.second_rate}",
            f"The second minus the first: {100 * d.value:+.2f} points [{100 * d.low:+.2f}, {100 * d.high:+.2f}] "
            "(95%, paired bootstrap).",
        ]
        lines.append(
            f"{test.only_first} images are right only in the first, {test.only_second} only in the second: "
            f"McNemar's mid-p = {test.mid_p:.2g} (exact p = {test.exact:.2g})."
        )
        lines.append(
            "The difference is real: chance alone would rarely make one so large (p < 0.05)."
            if self.real
            else "The difference may be chance (p >= 0.05): at this n it cannot be told from none."
        )
        return "\n".join(lines)


def compare(first: Run, second: Run, *, seed: int = 0) -> Comparison:
    """The comparison of two runs on their common images; runs on different data raise UsageError."""
    prints = first.spec.fingerprint, second.spec.fingerprint
    if first.dataset != second.dataset or (all(prints) and prints[0] != prints[1]):
        raise UsageError(
            f"{first.path} ({first.dataset}) and {second.path} ({second.dataset}) are not over the same dataset; "
            "only answers to the same images can be compared."
        )
    one, two = first.columns(), second.columns()
    where = {key: i for i, key in enumerate(two.keys)}
    pairs = np.array([(i, where[key]) for i, key in enumerate(one.keys) if key in where], dtype=np.int64).reshape(-1, 2)
    a, b = one.take(pairs[:, 0]), two.take(pairs[:, 1])
    if not (a.target == b.target).all():
        raise UsageError(f"{first.path} and {second.path} give the same images different labels; one of them is wrong.")
    both = a.usable & b.usable
    if not both.any():
        raise UsageError(f"{first.path} and {second.path} have no image in common that both answered.")
    right, right_too = a.correct[both], b.correct[both]
    everything = np.ones(len(right), dtype=np.bool_)
    names = _names(first, second)
    return Comparison(
        *names,
        dataset=first.dataset,
        first_rate=rate_of(right, everything),
        second_rate=rate_of(right_too, everything),
        difference=paired_bootstrap(
            right_too.astype(np.float64) - right.astype(np.float64), rng=np.random.default_rng(seed)
        ),
        test=mcnemar(right, right_too),
        left_out=len(set(one.keys) | set(two.keys)) - int(both.sum()),
    )


def _names(first: Run, second: Run) -> tuple[str, str]:
    """What to call them: as little as distinguishes them."""
    for name in (lambda r: r.title, lambda r: f"{r.title}, {r.model}", lambda r: f"{r.title}, seed {r.seed}"):
        if name(first) != name(second):
            return name(first), name(second)
    return str(first.path), str(second.path)
