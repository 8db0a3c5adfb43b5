"""PromptAlign: TPT on MaPLe, with the tokens of the kept views pulled to source statistics (Hassan et al., 2023)."""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from ...arrays import Int64
from ...encoders import Encoder
from ...encoders.torch.learned_prompts import PromptLearner
from ...errors import MissingExtraError, UnsupportedEncoderError, UsageError
from ...registry import unknown_name
from ..base import Decision
from .episode import Episode, TuningMethod
from .steps import Loss, Recipe, marginal_entropy, tune
from .students import prompt_student
from .token_statistics import TokenStatistics, load_statistics

try:
    import torch
    from torch import Tensor
except ImportError as error:
    raise MissingExtraError.for_extra("torch", what="Test-time tuning") from error

Compat = Literal["code", "paper"]


@dataclass(frozen=True)
class PromptAlign(TuningMethod):
    """One AdamW step on p-bar's entropy plus the distance to the source statistics, over the same kept views.

    statistics       the source statistics, a safetensors file of ours, or a folder with the authors' two files
    compat           "code", what the authors' numbers come from: the mean absolute differences of mean and variance,
                     half each, over the first layers - 1 blocks (an off-by-one), still divided by layers.
                     "paper": the sums of absolute differences (L1 norms) over the first `layers` blocks
    align_weight     the weight of the alignment before it is divided by `layers`
    lr               4e-2, the authors' value for ImageNet's variants; theirs for fine-grained sets is 5e-4
    chunk            classes whose text features are computed, and recomputed for the gradient, at a time
    record_marginal  keep p-bar of the kept views before and after tuning
    """

    statistics: TokenStatistics | Path | str | None = field(default=None)
    compat: Compat = "code"
    keep: float = 0.1
    lr: float = 4e-2
    weight_decay: float = 0.01
    steps: int = 1
    align_weight: float = 100.0
    layers: int = 3
    chunk: int = 64
    record_marginal: bool = False

    name = "promptalign"

    @property
    def fingerprint(self) -> str:
        """Of the statistics: what decides the answers besides the model and the hyper-parameters."""
        return self._statistics().fingerprint

    def check(self, encoder: Encoder, teacher: Encoder | None) -> None:
        """An error where the encoder has no learned prompts, or the statistics are missing or of another model."""
        del teacher
        if self.compat not in get_args(Compat):
            raise unknown_name("compat", self.compat, get_args(Compat))
        if self.layers < 1:
            raise UsageError(f"layers must be at least 1; got {self.layers}.")
        self._recipe()
        learner = _learner(encoder)
        self._statistics().check_fits(learner, blocks=self._blocks)

    def adapt(self, episode: Episode) -> Decision:
        """The source view's answer after tuning every prompt of both towers."""
        statistics = self._statistics()
        with prompt_student(_learner(episode.encoder), episode, chunk=self.chunk) as student:
            means, variances = (
                torch.tensor(rows[: self._blocks], device=student.features.device)
                for rows in (statistics.means, statistics.variances)
            )
            return tune(student, self._recipe(), loss_on=lambda kept: self._loss(kept, means, variances))

    @property
    def _blocks(self) -> int:
        """How many blocks are aligned: all layers in the paper, one fewer in the code."""
        return self.layers if self.compat == "paper" else self.layers - 1

    def _recipe(self) -> Recipe:
        return Recipe(
            self.keep, self.lr, self.weight_decay, self.steps, taps=self._blocks, record_marginal=self.record_marginal
        )

    def _statistics(self) -> TokenStatistics:
        if isinstance(self.statistics, TokenStatistics):
            return self.statistics
        if self.statistics is None:
            raise UsageError(
                "promptalign pulls tokens to source statistics and has none: its setting statistics is a file, "
                "or a folder with the authors' ImgNetpre_vis_means.pt and ImgNetpre_vis_vars.pt."
            )
        return _loaded(Path(self.statistics))

    def _loss(self, kept: Int64, means: Tensor, variances: Tensor) -> Loss:
        del kept
        weight = self.align_weight / self.layers

        def loss(logits: Tensor, taps: tuple[Tensor, ...]) -> Tensor:
            return marginal_entropy(logits) + weight * alignment(taps, means, variances, compat=self.compat)

        return loss


def alignment(taps: tuple[Tensor, ...], means: Tensor, variances: Tensor, *, compat: Compat) -> Tensor:
    """How far the token statistics of block inputs `taps`, each (kept, tokens, width), are from the source's."""
    total = means.new_zeros(())
    for x, source_mean, source_variance in zip(taps, means, variances, strict=True):
        mean = x.float().mean(dim=0)  # (tokens, width), over the kept views
        variance = ((x.float() - mean) ** 2).mean(dim=0)
        apart = (mean - source_mean).abs(), (variance - source_variance).abs()
        if compat == "code":
            total = total + 0.5 * apart[0].mean() + 0.5 * apart[1].mean()
        else:
            total = total + apart[0].sum() + apart[1].sum()
    return total


def _learner(encoder: Encoder) -> PromptLearner:
    if isinstance(encoder, PromptLearner):
        return encoder
    raise UnsupportedEncoderError(
        f"promptalign tunes the prompts of a MaPLe model, which {encoder.model_id!r} has none of. Use a MaPLe "
        "checkpoint on a CLIP model, such as maple:model.pth.tar-2@open_clip:ViT-B-16/openai."
    )


@lru_cache(maxsize=1)
def _loaded(path: Path) -> TokenStatistics:
    return load_statistics(path)
