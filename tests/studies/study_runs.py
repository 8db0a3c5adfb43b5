"""Runs for studies, made from logits without a model."""

import numpy as np

from tests.report.run_folders import write_run
from viewvote.classify.evidence import gather_evidence
from viewvote.prediction import Box, Prediction, Trace
from viewvote.records.record import record_of
from viewvote.runs.read import load_run
from viewvote.vote import RankedViews, vote

CLASSES = 4
KEEP = 0.3


def boxes_of(n):
    """Boxes that slide to the right, so that near views overlap."""
    return [Box(i, 0, i + 10, 10) for i in range(n)]


def detailed_record(logits, *, key, target, before=None, after=None):
    """ZERO's record of these logits (views, classes) with every detail."""
    seen = RankedViews(logits)
    ballot = vote(seen, keep=KEEP)
    labels = tuple(f"class {i}" for i in range(logits.shape[1]))
    views = ballot.views.located(boxes_of(len(logits)), [False] * len(logits), names=labels)
    evidence = gather_evidence(seen, tie_draw=0.5, detail=True)
    prediction = Prediction(
        labels=labels,
        index=int(ballot.winner),
        probability=0.5,
        scores=np.asarray(ballot.votes / ballot.k, dtype=np.float32),
        votes=ballot.votes,
        method="zero",
        model="toy",
        tie_break=ballot.tie_break,
        trace=Trace(views, before, after, evidence),
    )
    return record_of(prediction, key=key, target=target)


def draw_image(rng, target, *, views=10):
    """Logits of one image whose views mostly show the target."""
    logits = rng.normal(size=(views, CLASSES)) + 1.0 * rng.normal(size=CLASSES)
    logits[:, target] += 1.5
    return logits.astype(np.float32)


def study_run(folder, *, images=40, seed=0, dataset="pets", **spec):
    """A run with details, and the logits (images, views, classes) and targets it was made from."""
    rng = np.random.default_rng(seed)
    targets = np.arange(images) % CLASSES
    logits = np.stack([draw_image(rng, target) for target in targets])
    p_bars = [rng.dirichlet(np.ones(CLASSES), 2).astype(np.float32) for _ in targets]
    records = [
        detailed_record(one, key=str(i), target=int(targets[i]), before=p_bars[i][0], after=p_bars[i][1])
        for i, one in enumerate(logits)
    ]
    run = load_run(write_run(folder, records, dataset=dataset, model="toy", views=10, seed=seed, **spec))
    return run, logits, targets, np.stack(p_bars)


def softmax(logits):
    """Probabilities in float64, naively."""
    powers = np.exp(logits.astype(np.float64))
    return powers / powers.sum(axis=-1, keepdims=True)
