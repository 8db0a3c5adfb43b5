"""Fig. 1a: does p-bar over the images of a class err less often than the model does on them? With Condorcet's curve."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.means import Mean, mean_of, share_of
from ..pictures.plots import bars_side_by_side, legend_above
from ..rates import wilson_interval
from ..records.detail import read_details
from ..registry import unknown_name
from ..report.classes import class_names
from ..runs.read import Run
from .base import COUNTS, NAMES, Column, Finding, Group, Options, groups, of_views

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


def wrong_votes(error: float, voters: int, wrong: int) -> float:
    """The probability that exactly `wrong` of `voters` independent voters err (the paper's eq:majErr).

    P(k) = C(N, k) e^k (1 - e)^(N - k), from logarithms, so that it is finite for any N.
    """
    if error in (0.0, 1.0):
        return float(wrong == voters * error)
    choose = lgamma(voters + 1) - lgamma(wrong + 1) - lgamma(voters - wrong + 1)
    return exp(choose + wrong * log(error) + (voters - wrong) * log(1 - error))


def majority_error(error: float, voters: int) -> float:
    """The probability that a majority of `voters` independent voters errs (the paper's eq:cumMajErr).

    The sum of `wrong_votes` from floor(N / 2 + 1) on, so half of an even number of voters is no majority.
    """
    return min(1.0, sum(wrong_votes(error, voters, wrong) for wrong in range(voters // 2 + 1, voters + 1)))


def condorcet_curve(error: float, voters: Sequence[int]) -> Float64:
    """`majority_error` for each number of voters: falls towards 0 where error < 1/2 (Condorcet's jury theorem)."""
    return np.array([majority_error(error, each) for each in voters])


@dataclass(frozen=True)
class ClassErrors:
    """Per class that has images: its label, how many, the model's error on them, and whether p-bar over them errs."""

    label: Int64
    images: Int64
    expected: Float64
    marginal: Float64  # 0 or 1
    answer: Int64  # of p-bar

    @property
    def majority(self) -> Float64:
        """What eq:cumMajErr gives for as many independent images with the class's expected error."""
        return np.array([majority_error(e, n) for e, n in zip(self.expected, self.images.tolist(), strict=True)])


def class_errors(probabilities: Iterable[NDArray[np.floating]], targets: Iterable[int]) -> ClassErrors:
    """The errors of each class from one distribution (classes,) per image, of its source view.

    p-bar of a class is the mean of its images' distributions; it errs where its argmax is another class.
    """
    sums: dict[int, Float64] = {}
    counts: dict[int, list[int]] = {}
    for row, target in zip(probabilities, targets, strict=True):
        values = np.asarray(row, dtype=np.float64)
        sums[target] = sums[target] + values if target in sums else values
        of_class = counts.setdefault(target, [0, 0])
        of_class[0] += 1
        of_class[1] += int(values.argmax()) != target
    labels = sorted(sums)
    return ClassErrors(
        label=np.array(labels, dtype=np.int64),
        images=np.array([counts[c][0] for c in labels], dtype=np.int64),
        expected=np.array([counts[c][1] / counts[c][0] for c in labels]),
        marginal=np.array([float(sums[c].argmax() != c) for c in labels]),
        answer=np.array([sums[c].argmax() for c in labels], dtype=np.int64),
    )


COLUMNS = (
    *NAMES,
    Column("expected", "expected error", "percent", "expected_low", "expected_high"),
    Column("marginal", "error of p-bar", "percent", "marginal_low", "marginal_high"),
    Column("difference", "difference", "points", "difference_low", "difference_high"),
    Column("majority", "majority formula", "percent"),
    Column("bounded", "classes where p-bar errs no more", "percent"),
    Column("classes", "classes", "count"),
    *COUNTS,
)
BY_CLASS = (
    *NAMES,
    Column("class", "class"),
    Column("expected", "expected error", "percent", "expected_low", "expected_high"),
    Column("marginal", "error of p-bar", "percent"),
    Column("answer", "p-bar's answer"),
    Column("majority", "majority formula", "percent"),
    *COUNTS,
)
SHOWN = tuple(range(1, 66, 2))


def study(runs: Sequence[Run], options: Options) -> Finding:
    """The error of p-bar over each class's images against the model's error on them; averaged, or by="class"."""
    if options.by not in (None, "class"):
        raise unknown_name("--by", str(options.by), ["class"])
    found = [(group, _of_run(group.runs[0])) for group in groups(of_views(runs, detail=True))]
    rows = tuple({**group.names, **_row(errors)} for group, errors in found)
    several = [g.names["dataset"] for g, _ in found if len(g.runs) > 1]
    return Finding(
        name="jury",
        title="Error of p-bar over the images of a class against the expected error",
        columns=BY_CLASS if options.by else COLUMNS,
        rows=tuple(row for group, errors in found for row in _class_rows(group, errors)) if options.by else rows,
        notes=(
            "Errors in %, with Wilson's 95% interval over the class's images."
            if options.by
            else "Errors in %, each class counting the same, with 95% intervals over classes.",
            "p-bar is the mean of the source views' probabilities over all images of one class (Sec. 2.3). The "
            "majority formula is eq:cumMajErr for as many independent images, averaged over classes.",
            "A class with one image has p-bar and expected error alike: it takes several images per class.",
            *(
                (f"The source view does not depend on the seed; one seed is shown of {', '.join(several)}.",)
                if several
                else ()
            ),
        ),
        draw=lambda figure: _draw(figure, found, rows),
        size=(7.6, 3.4),
    )


def _of_run(run: Run) -> ClassErrors:
    samples = list(read_details(run.records, ["source"]))
    return class_errors((one.arrays["source"] for one in samples), (one.target for one in samples))


def _row(errors: ClassErrors) -> dict[str, Any]:
    expected, marginal = share_of(errors.expected), share_of(errors.marginal)
    difference = mean_of(errors.marginal - errors.expected)
    return {
        "n": int(errors.images.sum()),
        "classes": len(errors.label),
        "seeds": 1,
        **{f"expected{end}": value for end, value in _ends(expected)},
        **{f"marginal{end}": value for end, value in _ends(marginal)},
        **{f"difference{end}": value for end, value in _ends(difference)},
        "majority": float(errors.majority.mean()),
        "bounded": float((errors.marginal <= errors.expected).mean()),
    }


def _class_rows(group: Group, errors: ClassErrors) -> list[dict[str, Any]]:
    names = class_names(group.runs[0])
    rows = []
    for i, (label, images, answer) in enumerate(
        zip(errors.label.tolist(), errors.images.tolist(), errors.answer.tolist(), strict=True)
    ):
        low, high = wilson_interval(errors.expected[i] * images, images)
        rows.append(
            {
                **group.names,
                "class": names[label] if names else f"class {label}",
                "answer": names[answer] if names else f"class {answer}",
                "expected": float(errors.expected[i]),
                "expected_low": low,
                "expected_high": high,
                "marginal": float(errors.marginal[i]),
                "majority": float(errors.majority[i]),
                "n": images,
                "seeds": 1,
            }
        )
    return rows


def _ends(mean: Mean) -> list[tuple[str, float]]:
    return [("", mean.value), ("_low", mean.low), ("_high", mean.high)]


def _draw(figure: Any, found: Sequence[tuple[Group, ClassErrors]], rows: Sequence[Mapping[str, Any]]) -> None:
    """The bars of Fig. 1a, and Condorcet's curves at the datasets' expected errors."""
    bars, curves = figure.subplots(1, 2, width_ratios=[1.2, 1])
    series = {"expected error": [row["expected"] for row in rows], "error of p-bar": [row["marginal"] for row in rows]}
    errors = {
        "expected error": [(row["expected_low"], row["expected_high"]) for row in rows],
        "error of p-bar": [(row["marginal_low"], row["marginal_high"]) for row in rows],
    }
    names = [group.names["dataset"] for group, _ in found]
    bars_side_by_side(bars, names, series, colours=("C0", "C1"), errors=errors)
    bars.set_ylabel("error")
    for i, (name, row) in enumerate(zip(names, rows, strict=True)):
        curve = condorcet_curve(row["expected"], SHOWN)
        curves.plot(SHOWN, curve, color=f"C{i}", label=f"{name}, error {row['expected']:.2f}")
    curves.set(xlabel="independent voters", ylabel="error of their majority", ylim=(0, 1), xlim=(1, SHOWN[-1]))
    legend_above(curves)
