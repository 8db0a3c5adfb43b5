"""Encoders that bring learned prompts: what tuning may ask of them, how their ids read, what they share."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, runtime_checkable

from ...arrays import Float32, UInt8
from ...errors import UsageError
from .. import SCHEMES, scheme_entry
from ..base import BaseEncoder, Encoder
from ..text_head import PromptedEncoder
from .tunable import PromptTunable, Snapshot

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Parameter

TEXT_BATCH = 256  # class names per forward pass without gradients


@runtime_checkable
class PromptLearner(Encoder, PromptedEncoder, Protocol):
    """An encoder whose own prompts reach into both towers and may be tuned and put back (TPT on MaPLe, PromptAlign)."""

    def prompt_parameters(self) -> dict[str, "Parameter"]:
        """The learned tensors by name, frozen; who tunes them sets `requires_grad` and calls `restore_prompts`."""
        ...

    def class_features(self, names: Sequence[str], *, chunk: int = 64) -> "Tensor":
        """Unit float32 features (classes, dim), differentiable; each chunk is recomputed in the backward pass."""
        ...

    def view_features(self, views: UInt8, *, taps: int = 0) -> tuple["Tensor", tuple["Tensor", ...]]:
        """Unit float32 features (views, dim) and the inputs (views, tokens, width) of the first `taps` vision blocks.

        A tapped input is taken after its prompts were put in and before the block's first norm. Differentiable; all
        views go in one batch.
        """
        ...

    def snapshot_prompts(self) -> Snapshot:
        """A copy of the learned tensors."""
        ...

    def restore_prompts(self, snapshot: Snapshot | None = None) -> None:
        """Put a snapshot (None: the checkpoint's values) back bit for bit, drop gradients and freeze again."""
        ...


def split_checkpoint_id(rest: str, *, scheme: str) -> tuple[Path, str]:
    """(checkpoint, model id) of "CHECKPOINT@MODEL", split at the last "@" before a scheme: paths may have "@" too."""
    places = [i for i, letter in enumerate(rest) if letter == "@" and rest[i + 1 :].partition(":")[0] in SCHEMES]
    if not places or places[-1] == 0:
        raise UsageError(
            f"model id '{scheme}:{rest}' does not say which checkpoint goes on which model; expected "
            f"{scheme}:CHECKPOINT@MODEL, for example {scheme}:model.pth.tar-2@open_clip:ViT-B-16/openai."
        )
    path, model_id = rest[: places[-1]], rest[places[-1] + 1 :]
    if scheme_entry(model_id.partition(":")[0]).wraps:
        raise UsageError(f"model id '{scheme}:{rest}' puts prompts on prompts; expected a plain CLIP model after '@'.")
    return Path(path).expanduser(), model_id


Base = TypeVar("Base", bound=PromptTunable)


class OverClip(BaseEncoder, Generic[Base]):
    """What CoOp and MaPLe take over from the CLIP model below them.

    `encode_texts` is the plain text tower: the learned prompt goes around class names only.
    """

    def __init__(self, base: Base, *, model_id: str, fingerprint: str) -> None:
        self.base = base
        self.model_id = model_id
        self._fingerprint = fingerprint
        self.image_spec, self.dim, self.device = base.image_spec, base.dim, base.device
        self.logit_scale, self.logit_bias, self.scoring = base.logit_scale, base.logit_bias, base.scoring
        self.block_views = base.block_views

    @property
    def fingerprint(self) -> str:
        """The model's own, and that of the prompt."""
        return f"{self.base.fingerprint}+{self._fingerprint}"

    def encode_texts(self, texts: Sequence[str]) -> Float32:
        """Unit features (texts, dim) of the plain text tower, without the learned prompt."""
        return self.base.encode_texts(texts)
