"""What is kept of every view's logits so that other settings can be scored later without the model."""

from collections.abc import Mapping

import numpy as np

from ..arrays import Float32
from ..prediction import Evidence
from ..vote import RankedViews, entropy_of, log_softmax

SOURCE_TOP = 5
"""How many of the source view's best classes are remembered: zero-shot's top-5."""


def gather_evidence(
    views: RankedViews, *, tie_draw: float, teacher: Mapping[int, Float32] | None = None, detail: bool = False
) -> Evidence:
    """The evidence in one image's views; `teacher` holds its logits (classes,) of each view it was asked about.

    With `detail` also the student's probabilities of all classes.
    """
    source_top = np.argsort(-views.logits[0], kind="stable")[:SOURCE_TOP]
    voting, teacher_labels = views, None
    if teacher:
        asked, combined = list(teacher), views.logits.copy()
        combined[asked] = list(teacher.values())
        voting = RankedViews(combined)
        teacher_labels = np.full(len(views), -1, dtype=np.int64)
        teacher_labels[asked] = voting.labels[asked]
    candidates = np.unique(np.concatenate([voting.labels, views.labels, source_top]))
    group_marginal, group_logits = _group_entropies(voting, views)
    return Evidence(
        candidates=candidates,
        logits=voting.logits[:, candidates],
        student_labels=views.labels,
        teacher_labels=teacher_labels,
        source_top=source_top,
        source_probability=float(np.exp(views.logp[0, source_top[0]])),
        group_marginal=group_marginal,
        group_logits=group_logits,
        tie_draw=tie_draw,
        probabilities=np.exp(views.logp) if detail else None,
    )


def _group_entropies(voting: RankedViews, student: RankedViews) -> tuple[Float32, Float32]:
    """Per view, the entropy of the views of its label up to its rank: of mean probabilities, then of mean logits.

    The student ranks, also in a cascade.
    """
    by_marginal = np.empty(len(voting), dtype=np.float32)
    by_logits = np.empty(len(voting), dtype=np.float32)
    ranked = voting.labels[student.order]
    for label in np.unique(ranked):
        views = student.order[ranked == label]  # most confident first
        sizes = np.arange(1, len(views) + 1, dtype=np.float32)[:, None]
        with np.errstate(divide="ignore"):  # a class that no view gives any probability has log 0
            logp = np.log(np.cumsum(np.exp(voting.logp[views]), axis=0) / sizes)
        by_marginal[views] = entropy_of(np.maximum(logp, np.finfo(np.float32).min))
        means = np.cumsum(voting.logits[views], axis=0) / sizes
        by_logits[views] = entropy_of(log_softmax(means.astype(np.float32, copy=False)))
    return by_marginal, by_logits
