"""Records made from logits, without a model: what the tests of columns, metrics and reports read."""

from pathlib import Path

import numpy as np

from viewvote.classify.evidence import gather_evidence
from viewvote.prediction import Prediction, Trace
from viewvote.records.record import Record, record_of
from viewvote.vote import RankedViews, log_softmax, vote

TIMINGS = {"read": 0.01, "render": 0.02, "encode": 0.03, "decide": 0.04, "total": 0.1}


def draw_logits(rng, *, views=12, classes=9, hard=2.0):
    """Logits (views, classes) of one image whose views disagree: ties are frequent at few kept views."""
    favourites = rng.choice(classes, 3, replace=False)
    logits = rng.normal(size=(views, classes))
    logits[np.arange(views), rng.choice(favourites, views)] += hard
    return logits.astype(np.float32)


def voted_record(logits, *, key="k", target=0, draw=0.5, keep=0.3, tie="greedy", teacher=None) -> Record:
    """The record of ZERO's answer; `teacher` are a second model's logits of all views, asked about the kept ones."""
    views = RankedViews(logits)
    kept = views.most_confident(keep)
    asked = None if teacher is None else dict(zip(kept.tolist(), teacher[kept], strict=True))
    ballot = vote(views, keep=keep, tie=tie, tie_draw=draw, teacher_logits=None if teacher is None else teacher[kept])
    labels = tuple(f"class {i}" for i in range(logits.shape[1]))
    marginal = np.exp(log_softmax((logits if teacher is None else teacher)[kept])).mean(axis=0)
    prediction = Prediction(
        labels=labels,
        index=ballot.winner,
        probability=float(marginal[ballot.winner]),
        scores=np.asarray(ballot.votes / ballot.k, dtype=np.float32),
        votes=ballot.votes,
        method="zero",
        model="toy",
        tie_break=ballot.tie_break,
        timings=TIMINGS,
        trace=Trace(ballot.views, evidence=gather_evidence(views, tie_draw=draw, teacher=asked)),
    )
    return record_of(prediction, key=key, target=target)


def plain_record(key, *, target, index, confidence=0.5, probability=0.5, top5=None) -> Record:
    """A record with an answer and nothing behind it."""
    return Record(
        key=key,
        target=target,
        index=index,
        correct=index == target,
        confidence=confidence,
        probability=probability,
        top5=(index,) if top5 is None else top5,
        views_used=1,
        timings=TIMINGS,
    )


def write_records(path: Path, records) -> Path:
    """The file of these records."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(record.to_line() + "\n" for record in records))
    return path
