"""App. A: how often minimising the entropy of p-bar leaves its argmax as it was, over all samples and by entropy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.accuracy import over_seeds, pooled
from ..pictures.plots import legend_above
from ..rates import rate_of
from ..records.detail import read_details
from ..registry import unknown_name
from ..runs.read import Run
from .base import COUNTS, NAMES, Column, Finding, Group, Options, groups

Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
DECILES = 10


@dataclass(frozen=True)
class Step:
    """What tuning did to p-bar of one image: same argmax, a larger probability of it, and the entropy before."""

    same: bool
    rose: bool
    entropy: float


def step_of(before: NDArray[np.floating], after: NDArray[np.floating]) -> Step:
    """The step from p-bar (classes,) before tuning to the one after.

    Proposition 2.1 asks that p-bar(c) exceeds the mean of delta g, which is p-bar(c) before minus p-bar(c) after: the
    condition is that p-bar(c) after is above 0. `rose` is the hypothesis it was drawn from (Sec. 2.2).
    """
    first, last = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    best = int(first.argmax())
    some = first[first > 0]
    return Step(int(last.argmax()) == best, bool(last[best] > first[best]), float(-(some * np.log(some)).sum()))


def by_entropy(entropy: Float64, same: Bool, *, bins: int = DECILES) -> list[Bool]:
    """`same` in `bins` parts of nearly equal size, from the images with the most entropy to those with the least."""
    order = np.argsort(-entropy, kind="stable")
    return [same[part] for part in np.array_split(order, bins)]


PUBLISHED = {
    "imagenet": (95.73, 0.05),
    "imagenet-a": (95.55, 0.12),
    "imagenet-v2": (94.86, 0.17),
    "imagenet-r": (96.78, 0.08),
    "imagenet-sketch": (91.23, 0.09),
}
"""The paper's table of invariance in percent with its deviation over three seeds, for CLIP-ViT-B-16."""

COLUMNS = (
    *NAMES,
    Column("same", "argmax unchanged", "percent", "low", "high", "std"),
    Column("rose", "its probability rose", "percent"),
    Column("published", "paper (CLIP-ViT-B-16)"),
    *COUNTS,
)
BY_ENTROPY = (
    *NAMES,
    Column("bin", "bin"),
    Column("entropy", "mean entropy", "number"),
    Column("same", "argmax unchanged", "percent", "low", "high", "std"),
    *COUNTS,
)


def study(runs: Sequence[Run], options: Options) -> Finding:
    """The share of images whose argmax of p-bar tuning leaves alone; by="entropy": in bins of entropy before."""
    if options.by not in (None, "entropy"):
        raise unknown_name("--by", str(options.by), ["entropy"])
    found = [(group, [_of_run(run) for run in group.runs]) for group in groups(_recorded(runs))]
    bins = options.bins or DECILES
    binned = tuple(row for group, seeds in found for row in _entropy_rows(group, seeds, bins))
    return Finding(
        name="invariance",
        title="How often tuning leaves the argmax of p-bar as it was",
        columns=BY_ENTROPY if options.by else COLUMNS,
        rows=binned if options.by else tuple(_row(group, seeds) for group, seeds in found),
        notes=(
            "In % of images with Wilson's 95% interval; +- is the deviation over seeds. p-bar is over the kept views, "
            "before and after tuning (App. A).",
            "Proposition 2.1's condition, p-bar(c) above the mean of delta g, is that p-bar(c) after tuning is above "
            "0: it always holds. `rose` is the hypothesis of Sec. 2.2, that the probability of the argmax grows.",
        ),
        draw=lambda figure: _draw(figure, binned, bins),
        size=(5.2, 3.2),
    )


def _recorded(runs: Sequence[Run]) -> list[Run]:
    """Those that recorded p-bar around tuning, where some did."""
    return [run for run in runs if run.n and run.spec.settings.get("record_marginal")] or list(runs)


def _of_run(run: Run) -> list[Step]:
    return [
        step_of(one.arrays["before"], one.arrays["after"]) for one in read_details(run.records, ["before", "after"])
    ]


def _shares(parts: Sequence[Bool]) -> dict[str, Any]:
    """The share of True over seeds; the interval is as wide as that of one seed's images."""
    rate = pooled([rate_of(part, np.ones(len(part), dtype=np.bool_)) for part in parts])
    seeds = over_seeds([float(part.mean()) for part in parts])
    return {"same": seeds.mean, "low": rate.low, "high": rate.high, "std": seeds.std, "n": rate.n, "seeds": seeds.seeds}


def _row(group: Group, seeds: Sequence[Sequence[Step]]) -> dict[str, Any]:
    published = PUBLISHED.get(group.names["dataset"])
    return {
        **group.names,
        **_shares([np.array([step.same for step in steps]) for steps in seeds]),
        "rose": float(np.mean([step.rose for steps in seeds for step in steps])),
        "published": None if published is None else f"{published[0]:.2f} ±{published[1]:.2f}",
    }


def _entropy_rows(group: Group, seeds: Sequence[Sequence[Step]], bins: int) -> list[dict[str, Any]]:
    parts, means = [], []
    for steps in seeds:
        entropy = np.array([step.entropy for step in steps])
        parts.append(by_entropy(entropy, np.array([step.same for step in steps]), bins=bins))
        means.append([float(part.mean()) for part in np.array_split(np.sort(entropy)[::-1], bins) if len(part)])
    return [
        {
            **group.names,
            "bin": f"{i + 1} of {bins}",
            "entropy": float(np.mean([one[i] for one in means])),
            **_shares([one[i] for one in parts]),
        }
        for i in range(min(bins, *(len(one) for one in means)))
    ]


def _draw(figure: Any, rows: Sequence[Mapping[str, Any]], bins: int) -> None:
    """The histogram of App. A: most uncertain images left, least right."""
    axis = figure.subplots()
    names = list(dict.fromkeys((row["dataset"], row["model"], row["method"]) for row in rows))
    width = 0.9 / len(names)
    for i, name in enumerate(names):
        shown = [row for row in rows if (row["dataset"], row["model"], row["method"]) == name]
        at = np.arange(len(shown)) + (i - (len(names) - 1) / 2) * width
        values = np.array([row["same"] for row in shown])
        ends = np.array([[row["low"], row["high"]] for row in shown])
        spread = np.abs(ends - values[:, None]).T
        axis.bar(at, values, width, color=f"C{i}", label=name[0], yerr=spread, error_kw={"linewidth": 0.8})
    axis.set_xticks(range(bins), [str(i + 1) for i in range(bins)])
    axis.set(
        xlabel=f"{bins} bins of images, most to least entropy of p-bar before", ylabel="argmax unchanged", ylim=(0, 1)
    )
    legend_above(axis)
