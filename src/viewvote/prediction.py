"""What a classifier answers: a Prediction, the table of its views, and the JSON that both are written as."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from .arrays import Bool, Float32, Int64
from .context.base import Context
from .plugins import imported
from .probability import spread

if TYPE_CHECKING:
    from PIL.Image import Image

PICTURES = "viewvote.pictures.of_prediction"
"""Where predictions are drawn: imported by name when a picture is asked for, as it lies above."""


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
    """One view of a prediction: where it looks, what it predicts, and whether it counted."""

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


@dataclass(frozen=True, eq=False)
class ViewColumns:
    """What views predict, as columns; the last axis is the views, in their order.

    labels           the class with the largest logit
    entropy          in nats; the lower, the more confident
    top_probability  the probability of `labels`
    kept             True for the views that decided
    """

    labels: Int64
    entropy: Float32
    top_probability: Float32
    kept: Bool


@dataclass(frozen=True, eq=False)
class ViewTable(ViewColumns, Sequence[ViewTrace]):
    """The views of one image, in view order; view 0 is the source view. Labels are class indices.

    Where boxes, flips and names of classes are known (`located`), the table is also a sequence of `ViewTrace` rows.
    """

    boxes: tuple[Box, ...] = ()
    flips: tuple[bool, ...] = ()
    names: tuple[str, ...] = field(default=(), repr=False)

    def located(self, boxes: Sequence[Box], flips: Sequence[bool], *, names: tuple[str, ...]) -> "ViewTable":
        """The same table with where each view looks, and the names of the classes."""
        return replace(self, boxes=tuple(boxes), flips=tuple(flips), names=names)

    def __len__(self) -> int:
        return len(self.labels)

    @overload
    def __getitem__(self, position: int) -> ViewTrace: ...

    @overload
    def __getitem__(self, position: slice) -> "ViewTable": ...

    def __getitem__(self, position: int | slice) -> "ViewTrace | ViewTable":
        columns = self.labels[position], self.entropy[position], self.top_probability[position], self.kept[position]
        if isinstance(position, slice):
            return ViewTable(*columns, self.boxes[position], self.flips[position], self.names)
        label, entropy, top, kept = columns
        name = self.names[label]
        return ViewTrace(self.boxes[position], self.flips[position], name, float(entropy), float(top), bool(kept))

    def __iter__(self) -> Iterator[ViewTrace]:
        columns = (column.tolist() for column in (self.labels, self.entropy, self.top_probability, self.kept))
        for box, flip, label, entropy, top, kept in zip(self.boxes, self.flips, *columns, strict=True):
            yield ViewTrace(box, flip, self.names[label], entropy, top, kept)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ViewTable):
            return NotImplemented
        columns = "labels", "entropy", "top_probability", "kept"
        known = (self.boxes, self.flips, self.names) == (other.boxes, other.flips, other.names)
        return known and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in columns)

    def __repr__(self) -> str:
        return f"ViewTable({len(self)} views, {np.count_nonzero(self.kept)} kept)"

    __hash__ = None  # type: ignore[assignment]


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


NONE_OF_THESE: Final = "none of these"
"""The label that is added where a photo may show none of the others."""


@dataclass(frozen=True, eq=False)
class EachLabel:
    """Each label's own answer, whatever the others' are.

    probabilities  how likely each label is to be there (labels,)
    thresholds     from which probability on it is (labels,)
    """

    probabilities: Float32
    thresholds: Float32

    @property
    def there(self) -> Int64:
        """The indices of the labels that are there, the most probable first."""
        order = np.argsort(-self.probabilities, kind="stable")
        return order[(self.probabilities >= self.thresholds)[order]]


@dataclass(frozen=True)
class Prediction:
    """The answer for one image.

    label        the winning label, or None where the classifier abstained
    index        its position among the labels (also when it abstained: the best guess)
    probability  how likely the answer is to be right, in [0, 1]: from the source view and the kept views, calibrated
                 (docs/guides/probability.md). What abstaining, sorting and tables go by
    scores       one number per label, what the method decided by: vote shares (in the anchored vote with the source
                 view's say) or probabilities, summing to 1; for zero-shot with a model that scores each label alone
                 (SigLIP), sigmoids that need not; the winner has the largest
    votes        one count per label; None for methods that do not vote
    tie_break    the rule that decided between labels with equally many votes, or None
    notes        what did not go as planned, in words (a tuning step that was skipped)
    views_used   how many views were looked at
    views_asked  how many would have been, had fewer not been enough
    stop         why no more were, where a stopping rule was at work: "confident", "exact" or "all views"
    context      what other photos took off the labels' logits, where the user asked for it (docs/guides/context.md)
    blend        the probabilities of all labels before they are calibrated, led by the answer; None: the scores
    each         each label's answer by itself, where that was asked (multi_label)
    source       returns the image that was classified, None once it is gone; only of images given as objects
    """

    labels: tuple[str, ...]
    index: int
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
    views_asked: int = 0
    stop: str | None = None
    blend: Float32 | None = field(default=None, repr=False)
    each: EachLabel | None = field(default=None, repr=False)
    context: Context | None = None
    source: Callable[[], object] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        said = [repr(self.label)] if not self.abstained else ["no label", f"perhaps {self.labels[self.index]!r}"]
        said.append(f"{self.probability:.0%} likely")
        said += [f"{self.votes_won} votes"] if self.votes_won else []
        said += [self.method, self.model, *([repr(self.path)] if self.path else [])]
        return f"Prediction({', '.join(said)})"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"source": None}  # what is elsewhere knows nothing of the image

    def _repr_html_(self) -> str:
        """What notebooks show: the picture of why, where the image is at hand."""
        html: str = imported(f"{PICTURES}:html_of")(self)
        return html

    def explain(self, image: Any = None) -> "Image":
        """The picture of why: where the kept views looked, what each said, and how the votes fell.

        Args:
            image: The image that was classified. None finds it: at `path`, or the very object that the classifier was
                called with, as long as somebody keeps it; a prediction does not.
        """
        picture: Image = imported(f"{PICTURES}:picture_of")(self, image)
        return picture

    def save_explanation(self, path: str | Path, image: Any = None) -> Path:
        """Write the picture of `explain` to a .png, .webp or .jpg file; returns its path."""
        saved: Path = imported(f"{PICTURES}:save_picture")(self, path, image)
        return saved

    @property
    def label(self) -> str | None:
        """The winning label, or None where the classifier abstained."""
        return None if self.abstained else self.labels[self.index]

    @property
    def confidence(self) -> float:
        """The same as `probability`, under the name that other packages use."""
        return self.probability

    @cached_property
    def probabilities(self) -> Float32:
        """How likely each label is (labels,): calibrated, led by the answer, summing to 1.

        For zero-shot with a model that scores each label alone (SigLIP) they are its sigmoids.
        """
        return self.scores if self.blend is None else spread(self.blend, self.index, self.probability)

    @property
    def kept_votes(self) -> float:
        """How many votes were cast: one for each kept view; 0 for methods that do not vote."""
        return 0 if self.votes is None else self.votes.sum().item()

    @property
    def vote_share(self) -> float | None:
        """The winner's share of the votes; None for methods that do not vote."""
        return None if self.votes is None else float(np.float32(self.votes[self.index] / self.votes.sum()))

    @property
    def votes_won(self) -> str:
        """The winner's votes in words, such as "17 of 19"; empty where there are none to win."""
        if self.votes is None or self.labels[self.index] == NONE_OF_THESE:
            return ""
        return f"{self.votes[self.index].item():.3g} of {self.kept_votes:.3g}"

    @property
    def settled(self) -> str:
        """Why no more views were looked at, in words; empty where no stopping rule was at work."""
        seen = "the source view" if self.views_used == 1 else f"{self.views_used} of {self.views_asked} views"
        words = {"confident": f"{seen} settled it", "exact": f"{seen} settled it, the others could not change it"}
        words["all views"] = f"none of the {self.views_used} views could be left out"
        return words.get(self.stop or "", "")

    @property
    def shown(self) -> tuple[str, ...]:
        """The labels that are there, each by its own threshold (multi_label); otherwise the answer, if there is one."""
        if self.each is not None:
            return tuple(self.labels[i] for i in self.each.there.tolist())
        return () if self.label in (None, NONE_OF_THESE) else (self.labels[self.index],)

    @property
    def kept(self) -> tuple[int, ...]:
        """The indices of the kept views; empty without a trace."""
        return tuple(np.flatnonzero(self.trace.views.kept).tolist()) if self.trace else ()

    def ranking(self, top: int | None = None) -> list[int]:
        """Label indices from most to least probable; the winner is first even where a tie had to be broken."""
        order = np.lexsort((np.arange(len(self.labels)) != self.index, -self.probabilities.astype(np.float64)))
        return [int(i) for i in order[:top]]

    def to_dict(self, *, trace: bool = False, top: int | None = None) -> dict[str, Any]:
        """JSON-ready values under the public keys; `top` keeps only the most probable labels."""
        names = label_keys(self.labels)
        order = self.ranking(top)
        likely, votes = self.probabilities, self.votes
        out: dict[str, Any] = {
            "path": self.path,
            "label": self.label,
            "index": self.index,
            "probability": self.probability,
            "confidence": self.confidence,
            "confidence_is": "probability",
            "vote_share": self.vote_share,
            "probabilities": {names[i]: float(likely[i]) for i in order},
            "scores": {names[i]: float(self.scores[i]) for i in order},
            "votes": None if votes is None else {names[i]: votes[i].item() for i in order},
            "kept_views": self.kept_votes,
            "tie_break": self.tie_break,
            "method": self.method,
            "model": self.model,
            "timings": dict(self.timings),
            "views_used": self.views_used,
        }
        if self.each is not None:
            out["each"] = {names[i]: float(self.each.probabilities[i]) for i in order if i < len(self.each.thresholds)}
            out["shown"] = list(self.shown)
        if self.stop is not None:
            out["stop"] = self.stop
        if self.notes:
            out["notes"] = list(self.notes)
        if self.context is not None:
            out["context"] = self.context.to_summary(names[: len(self.context.offsets)] if trace else None)
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
