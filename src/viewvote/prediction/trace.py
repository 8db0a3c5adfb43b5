"""What a prediction was made from: its views, and what was recorded beside them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Float32, Int64
from .view_table import ViewTable


@dataclass(frozen=True)
class Evidence:
    """The part of one image's logits that decides any vote: ties are only ever between classes some view predicts.

    candidates          classes that are the label of any view, and the source view's top five; ascending
    logits              of those classes (views, candidates), scaled; in a cascade the teacher's for the kept views
    student_labels      the student's class of each view (views,)
    teacher_labels      the teacher's class of the views it was asked about, -1 for the others; None without a teacher
    source_top          the student's best classes on the source view, best first
    source_probability  the probability of the first of them
    group_marginal      per view, the entropy of p-bar of it and the more confident views with the same label: a tied
                        class's "group-marginal" score is that of its last kept view, whatever keep is
    group_logits        the same of their mean logits
    tie_draw            the number that breaks random ties
    probabilities       the student's, of all classes (views, classes); only where details are recorded
    """

    candidates: Int64
    logits: Float32
    student_labels: Int64
    teacher_labels: Int64 | None
    source_top: Int64
    source_probability: float
    group_marginal: Float32
    group_logits: Float32
    tie_draw: float
    probabilities: Float32 | None = None


@dataclass(frozen=True)
class Anchor:
    """How much say the source view had in an anchored vote.

    weight    its weight against the votes: 1 is as much as all kept views together
    likeness  how alike the labels are to the model, in [0, 1], from which the weight follows; None where it was given
    """

    weight: float
    likeness: float | None = None

    def to_dict(self) -> dict[str, float]:
        """JSON-ready values."""
        known = {"weight": self.weight, "likeness": self.likeness}
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True)
class Trace:
    """Every view of a prediction, in view order; view 0 is the source view.

    Of an anchored vote it has the source view's say. Where a tuning method recorded them, also p-bar of the kept views
    before and after tuning (Sec. 2: MEM); where the classifier was asked for it, the evidence from which other settings
    can be scored. That, and the source view's logits, are not part of `to_dict`.
    """

    views: ViewTable
    marginal_before: Float32 | None = None  # (labels,)
    marginal_after: Float32 | None = None
    evidence: Evidence | None = None
    anchor: Anchor | None = None
    source: Float32 | None = None  # (labels,)

    def __repr__(self) -> str:
        n = len(self.views)
        return f"Trace({n} view{'' if n == 1 else 's'}, {np.count_nonzero(self.views.kept)} kept)"

    def to_dict(self) -> dict[str, Any]:
        """The trace as JSON-ready values."""
        out: dict[str, Any] = {"views": [view.to_dict() for view in self.views]}
        if self.marginal_before is not None and self.marginal_after is not None:
            out |= {"marginal_before": self.marginal_before.tolist(), "marginal_after": self.marginal_after.tolist()}
        if self.anchor is not None:
            out["anchor"] = self.anchor.to_dict()
        return out
