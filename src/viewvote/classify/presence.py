"""What is asked beside the vote: whether a photo shows none of the labels, and which of them it shows, each alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..arrays import Float32
from ..encoders import Encoder
from ..encoders.text_head import BuildHead, TextHead
from ..errors import UsageError
from ..prediction import NONE_OF_THESE, EachLabel, Prediction
from . import each_label, none_of_these
from .background import MarginFit, build_background
from .calibration import margin_fit
from .each_label import Thresholds, checked_thresholds, each_probability
from .none_of_these import none_probability, with_none


@dataclass(frozen=True)
class Presence:
    """The questions, and what answers them.

    background   None for a model that scores each label alone (SigLIP), whose logits answer by themselves
    none, each   the fits of the questions that are asked
    thresholds   (labels,), of `each`
    """

    background: TextHead | None
    none: MarginFit | None
    each: MarginFit | None
    thresholds: Float32 | None

    def added_to(
        self, prediction: Prediction, *, features: Float32, logits: Float32, encoder: Encoder, abstain_below: float
    ) -> Prediction:
        """The prediction with the answers; features (views, dim) and logits (views, labels) are of the views seen."""
        background = None if self.background is None else self.background.logits(features, encoder)
        if self.each is not None and self.thresholds is not None:
            found = each_probability(logits, background, self.each)
            prediction = replace(prediction, each=EachLabel(found, self.thresholds))
        if self.none is not None:
            source = None if background is None else background[0]
            none = none_probability(logits[0], source, self.none)
            prediction = with_none(prediction, none, least=self.none.least, abstain_below=abstain_below)
        return prediction


def asked_presence(
    encoder: Encoder,
    head: TextHead,
    labels: tuple[str, ...],
    *,
    none_of_these_asked: bool,
    multi_label: bool,
    thresholds: Thresholds | None,
    templates: Sequence[str],
    cache_dir: Path | None,
    build_head: BuildHead,
) -> Presence | None:
    """What answers the questions that are asked; None if there are none."""
    if thresholds is not None and not multi_label:
        raise UsageError("thresholds are of each label alone; ask for that too: multi_label=True.")
    if none_of_these_asked and NONE_OF_THESE in labels:
        raise UsageError(f"{NONE_OF_THESE!r} is added to the labels, so it cannot be one of yours.")
    if not none_of_these_asked and not multi_label:
        return None
    background = None
    if encoder.scoring != "sigmoid":
        background = build_background(encoder, head, templates=templates, cache_dir=cache_dir, build_head=build_head)
    each = margin_fit(encoder, each_label.EACH, otherwise=each_label.UNFITTED) if multi_label else None
    least = 0.5 if each is None or background is None else each.least
    return Presence(
        background,
        margin_fit(encoder, none_of_these.NONE, otherwise=none_of_these.UNFITTED) if none_of_these_asked else None,
        each,
        checked_thresholds(thresholds, labels, default=least) if multi_label else None,
    )
