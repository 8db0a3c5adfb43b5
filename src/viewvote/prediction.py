"""The words everyone uses: how a model wants its images, what a prediction is, and how both are written down."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .errors import UsageError

Float32 = NDArray[np.float32]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]
UInt8 = NDArray[np.uint8]

Interpolation = Literal["nearest", "bilinear", "bicubic", "lanczos"]
ResizeMode = Literal["shortest", "squash"]
Scoring = Literal["softmax", "sigmoid"]


@dataclass(frozen=True)
class ImageSpec:
    """How a model wants its pixels; views are rendered to `size` and normalised by the encoder.

    `resize="shortest"` scales the short side to `short_side` and crops the centre; `"squash"` scales both sides to
    `size` and keeps the whole image (SigLIP).
    """

    size: int
    mean: tuple[float, float, float] = (0.48145466, 0.4578275, 0.40821073)
    std: tuple[float, float, float] = (0.26862954, 0.26130258, 0.27577711)
    interpolation: Interpolation = "bicubic"
    resize: ResizeMode = "shortest"
    short_side: int = 0  # 0: the same as size

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(f"image size must be at least 1 pixel, got {self.size}.")
        if len(self.mean) != 3 or len(self.std) != 3 or min(self.std) <= 0:
            raise UsageError(f"mean and std need three numbers each, std above zero; got {self.mean} and {self.std}.")
        if self.short_side == 0:
            object.__setattr__(self, "short_side", self.size)
        if self.short_side < self.size:
            raise UsageError(f"short_side {self.short_side} is smaller than the crop of {self.size} pixels.")


@dataclass(frozen=True)
class Box:
    """A rectangle of the upright original image in pixels: left and top inside, right and bottom outside."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Right minus left."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Bottom minus top."""
        return self.bottom - self.top

    def to_list(self) -> list[float]:
        """[left, top, right, bottom], whole numbers as ints."""
        return [int(v) if float(v).is_integer() else float(v) for v in (self.left, self.top, self.right, self.bottom)]


@dataclass(frozen=True)
class ViewTrace:
    """What one view saw and said."""

    box: Box
    flip: bool
    label: str
    entropy: float
    top_probability: float
    kept: bool

    def to_dict(self) -> dict[str, Any]:
        """The view as JSON-ready values."""
        return {
            "box": self.box.to_list(),
            "flip": self.flip,
            "label": self.label,
            "entropy": self.entropy,
            "top_probability": self.top_probability,
            "kept": self.kept,
        }


@dataclass(frozen=True)
class Evidence:
    """The part of one image's logits that decides any vote: ties are only ever between classes some view predicts.

    candidates          classes that are the label of any view, and the source view's top five; ascending
    logits              of those classes (views, candidates), scaled; in a cascade the teacher's for the kept views
    student_labels      what each view of the student says (views,)
    teacher_labels      what the teacher says of the kept views, -1 for the others; None without a teacher
    source_top          the student's best classes on the source view, best first
    source_probability  the probability of the first of them
    group_marginal      per view, the entropy of p-bar of it and the more confident views with the same label: a tied
                        class's "group-marginal" score is that of its last kept view, whatever keep is
    group_logits        the same of their mean logits
    tie_draw            the number that breaks random ties
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


@dataclass(frozen=True)
class Trace:
    """Every view of a prediction, in view order; view 0 is the source view.

    Where a tuning method recorded them, also p-bar of the kept views before and after tuning (Sec. 2: MEM); where the
    classifier was asked for it, the evidence from which other settings can be scored (not part of `to_dict`).
    """

    views: tuple[ViewTrace, ...]
    marginal_before: Float32 | None = None  # (labels,)
    marginal_after: Float32 | None = None
    evidence: Evidence | None = None

    def to_dict(self) -> dict[str, Any]:
        """The trace as JSON-ready values."""
        out: dict[str, Any] = {"views": [view.to_dict() for view in self.views]}
        if self.marginal_before is not None and self.marginal_after is not None:
            out |= {"marginal_before": self.marginal_before.tolist(), "marginal_after": self.marginal_after.tolist()}
        return out


@dataclass(frozen=True)
class Prediction:
    """The answer for one image.

    label        the winning label, or None where the classifier abstained
    index        its position among the labels (also when it abstained: the best guess)
    confidence   share of the deciding quantity that the winner holds, in [0, 1]: for voting methods the share of the
                 kept views that voted for it, for the others its probability (`confidence_is` says which)
    probability  the winner's probability at the model's own temperature: for voting methods on the source view, where
                 the model is calibrated (confident views are over-confident), for the others the same as confidence
    scores       one number per label: vote shares or probabilities, summing to 1; for zero-shot with a model that
                 scores each label alone (SigLIP), sigmoids that need not; the winner has the largest
    votes        one count per label; None for methods that do not vote
    tie_break    the rule that decided between labels with equally many votes, or None
    notes        what did not go as planned, in words (a tuning step that was skipped)
    views_used   how many views were looked at
    stop         why no more were, where a stopping rule was at work: "confident", "exact" or "all views"
    """

    labels: tuple[str, ...]
    index: int
    confidence: float
    confidence_is: str
    probability: float
    scores: Float32
    votes: NDArray[Any] | None
    method: str
    model: str
    tie_break: str | None = None
    abstained: bool = False
    path: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    trace: Trace | None = None
    notes: tuple[str, ...] = ()
    views_used: int = 0
    stop: str | None = None

    @property
    def label(self) -> str | None:
        """The winning label, or None where the classifier abstained."""
        return None if self.abstained else self.labels[self.index]

    @property
    def kept(self) -> tuple[int, ...]:
        """The indices of the kept views; empty without a trace."""
        return tuple(i for i, view in enumerate(self.trace.views) if view.kept) if self.trace else ()

    def ranking(self, top: int | None = None) -> list[int]:
        """Label indices from best to worst; the winner is first even where a tie had to be broken."""
        order = np.lexsort((np.arange(len(self.labels)) != self.index, -self.scores.astype(np.float64)))
        return [int(i) for i in order[:top]]

    def to_dict(self, *, trace: bool = False, top: int | None = None) -> dict[str, Any]:
        """JSON-ready values under the public keys; `top` keeps only the best labels in `scores` and `votes`."""
        names = label_keys(self.labels)
        order = self.ranking(top)
        votes = None if self.votes is None else {names[i]: self.votes[i].item() for i in order}
        out: dict[str, Any] = {
            "path": self.path,
            "label": self.label,
            "index": self.index,
            "confidence": self.confidence,
            "scores": {names[i]: float(self.scores[i]) for i in order},
            "votes": votes,
            "tie_break": self.tie_break,
            "method": self.method,
            "model": self.model,
            "timings": dict(self.timings),
            "probability": self.probability,
            "confidence_is": self.confidence_is,
            "views_used": self.views_used,
        }
        if self.stop is not None:
            out["stop"] = self.stop
        if self.notes:
            out["notes"] = list(self.notes)
        if trace and self.trace is not None:
            out["trace"] = self.trace.to_dict()
        return out


@lru_cache(maxsize=16)  # one tuple of labels serves a whole run: 10,000 of them would take 1 ms an image
def label_keys(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The labels as dictionary keys: the second and later uses of one name carry their index ("missile#744")."""
    seen: set[str] = set()
    taken = set(labels)
    keys = []
    for i, label in enumerate(labels):
        key = label
        if label in seen:
            while key in taken:  # a label of its own may be called "missile#744"
                key += f"#{i}"
            taken.add(key)
        seen.add(label)
        keys.append(key)
    return tuple(keys)
