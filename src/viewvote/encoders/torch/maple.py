"""MaPLe: a CLIP model with learned prompt tokens in the first blocks of both towers."""

from collections.abc import Sequence

import numpy as np

from ...arrays import Float32, UInt8
from ...errors import MissingExtraError
from .. import load_encoder
from ..base import LoadOptions
from ..checkpoints.prompts import MaPLePrompts, maple_prompts
from ..checkpoints.state_dict import open_state_dict
from .learned_prompts import TEXT_BATCH, OverClip, split_checkpoint_id
from .tunable import DeepPromptTunable, Snapshot, require_deep_prompt_tunable

try:
    import torch
    from torch import Tensor, nn
    from torch.nn.functional import linear
except ImportError as error:
    raise MissingExtraError.for_extra("torch", what="A MaPLe model") from error

WORDS = "a photo of a"


def load(rest: str, options: LoadOptions) -> "MaPLeEncoder":
    """The model of `CHECKPOINT@MODEL`, for example `model.pth.tar-2@open_clip:ViT-B-16/openai`."""
    path, base_id = split_checkpoint_id(rest, scheme="maple")
    state = open_state_dict(path)  # report a wrong file before the model is fetched
    base = require_deep_prompt_tunable(load_encoder(base_id, options), method="MaPLe")
    prompts = maple_prompts(
        state,
        text_width=base.text_width,
        vision_width=base.vision_width,
        context_length=base.context_length,
        blocks=min(base.text_depth, base.vision_depth),
    )
    return MaPLeEncoder(base, prompts, model_id=f"maple:{rest}")


class MaPLeEncoder(OverClip[DeepPromptTunable]):
    """A PromptLearner: both towers read prompt tokens, the text ones learned, the vision ones projected from them.

    The n_ctx learned tokens take the place of the first words of "a photo of a NAME.": with two of them "of a" stays.
    Before block b = 1 .. depth - 1 they are replaced by compound prompt b - 1; later blocks let them flow on. The
    vision tower gets the projection of the same vectors as tokens behind the patches.
    """

    def __init__(self, base: DeepPromptTunable, prompts: MaPLePrompts, *, model_id: str) -> None:
        super().__init__(base, model_id=model_id, fingerprint=f"maple-{prompts.fingerprint}")
        self.n_ctx, self.depth = prompts.n_ctx, prompts.depth
        self._released = {k: torch.tensor(v, device=base.device) for k, v in prompts.parameters.items()}
        self._parameters = {k: nn.Parameter(v.clone(), requires_grad=False) for k, v in self._released.items()}

    def encode_images(self, views: UInt8) -> Float32:
        """Unit features (views, dim) of the prompted vision tower."""
        return self.image_features(views).cpu().numpy()

    def encode_class_names(self, names: Sequence[str]) -> Float32:
        """Unit features (classes, dim) of the prompted text tower."""
        if not names:
            return np.zeros((0, self.dim), dtype=np.float32)
        with torch.no_grad():
            return self.class_features(names, chunk=TEXT_BATCH).cpu().numpy()

    def class_features(self, names: Sequence[str], *, chunk: int = 64) -> Tensor:
        """Unit float32 features (classes, dim), differentiable; each chunk is recomputed in the backward pass."""
        words = WORDS if self.n_ctx <= len(WORDS.split()) else None  # the authors fall back to "X X X ..." beyond four
        context = self._parameters["ctx"]
        deep = self._compound_prompts()
        return self.base.text_features_from_context(context, names, placeholder=words, deep=deep, chunk=chunk)

    def view_features(self, views: UInt8, *, taps: int = 0) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Unit float32 features (views, dim) and the inputs of the first `taps` vision blocks; see PromptLearner."""
        first, *deep = self._vision_prompts()
        return self.base.image_features_with_prompts(views, first, deep=deep, taps=taps)

    def image_features(self, views: UInt8) -> Tensor:
        """Unit float32 features (views, dim) without gradients, usable inside a graph; `block_views` at a time."""
        if len(views) == 0:
            return torch.zeros((0, self.dim), device=self.device)
        with torch.no_grad():
            block = self.block_views or len(views)
            return torch.cat([self.view_features(views[i : i + block])[0] for i in range(0, len(views), block)])

    def prompt_parameters(self) -> dict[str, nn.Parameter]:
        """The learned tensors by the authors' names without `prompt_learner.`, frozen until someone tunes them."""
        return dict(self._parameters)

    def snapshot_prompts(self) -> Snapshot:
        """A copy of the learned tensors."""
        return {name: parameter.detach().clone() for name, parameter in self._parameters.items()}

    def restore_prompts(self, snapshot: Snapshot | None = None) -> None:
        """Put a snapshot (None: the checkpoint's values) back bit for bit, drop gradients and freeze again."""
        values = self._released if snapshot is None else snapshot
        for name, parameter in self._parameters.items():
            parameter.grad = None
            parameter.requires_grad_(False).copy_(values[name])

    def _compound_prompts(self) -> list[Tensor]:
        return [self._parameters[f"compound_prompts_text.{i}"] for i in range(self.depth - 1)]

    def _vision_prompts(self) -> list[Tensor]:
        """The vision tokens (context, vision width) of blocks 0 .. depth - 1."""
        texts = [self._parameters["ctx"], *self._compound_prompts()]
        names = ["proj", *(f"compound_prompt_projections.{i}" for i in range(self.depth - 1))]
        pairs = zip(texts, names, strict=True)
        return [linear(text, self._parameters[f"{n}.weight"], self._parameters[f"{n}.bias"]) for text, n in pairs]
