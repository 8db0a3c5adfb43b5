"""TPT: prompts tuned until the confident views agree, by marginal entropy minimisation (Shu et al., 2022)."""

from dataclasses import dataclass

from ...encoders import Encoder
from ...encoders.torch.learned_prompts import PromptLearner
from ...encoders.torch.tunable import require_prompt_tunable
from ..base import Decision
from .episode import Episode, TuningMethod
from .steps import Recipe, agreement, tune
from .students import context_student, prompt_student

CONTEXT_LR = 5e-3
MAPLE_LR = 4e-2


@dataclass(frozen=True)
class Tpt(TuningMethod):
    """One AdamW step on p-bar's entropy over the kept views, then the source view answers; defaults of its authors.

    A prompt is the tuned vectors and a class name, so templates do not apply.

    words            what the context vectors start from; with a CoOp model they start from CoOp's
    lr               None is 5e-3 for context vectors, and 4e-2 for all prompts of a MaPLe model, the value with which
                     PromptAlign's authors ran TPT on it
    chunk            classes whose text features are computed, and recomputed for the gradient, at a time
    record_marginal  keep p-bar of the kept views before and after tuning
    """

    keep: float = 0.1
    lr: float | None = None
    weight_decay: float = 0.01
    steps: int = 1
    words: str = "a photo of a"
    chunk: int = 64
    record_marginal: bool = False

    name = "tpt"

    def check(self, encoder: Encoder, teacher: Encoder | None) -> None:
        """An error where the encoder takes no context vectors and has no learned prompts."""
        del teacher
        self._recipe(1.0)
        if not isinstance(encoder, PromptLearner):
            require_prompt_tunable(encoder, method=self.name)

    def adapt(self, episode: Episode) -> Decision:
        """The source view's answer after tuning the prompts."""
        encoder = episode.encoder
        if isinstance(encoder, PromptLearner):
            with prompt_student(encoder, episode, chunk=self.chunk) as student:
                return tune(student, self._recipe(MAPLE_LR), loss_on=agreement)
        encoder = require_prompt_tunable(encoder, method=self.name)
        with context_student(encoder, episode, words=self.words, chunk=self.chunk) as student:
            return tune(student, self._recipe(CONTEXT_LR), loss_on=agreement)

    def _recipe(self, lr: float) -> Recipe:
        lr = lr if self.lr is None else self.lr
        return Recipe(self.keep, lr, self.weight_decay, self.steps, record_marginal=self.record_marginal)
