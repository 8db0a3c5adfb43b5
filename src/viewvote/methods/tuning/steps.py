"""What all tuning methods do: keep the confident views, take a few AdamW steps on them, answer from the source view."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Float32, Int64
from ...checks import checked_keep
from ...errors import MissingExtraError, UsageError
from ...vote import RankedViews, checked_logits, log_softmax
from ..base import Decision, probability_decision
from .students import Student

try:
    import torch
    from torch import Tensor
except ImportError as error:
    raise MissingExtraError.for_extra("torch", what="Test-time tuning") from error

Loss = Callable[[Tensor, tuple[Tensor, ...]], Tensor]
"""The loss of logits (kept, classes) and of tapped block inputs, each (kept, tokens, width)."""


@dataclass(frozen=True)
class Recipe:
    """How far to tune: the share of views kept, and AdamW's settings (its other ones are torch's defaults)."""

    keep: float
    lr: float
    weight_decay: float
    steps: int
    taps: int = 0
    record_marginal: bool = False

    def __post_init__(self) -> None:
        checked_keep(self.keep)
        if self.steps < 1 or self.lr <= 0 or self.weight_decay < 0:
            raise UsageError(
                f"tuning needs at least one step, lr above 0 and weight_decay of at least 0; got steps={self.steps}, "
                f"lr={self.lr}, weight_decay={self.weight_decay}."
            )


def tune(student: Student, recipe: Recipe, *, loss_on: Callable[[Int64], Loss]) -> Decision:
    """The source view's answer after tuning; `loss_on` gives the loss of the kept views, most confident first.

    The views are chosen once, by the untuned model. The optimiser is new for every image, so its state is empty.
    """
    text = student.text()
    untuned = RankedViews(_numbers(student.logits(student.features, text)))
    kept = untuned.most_confident(recipe.keep)
    notes = _descend(student, recipe, text, kept, loss_on(kept))
    with torch.no_grad():
        text = student.text()
        source = _numbers(student.logits(student.views(np.zeros(1, dtype=np.int64), 0)[0], text))
        decision = probability_decision(untuned, np.exp(log_softmax(source[0])), kept=kept)
        if not recipe.record_marginal:
            return replace(decision, notes=notes)
        after = log_softmax(_numbers(student.logits(student.views(kept, 0)[0], text)))
        return replace(decision, notes=notes, marginal_before=_p_bar(untuned.logp[kept]), marginal_after=_p_bar(after))


def _descend(student: Student, recipe: Recipe, text: Tensor, kept: Int64, loss_of: Loss) -> tuple[str, ...]:
    """Takes the steps, the first one with `text` as it is, and returns notes about them."""
    optimizer = torch.optim.AdamW(student.parameters, lr=recipe.lr, weight_decay=recipe.weight_decay)
    for step in range(recipe.steps):
        text = text if step == 0 else student.text()
        views, taps = student.views(kept, recipe.taps)
        optimizer.zero_grad()
        loss_of(student.logits(views, text), taps).backward()  # type: ignore[no-untyped-call]
        if not _finite(student.parameters):
            # The parameters stay, so every later step would meet the same gradient.
            later = " and later" if step + 1 < recipe.steps else ""
            return (f"step {step + 1} of {recipe.steps}{later} skipped: non-finite gradient",)
        optimizer.step()
    return ()


def marginal_entropy(logits: Tensor) -> Tensor:
    """The entropy in nats of p-bar over the views (Sec. 2), from log-probabilities, so that it is finite."""
    logp = logits.log_softmax(dim=-1)
    p_bar = torch.logsumexp(logp, dim=0) - float(np.log(len(logp)))  # (classes,)
    p_bar = p_bar.clamp(min=torch.finfo(p_bar.dtype).min)
    return -(p_bar.exp() * p_bar).sum()


def agreement(kept: Int64) -> Loss:
    """The loss of marginal entropy minimisation alone."""
    del kept
    return lambda logits, _: marginal_entropy(logits)


def _finite(parameters: Sequence[Tensor]) -> bool:
    return all(bool(p.grad.isfinite().all()) for p in parameters if p.grad is not None)


def _numbers(logits: Tensor) -> Float32:
    """The logits in numpy; a NaN or infinity is an error that names the view."""
    return checked_logits(logits.detach().float().cpu().numpy())


def _p_bar(logp: Float32) -> Float32:
    p_bar: Float32 = np.exp(logp).mean(axis=0)
    return p_bar
