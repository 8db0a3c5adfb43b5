"""CoOp: a CLIP model whose prompts start with learned context vectors instead of "a photo of a"."""

from collections.abc import Sequence

import numpy as np

from ...arrays import Float32, UInt8
from ...errors import MissingExtraError
from .. import load_encoder
from ..base import LoadOptions
from ..checkpoints.prompts import CoOpPrompt, coop_prompt
from ..checkpoints.state_dict import open_state_dict
from .learned_prompts import TEXT_BATCH, OverClip, split_checkpoint_id
from .tunable import PromptTunable, require_prompt_tunable

try:
    import torch
    from torch import Tensor
except ImportError as error:
    raise MissingExtraError.for_extra("torch", what="A CoOp model") from error


def load(rest: str, options: LoadOptions) -> "CoOpEncoder":
    """The model of `CHECKPOINT@MODEL`, for example `model.pth.tar-50@open_clip:ViT-B-16/openai`."""
    path, base_id = split_checkpoint_id(rest, scheme="coop")
    state = open_state_dict(path)  # report a wrong file before the model is fetched
    base = require_prompt_tunable(load_encoder(base_id, options), method="CoOp")
    prompt = coop_prompt(state, text_width=base.text_width, context_length=base.context_length)
    return CoOpEncoder(base, prompt, model_id=f"coop:{rest}")


class CoOpEncoder(OverClip[PromptTunable]):
    """A PromptedEncoder and PromptTunable: the prompt of a class is [start] context name . [end]."""

    def __init__(self, base: PromptTunable, prompt: CoOpPrompt, *, model_id: str) -> None:
        super().__init__(base, model_id=model_id, fingerprint=f"coop-{prompt.fingerprint}")
        self.context = torch.tensor(prompt.context, device=base.device)  # (context, width)

    @property
    def context_length(self) -> int:
        """Number of token positions of the text tower."""
        return self.base.context_length

    @property
    def text_width(self) -> int:
        """Length of a context vector."""
        return self.base.text_width

    def encode_images(self, views: UInt8) -> Float32:
        """Unit features (views, dim): CoOp leaves the vision tower as it is."""
        return self.base.encode_images(views)

    def encode_class_names(self, names: Sequence[str]) -> Float32:
        """Unit features (classes, dim) of the learned context in front of each name."""
        if not names:
            return np.zeros((0, self.dim), dtype=np.float32)
        with torch.no_grad():
            return self.base.text_features_from_context(self.context, names, chunk=TEXT_BATCH).cpu().numpy()

    def initial_context(self, words: str) -> Tensor:
        """A copy of the learned context (context, width), whatever the words: tuning on CoOp starts from CoOp."""
        del words
        return self.context.clone()

    def text_features_from_context(
        self,
        context: Tensor,
        class_names: Sequence[str],
        *,
        placeholder: str | None = None,
        deep: Sequence[Tensor] = (),
        chunk: int = 64,
    ) -> Tensor:
        """Unit float32 features (classes, dim), differentiable in `context` and `deep`; see PromptTunable."""
        return self.base.text_features_from_context(
            context, class_names, placeholder=placeholder, deep=deep, chunk=chunk
        )

    def image_features(self, views: UInt8) -> Tensor:
        """Unit float32 features (views, dim) without gradients, usable inside a graph."""
        return self.base.image_features(views)
