"""How likely a decision is to be right, from the views it was made on."""

from collections.abc import Mapping

import numpy as np

from ..arrays import Float32, Float64, Int64
from ..methods import Decision, ViewLogits
from ..probability import ProbabilityFit, led_by, source_part, within_reach
from ..vote import log_softmax


def likelihood_of(
    decision: Decision,
    views: ViewLogits,
    *,
    fit: ProbabilityFit,
    teacher: Mapping[int, Float32] | None = None,
) -> tuple[float, Float32 | None]:
    """The calibrated probability of the decision, and the blend it stands in (`Prediction.blend`).

    A vote's blend is of the source view and the kept views; in a cascade, of the teacher's where it was asked about
    them (`teacher`: its logits (classes,) by view). Methods that do not vote have probabilities of their own.
    """
    index = decision.index
    if decision.votes is None:
        if views.scoring == "sigmoid" and abs(float(decision.scores.sum()) - 1) > 1e-3:  # each label alone
            return float(decision.scores[index]), None
        blend = decision.scores.astype(np.float64)
    else:
        kept = np.flatnonzero(decision.views.kept)
        source = source_part(fit.source, len(kept))
        blend = source * _probabilities(views, np.zeros(1, dtype=np.int64), teacher)
        blend += (1 - source) * _probabilities(views, kept, teacher)
    blend = led_by(blend, index)
    probability = within_reach(fit.apply(float(blend[index])), blend, index)
    return float(np.float32(probability)), blend.astype(np.float32)


def _probabilities(views: ViewLogits, chosen: Int64, teacher: Mapping[int, Float32] | None) -> Float64:
    """The mean probabilities (classes,) of the chosen views, by the teacher where it knows them."""
    known = teacher or {}
    rows = [log_softmax(known[view]) if view in known else views.logp[view] for view in chosen.tolist()]
    mean: Float64 = np.exp(np.array(rows, dtype=np.float64)).mean(axis=0)
    return mean
