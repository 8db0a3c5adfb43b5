"""App. H: are views independent voters? Agreement and error correlation of pairs of views against their overlap."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.resample import RESAMPLES, resampled
from ..pictures.plots import faint
from ..records.detail import Detailed, read_details
from ..runs.read import Run
from .base import COUNTS, NAMES, Column, Finding, Group, Options, groups, of_views

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


def overlaps(boxes: NDArray[np.floating]) -> Float64:
    """Intersection over union (views, views) of boxes (views, 4), each left, top, right, bottom."""
    b = np.asarray(boxes, dtype=np.float64)
    width = np.minimum(b[:, None, 2], b[None, :, 2]) - np.maximum(b[:, None, 0], b[None, :, 0])
    height = np.minimum(b[:, None, 3], b[None, :, 3]) - np.maximum(b[:, None, 1], b[None, :, 1])
    common = np.maximum(width, 0) * np.maximum(height, 0)
    area = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return np.asarray(common / (area[:, None] + area[None, :] - common))


@dataclass(frozen=True)
class PairCounts:
    """Counts of unordered pairs of views in each bin of overlap; add those of images up for those of a dataset."""

    pairs: Float64  # (bins,)
    agree: Float64
    both_wrong: Float64
    one_wrong: Float64
    overlap: Float64  # summed

    @property
    def stacked(self) -> Float64:
        """The counts as rows (5, bins)."""
        return np.stack([self.pairs, self.agree, self.both_wrong, self.one_wrong, self.overlap])


def pair_counts(labels: Int64, target: int, boxes: NDArray[np.floating], *, bins: int) -> PairCounts:
    """The pairs of one image's views (views,) by overlap; bins are equally wide from 0 to 1."""
    first, second = np.triu_indices(len(labels), k=1)
    overlap = overlaps(boxes)[first, second]
    which = np.minimum((overlap * bins).astype(np.int64), bins - 1)
    wrong = labels != target

    def count(weights: NDArray[np.generic]) -> Float64:
        return np.asarray(np.bincount(which, weights=weights.astype(np.float64), minlength=bins), dtype=np.float64)

    return PairCounts(
        pairs=count(np.ones(len(which))),
        agree=count(labels[first] == labels[second]),
        both_wrong=count(wrong[first] & wrong[second]),
        one_wrong=count(wrong[first] ^ wrong[second]),
        overlap=count(overlap),
    )


def error_correlation(pairs: Float64, both_wrong: Float64, one_wrong: Float64) -> Float64:
    """Pearson's correlation of "is wrong" over pairs, each counted in both orders; NaN where all or none are wrong.

    With e = (both + one / 2) / pairs the error rate of a member of a pair: (both / pairs - e^2) / (e - e^2).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        both = both_wrong / pairs
        error = both + one_wrong / pairs / 2
        spread = error - error**2
        return np.asarray(np.where(spread > 1e-12, (both - error**2) / spread, np.nan))


def effective_voters(voters: int, correlation: float) -> float:
    """How many independent voters have the same variance of their mean: N / (1 + (N - 1) rho)."""
    return voters / (1 + (voters - 1) * max(correlation, 0.0))


OVERLAP_BINS = 10
COLUMNS = (
    *NAMES,
    Column("overlap", "overlap"),
    Column("mean_overlap", "mean overlap", "number"),
    Column("agreement", "agreement", "percent", "agreement_low", "agreement_high"),
    Column("correlation", "error correlation", "number", "correlation_low", "correlation_high"),
    Column("pairs", "pairs", "count"),
    *COUNTS,
)


def study(runs: Sequence[Run], options: Options) -> Finding:
    """Agreement and error correlation of pairs of views in bins of overlap, and over all pairs."""
    bins = options.bins or OVERLAP_BINS
    rows, notes = [], []
    for group in groups(of_views(runs, detail=True)):
        found = _rows(group, bins, options.seed)
        rows += found
        rho, kept = found[-1]["correlation"], found[-1]["kept"]
        worth = effective_voters(kept, rho) if not np.isnan(rho) else float("nan")
        notes.append(
            f"{group.names['dataset']}, {group.names['model']}: errors of two views correlate by {rho:.2f}, so that "
            f"{kept} kept views would be worth {worth:.1f} independent voters, N / (1 + (N - 1) rho)."
        )
    return Finding(
        name="independence",
        title="Dependence among views against their overlap",
        columns=COLUMNS,
        rows=tuple(rows),
        notes=(
            "All pairs of an image's views; overlap is intersection over union of their boxes. Intervals: 95%, images "
            f"drawn again {RESAMPLES} times. Independent errors (Sec. 2.3) would have correlation 0 in every row.",
            *notes,
        ),
        draw=lambda figure: _draw(figure, [row for row in rows if row["overlap"] != "all"]),
        size=(7.2, 3.2),
    )


def _rows(group: Group, bins: int, seed: int) -> list[dict[str, Any]]:
    samples = [one for run in group.runs for one in read_details(run.records, ["boxes"])]
    counts = np.stack([_counts(one, bins) for one in samples])  # (images, 5, bins)
    counts = np.concatenate([counts, counts.sum(axis=2, keepdims=True)], axis=2)  # and all pairs
    total = counts.sum(axis=0)
    draws = resampled(counts, rng=np.random.default_rng(seed))
    agreement, correlation = _measures(total)
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a bin may be empty in every draw
        ends = [np.nanquantile(each, [0.025, 0.975], axis=0) for each in _measures(np.moveaxis(draws, 0, 1))]
    names = [f"{i / bins:.2f} to {(i + 1) / bins:.2f}" for i in range(bins)] + ["all"]
    return [
        {
            **group.names,
            "overlap": name,
            "mean_overlap": float(total[4, i] / total[0, i]),
            "agreement": float(agreement[i]),
            "agreement_low": float(ends[0][0][i]),
            "agreement_high": float(ends[0][1][i]),
            "correlation": float(correlation[i]),
            "correlation_low": float(ends[1][0][i]),
            "correlation_high": float(ends[1][1][i]),
            "pairs": int(total[0, i]),
            "kept": len(samples[0].kept),
            "n": len(samples) // len(group.runs),
            "seeds": len(group.runs),
        }
        for i, name in enumerate(names)
        if total[0, i]
    ]


def _counts(one: Detailed, bins: int) -> Float64:
    return pair_counts(np.array(one.labels), one.target, one.arrays["boxes"].reshape(-1, 4), bins=bins).stacked


def _measures(sums: Float64) -> tuple[Float64, Float64]:
    """Agreement and error correlation from sums (5, ...)."""
    with np.errstate(invalid="ignore"):
        return sums[1] / sums[0], error_correlation(sums[0], sums[2], sums[3])


def _draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Agreement and error correlation over overlap, with intervals."""
    names = list(dict.fromkeys((row["dataset"], row["model"]) for row in rows))
    for axis, what in zip(figure.subplots(1, 2), ("agreement", "correlation"), strict=True):
        for i, name in enumerate(names):
            shown = [row for row in rows if (row["dataset"], row["model"]) == name]
            x = [row["mean_overlap"] for row in shown]
            colour = f"C{i}"
            axis.plot(x, [row[what] for row in shown], "o-", color=colour, markersize=3, label=name[0])
            ends = [[row[f"{what}_{end}"] for row in shown] for end in ("low", "high")]
            axis.fill_between(x, *ends, color=colour, alpha=0.2, linewidth=0)
        axis.set(xlabel="overlap of two views (IoU)", xlim=(0, 1))
        axis.set_ylabel({"agreement": "share that agree", "correlation": "error correlation"}[what])
        axis.axhline(0, color=faint(), linewidth=0.6)
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
