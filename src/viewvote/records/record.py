"""One sample of a run as one line of JSON: what was decided, and all that other settings can be scored from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..errors import RecordError
from ..prediction import Evidence, Prediction, Trace, ViewTable
from ..vote import rank_by_confidence
from .detail import Detail, detail_of
from .packing import pack_floats

TOP = 5
"""How many classes `top5` names (fewer where there are fewer)."""

LEAST_VOTE = 1e-4
"""Softer votes are not written: at the authors' temperature every class has some."""


@dataclass(frozen=True)
class Record:
    """One sample; the fields are the JSON's keys in their order, `timings` last so that lines compare without them.

    index, correct       the answer and whether it is the target; None where the image could not be used (`error`)
    confidence           the answer's score: its probability, or its share of the votes (anchored: with the source
                         view's say)
    probability          how likely it is to be right, calibrated (`Prediction.probability`)
    votes                of the classes that have any (soft votes: 0.0001 or more); None for methods that do not vote
    views                the table of the views, in a cascade with the student's labels; written as lists, with `kept`
                         as the indices of the kept views, most confident first
    top5                 best classes, winner first; equally many votes go to the larger logit of the source view
    candidates, logits   `Evidence.logits` (views, candidates) as base64 of little-endian float32
    source_top           the student's best classes on the source view: zero-shot's top five
    group_marginal       `Evidence.group_marginal` and `group_logits`, base64 of little-endian float32
    stop                 why no more views were looked at; None for methods that always look at all
    detail               what studies need beyond this; a line without it has no such key
    """

    key: str
    target: int
    index: int | None = None
    correct: bool | None = None
    confidence: float | None = None
    probability: float | None = None
    votes: Mapping[int, float] | None = None
    tie_break: str | None = None
    top5: tuple[int, ...] = ()
    views: ViewTable | None = None
    candidates: tuple[int, ...] = ()
    logits: str = ""
    source_top: tuple[int, ...] = ()
    source_probability: float | None = None
    group_marginal: str = ""
    group_logits: str = ""
    detail: Detail | None = None
    tie_draw: float | None = None
    views_used: int = 0
    stop: str | None = None
    teacher_labels: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    error: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)

    def to_line(self) -> str:
        """The record as one line of JSON, without the line break; equal records are equal lines."""
        values = vars(self) | {"views": None if self.views is None else _view_lists(self.views)}
        if self.detail is None:
            del values["detail"]
        else:
            values["detail"] = self.detail.packed
        return json.dumps(values, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_line(cls, line: str | bytes) -> "Record":
        """The record that `to_line` wrote; anything else raises RecordError."""
        try:
            raw = json.loads(line)
            if not isinstance(raw, dict) or raw.keys() | {"detail"} != _KEYS:
                raise RecordError(f"not a record: it needs exactly the keys {', '.join(sorted(_KEYS))}.")
            views, votes, detail = raw["views"], raw["votes"], raw.get("detail")
            raw["detail"] = None if detail is None else Detail(dict(detail))
            raw["votes"] = None if votes is None else {int(c): count for c, count in votes.items()}
            values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in raw.items()}
            values["views"] = None if views is None else _view_table(**views)
            return cls(**values)
        except (ValueError, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as error:
            raise error if isinstance(error, RecordError) else RecordError(f"not a record: {error}.") from error


_KEYS = {each.name for each in fields(Record)}


def record_of(prediction: Prediction, *, key: str, target: int) -> Record:
    """The record of a prediction that was made with its trace (and evidence, where it may be scored again)."""
    trace = prediction.trace
    evidence = None if trace is None else trace.evidence
    top = prediction.ranking(TOP) if evidence is None or prediction.votes is None else _voted_top(prediction, evidence)
    return Record(
        key=key,
        target=int(target),
        index=int(prediction.index),
        correct=bool(prediction.index == target),
        confidence=shortest(prediction.scores[prediction.index]),
        probability=shortest(prediction.probability),
        votes=_votes(prediction),
        tie_break=prediction.tie_break,
        top5=tuple(top),
        views=None if trace is None else _recorded_views(trace),
        views_used=0 if trace is None else len(trace.views),
        stop=prediction.stop,
        detail=None if trace is None else detail_of(trace, target=int(target)),
        notes=prediction.notes,
        timings={name: round(seconds, 6) for name, seconds in prediction.timings.items()},
        **({} if evidence is None else _evidence_fields(evidence)),
    )


def failed_record(error: Exception, *, key: str, target: int) -> Record:
    """The record of an image that could not be used: counted, never skipped."""
    return Record(key=key, target=int(target), error=str(error))


def without_timings(line: str) -> str:
    """The part of a record's line that a repeated run must reproduce byte for byte."""
    return line[: line.rindex(',"timings":')]


def shortest(value: float) -> float:
    """The number whose repr is the shortest that still names this float32: 0.3, not 0.30000001192092896."""
    return float(str(np.float32(value)))


def _votes(prediction: Prediction) -> dict[int, float] | None:
    if prediction.votes is None:
        return None
    counts = prediction.votes
    exact = np.issubdtype(counts.dtype, np.integer)
    return {int(c): int(counts[c]) if exact else shortest(counts[c]) for c in np.flatnonzero(counts >= LEAST_VOTE)}


def _recorded_views(trace: Trace) -> ViewTable:
    """The columns of the trace's table, with the student's labels in a cascade."""
    table = trace.views.located((), (), names=())
    return table if trace.evidence is None else replace(table, labels=trace.evidence.student_labels)


def _view_lists(views: ViewTable) -> dict[str, list[Any]]:
    """The table as JSON-ready lists."""
    order = rank_by_confidence(views.entropy)
    return {
        "labels": views.labels.tolist(),
        "entropy": [shortest(value) for value in views.entropy],
        "top_probability": [shortest(value) for value in views.top_probability],
        "kept": order[views.kept[order]].tolist(),
    }


def _view_table(labels: list[int], entropy: list[float], top_probability: list[float], kept: list[int]) -> ViewTable:
    """The table of the lists that `_view_lists` wrote."""
    mask = np.zeros(len(labels), dtype=np.bool_)
    mask[kept] = True
    columns = np.array(entropy, dtype=np.float32), np.array(top_probability, dtype=np.float32)
    return ViewTable(np.array(labels, dtype=np.int64), *columns, mask)


def _voted_top(prediction: Prediction, evidence: Evidence) -> list[int]:
    """Winner first, then by votes; most classes have none, and those are ordered by the source view's logits."""
    classes = np.arange(len(prediction.labels))
    source = np.full(len(classes), -np.inf)
    source[evidence.candidates] = evidence.logits[0]
    order = np.lexsort((-source, -prediction.scores.astype(np.float64), classes != prediction.index))
    return [int(c) for c in order[:TOP]]


def _evidence_fields(evidence: Evidence) -> dict[str, Any]:
    teacher_labels = evidence.teacher_labels
    return {
        "candidates": tuple(evidence.candidates.tolist()),
        "logits": pack_floats(evidence.logits),
        "source_top": tuple(evidence.source_top.tolist()),
        "source_probability": shortest(evidence.source_probability),
        "group_marginal": pack_floats(evidence.group_marginal),
        "group_logits": pack_floats(evidence.group_logits),
        "tie_draw": float(evidence.tie_draw),
        "teacher_labels": None if teacher_labels is None else tuple(teacher_labels.tolist()),
    }
