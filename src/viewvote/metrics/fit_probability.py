"""The fit of an answer's probability from the records of runs, and what to expect of it on other images."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Bool, Float32, Float64
from ..errors import UsageError
from ..probability import LEAST, ProbabilityFit, led_by, source_part
from ..records.columns import Columns, column_pieces
from ..records.evidence import damaged
from .calibration import reliability
from .selective import risk_coverage

BLENDS = tuple(i / 10 for i in range(11))
"""The source view's parts that are tried."""

CEILINGS = (0.995, 0.99, 0.985, 0.98, 0.97, 0.96, 0.95)
"""The largest probabilities that are tried; none is 1, which no number of photographs can show."""

FEWEST = 50
"""Fewer records cannot fit a few numbers that would hold elsewhere."""

BINS = 15
"""Of the calibration error that is reported, as in the field's tables."""

DOUBT = 1.0
"""The weight, in records, of the guess that nothing needs fitting (slope 1, offset 0)."""


@dataclass(frozen=True)
class Answers:
    """What a fit sees of records: for each part of the source view, the answer's probability in the blend."""

    keys: tuple[str, ...]
    right: Bool  # (records,)
    before: Float32  # (records,), the probability that was recorded
    blended: dict[float, Float64]  # part of the source view: (records,)

    def take(self, rows: Bool) -> "Answers":
        """The records where `rows` is True."""
        keys = tuple(key for key, chosen in zip(self.keys, rows.tolist(), strict=True) if chosen)
        blended = {source: values[rows] for source, values in self.blended.items()}
        return Answers(keys, self.right[rows], self.before[rows], blended)

    def probability(self, fit: ProbabilityFit) -> Float64:
        """The fitted probability of each answer."""
        return np.array([fit.apply(float(value)) for value in self.blended[fit.source]])


def read_answers(path: Path, *, votes: bool) -> Answers:
    """The usable records of a file; `votes`: those of a method whose views vote."""
    pieces = [_answers(piece.take(piece.usable), path, votes=votes) for piece in column_pieces(path)]
    return joined([piece for piece in pieces if len(piece.keys)], where=str(path))


def joined(parts: Sequence[Answers], *, where: str) -> Answers:
    """The records of several files together."""
    if not parts:
        raise UsageError(f"{where} holds no usable record.")
    return Answers(
        keys=tuple(key for part in parts for key in part.keys),
        right=np.concatenate([part.right for part in parts]),
        before=np.concatenate([part.before for part in parts]),
        blended={source: np.concatenate([part.blended[source] for part in parts]) for source in parts[0].blended},
    )


def fit_probability(answers: Answers) -> ProbabilityFit:
    """The fit with the least log loss of right and wrong answers."""
    if len(answers.keys) < FEWEST:
        raise UsageError(f"{len(answers.keys)} records are too few to fit a probability; give at least {FEWEST}.")
    return _fit(answers)


def measured(answers: Answers, probability: Float64) -> dict[str, Any]:
    """How good probabilities of these answers are: n, accuracy, calibration error, risk and coverage."""
    selection = risk_coverage(probability.astype(np.float32), answers.right)
    return {
        "n": len(answers.keys),
        "accuracy": round(float(answers.right.mean()), 5),
        "ece": round(reliability(probability, answers.right, bins=BINS).ece, 5),
        "aurc": round(selection.aurc, 5),
        "coverage_at_5_percent_risk": round(selection.coverage_at(0.05), 5),
    }


def held_back(answers: Answers) -> Float64:
    """Each half's probabilities by the fit of the other half; a key's hash decides which half."""
    first = np.array([blake2b(key.encode(), digest_size=1).digest()[0] % 2 == 0 for key in answers.keys])
    found = np.empty(len(first))
    for half in (first, ~first):
        if half.any() and (~half).any():
            found[~half] = answers.take(~half).probability(_fit(answers.take(half)))
    return found


def _fit(answers: Answers) -> ProbabilityFit:
    tried = [_logistic(values, answers.right, source=source) for source, values in answers.blended.items()]
    return min(tried, key=lambda pair: pair[0])[1]


def _logistic(probability: Float64, right: Bool, *, source: float) -> tuple[float, ProbabilityFit]:
    """The loss and the fit of slope and offset, by Newton's steps, for one part of the source view."""
    inside = np.clip(probability, LEAST, 1 - LEAST)
    odds = np.log(inside) - np.log1p(-inside)
    design = np.stack([odds, np.ones_like(odds)], axis=1)
    guess = np.array([1.0, 0.0])
    found = guess.copy()
    for _ in range(50):
        expected = 1 / (1 + np.exp(-(design @ found)))
        gradient = design.T @ (expected - right) + DOUBT * (found - guess)
        curvature = (design * (expected * (1 - expected))[:, None]).T @ design + DOUBT * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        found -= step * min(1.0, 2.0 / max(1e-9, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-9:
            break
    slope, offset = max(1e-3, float(found[0])), float(found[1])
    logit = slope * odds + offset
    found_probability = 1 / (1 + np.exp(-logit))
    losses = {most: _loss(most * found_probability, right) for most in CEILINGS}
    most = min(losses, key=losses.__getitem__)
    return losses[most], ProbabilityFit(source=source, slope=round(slope, 4), offset=round(offset, 4), most=most)


def _loss(probability: Float64, right: Bool) -> float:
    """The log loss of right and wrong answers."""
    inside = np.clip(probability, LEAST, 1 - LEAST)
    return float(-np.log(np.where(right, inside, 1 - inside)).sum())


def _answers(columns: Columns, path: Path, *, votes: bool) -> Answers:
    if not votes:
        blended = {ProbabilityFit().source: columns.confidence.astype(np.float64)}
        return Answers(columns.keys, columns.correct, columns.probability, blended)
    if (columns.teacher_labels >= 0).any():
        raise UsageError(f"{path} is of a cascade, whose source views the teacher did not see; fit its teacher alone.")
    if any(not evidence.candidates for evidence in columns.evidence):
        raise UsageError(f"{path} was recorded without evidence, so the views' probabilities are not known.")
    rows = [_blends(columns, i) for i in range(len(columns))]
    table = np.array(rows).reshape(len(columns), len(BLENDS))
    return Answers(columns.keys, columns.correct, columns.probability, dict(zip(BLENDS, table.T, strict=True)))


def _blends(columns: Columns, i: int) -> list[float]:
    """The answer's probability in the blend of record `i`, for each part of the source view.

    Only candidates are known; a class that no view prefers and that is not among the source view's best five could
    lead the blend before the answer does, and is left out of it.
    """
    classes, logits = columns.evidence[i].logits()
    n = len(logits)
    top = columns.top_probability[i, :n].astype(np.float64)
    views = top[:, None] * np.exp((logits - logits.max(axis=1, keepdims=True)).astype(np.float64))
    kept = views[columns.kept[i, :n]]
    if not len(kept):
        raise damaged(columns.keys[i], "kept views, as it has votes")
    (answer,) = columns.evidence[i].positions(columns.index[i : i + 1], among=classes).tolist()
    parts = [source_part(source, len(kept)) for source in BLENDS]
    return [float(led_by(part * views[0] + (1 - part) * kept.mean(axis=0), answer)[answer]) for part in parts]
