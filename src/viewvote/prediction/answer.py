"""The answer for one image: a Prediction."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ..arrays import Float32, Int64
from ..context.base import Context
from ..plugins import imported
from ..probability import spread
from .trace import Trace
from .values import values_of

if TYPE_CHECKING:
    from PIL.Image import Image

PICTURES = "viewvote.pictures.of_prediction"
"""Where predictions are drawn: imported by name when a picture is asked for, as it lies above."""

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
        return values_of(self, trace=trace, top=top)
