"""RLCF: tuned towards the candidates that a CLIP teacher rewards (Zhao et al., 2024)."""

from dataclasses import dataclass, field
from typing import Literal, get_args

from ...arrays import Int64
from ...encoders import Encoder
from ...encoders.torch.tunable import require_prompt_tunable, require_vision_tunable
from ...errors import MissingExtraError, UsageError
from ...registry import unknown_name
from ..base import Decision
from .episode import Episode, Teacher, TuningMethod
from .steps import Loss, Recipe, tune
from .students import context_student, vision_student
from .vision_momentum import VisionMomentum

try:
    import torch
    from torch import Tensor
except ImportError as error:
    raise MissingExtraError.for_extra("torch", what="Test-time tuning") from error

CLIP_SCORE_WEIGHT = 2.5
PROMPT_LR = 7e-3
IMAGE_LR = 1e-5
Tuned = Literal["prompt", "image"]


@dataclass(frozen=True)
class Rlcf(TuningMethod):
    """A few AdamW steps on the rewarded cross-entropy of the kept views' candidates; defaults of the authors' scripts.

    tune             "prompt": context vectors, as TPT; "image": every weight of the vision tower
    candidates       how many of a view's most probable classes the teacher scores, anew at every step
    lr               None is 7e-3 for prompts and 1e-5 for the vision tower
    steps            3; the authors' script for fine-grained sets has 5 for prompts
    prefix           the words before a class name, for the student's start and for the teacher's texts. The authors'
                     image tuning forgot to replace the underscores: prefix="a_photo_of_a" repeats that
    chunk            classes whose text features are computed, and recomputed for the gradient, at a time
    record_marginal  keep p-bar of the kept views before and after tuning
    momentum         a running average of tuned vision towers to start from: answers then depend on the images before
    """

    tune: Tuned = "prompt"
    keep: float = 0.1
    candidates: int = 3
    lr: float | None = None
    weight_decay: float = 5e-4
    steps: int = 3
    prefix: str = "a photo of a"
    chunk: int = 64
    record_marginal: bool = False
    momentum: VisionMomentum | None = field(default=None, compare=False)

    name = "rlcf"
    asks_teacher = True

    @property
    def templates(self) -> str:
        """The template of the teacher's texts, and of the student's where only its vision tower is tuned."""
        words = self.prefix if self.tune == "image" else self._words
        return f"{words} {{}}."

    def check(self, encoder: Encoder, teacher: Encoder | None) -> None:
        """An error where there is no teacher, or the encoder does not allow what is to be tuned."""
        if self.tune not in get_args(Tuned):
            raise unknown_name("tuned part", self.tune, get_args(Tuned))
        if self.candidates < 1:
            raise UsageError(f"candidates must be at least 1; got {self.candidates}.")
        if self.momentum is not None and self.tune != "image":
            raise UsageError("momentum averages vision towers: it needs the setting tune=image.")
        self._recipe(1.0)
        if teacher is None:
            raise UsageError(
                "rlcf learns from a teacher's reward and there is no teacher: name one, such as "
                "open_clip:ViT-L-14/openai, or the model itself."
            )
        if self.tune == "image":
            require_vision_tunable(encoder, method=self.name).vision_parameters()  # refuses half precision
        else:
            require_prompt_tunable(encoder, method=self.name)

    def adapt(self, episode: Episode) -> Decision:
        """The source view's answer after tuning."""
        teacher = episode.teacher
        if teacher is None:
            raise UsageError("rlcf needs an episode with a teacher.")
        if self.tune == "prompt":
            prompted = require_prompt_tunable(episode.encoder, method=self.name)
            with context_student(prompted, episode, words=self._words, chunk=self.chunk) as student:
                return tune(student, self._recipe(PROMPT_LR), loss_on=lambda kept: self._loss(teacher, kept))
        tower = require_vision_tunable(episode.encoder, method=self.name)
        start = None if self.momentum is None else self.momentum.start(tower)
        with vision_student(tower, episode, start=start) as student:
            decision = tune(student, self._recipe(IMAGE_LR), loss_on=lambda kept: self._loss(teacher, kept))
            if self.momentum is not None:
                self.momentum.update(tower)
            return decision

    def reset(self) -> None:
        """Forget the tuned towers of the images before."""
        if self.momentum is not None:
            self.momentum.reset()

    @property
    def _words(self) -> str:
        return self.prefix.replace("_", " ")

    def _recipe(self, lr: float) -> Recipe:
        lr = lr if self.lr is None else self.lr
        return Recipe(self.keep, lr, self.weight_decay, self.steps, record_marginal=self.record_marginal)

    def _loss(self, teacher: Teacher, kept: Int64) -> Loss:
        scores = clip_scores(teacher, kept)
        return lambda logits, _: rewarded_cross_entropy(logits, scores.to(logits.device), candidates=self.candidates)


def clip_scores(teacher: Teacher, kept: Int64) -> Tensor:
    """CLIPScore (kept, classes): the teacher's cosines, weighted, none below zero."""
    # Differs: the teacher's views are drawn anew at its own size where it differs; the authors stretch the student's.
    cosines = teacher.encoder.encode_images(teacher.pixels(kept.tolist())) @ teacher.text.T
    return torch.tensor(cosines).mul(CLIP_SCORE_WEIGHT).clamp(min=0)


def rewarded_cross_entropy(logits: Tensor, scores: Tensor, *, candidates: int) -> Tensor:
    """The mean over views and candidates of reward times cross-entropy; a reward is a score minus its view's mean."""
    logp = logits.log_softmax(dim=-1)
    # Stable, so that classes with equal logits (two of one name) come in their own order.
    chosen = logits.detach().sort(dim=-1, descending=True, stable=True).indices[:, :candidates]  # (kept, candidates)
    score = scores.gather(1, chosen)
    reward = score - score.mean(dim=1, keepdim=True)
    return -(reward * logp.gather(1, chosen)).mean()
