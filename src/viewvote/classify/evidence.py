"""What is kept of every view's logits so that other settings can be scored later without the model."""

import numpy as np

from ..prediction import Evidence, Float32, Int64
from ..vote import entropy_of, log_softmax, rank_by_confidence

SOURCE_TOP = 5
"""How many of the source view's best classes are remembered: zero-shot's top-5."""


def gather_evidence(
    logits: Float32, *, tie_draw: float, kept: Int64 | None = None, teacher_logits: Float32 | None = None
) -> Evidence:
    """The evidence in one image's logits (views, classes); in a cascade also the teacher's (kept, classes)."""
    student_labels = logits.argmax(axis=-1)
    order = rank_by_confidence(entropy_of(log_softmax(logits)))  # the student ranks, also in a cascade
    source_top = np.argsort(-logits[0], kind="stable")[:SOURCE_TOP]
    source_probability = float(np.exp(log_softmax(logits[0])[source_top[0]]))
    combined, teacher_labels = logits, None
    if kept is not None and teacher_logits is not None:
        combined = logits.copy()
        combined[kept] = teacher_logits
        teacher_labels = np.full(len(logits), -1, dtype=np.int64)
        teacher_labels[kept] = teacher_logits.argmax(axis=-1)
    labels = combined.argmax(axis=-1)
    candidates = np.unique(np.concatenate([labels, student_labels, source_top]))
    group_marginal, group_logits = _group_entropies(combined, labels, order)
    return Evidence(
        candidates=candidates,
        logits=combined[:, candidates],
        student_labels=student_labels,
        teacher_labels=teacher_labels,
        source_top=source_top,
        source_probability=source_probability,
        group_marginal=group_marginal,
        group_logits=group_logits,
        tie_draw=tie_draw,
    )


def _group_entropies(logits: Float32, labels: Int64, order: Int64) -> tuple[Float32, Float32]:
    """Per view, the entropy of what the views of its label up to its rank say together: probabilities, then logits."""
    by_marginal = np.empty(len(logits), dtype=np.float32)
    by_logits = np.empty(len(logits), dtype=np.float32)
    for label in np.unique(labels):
        views = order[labels[order] == label]  # most confident first
        sizes = np.arange(1, len(views) + 1, dtype=np.float32)[:, None]
        with np.errstate(divide="ignore"):  # a class that no view gives any probability has log 0
            logp = np.log(np.cumsum(np.exp(log_softmax(logits[views])), axis=0) / sizes)
        by_marginal[views] = entropy_of(np.maximum(logp, np.finfo(np.float32).min))
        means = np.cumsum(logits[views], axis=0) / sizes
        by_logits[views] = entropy_of(log_softmax(means.astype(np.float32, copy=False)))
    return by_marginal, by_logits
