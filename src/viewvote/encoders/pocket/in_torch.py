"""The pocket model in torch, read from the same files: for methods that tune contexts or weights."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from ...errors import MissingExtraError, UnsupportedEncoderError
from ..base import LoadOptions
from ..onnx.config import FILE, read_config
from ..onnx.text import PackTokenizer
from .pack import pocket_dir

try:
    import torch
    from torch import Tensor

    from ..torch.prompted import ContextEncoder, replace_positions
    from .module import Pocket
except ImportError as error:
    raise MissingExtraError.for_extra("torch", what="The pocket model in torch") from error


def load(rest: str, options: LoadOptions) -> "PocketTorchEncoder":
    """The pocket model as a torch encoder; `rest` may name the folder of another pack of its make."""
    folder = Path(rest).expanduser() if rest else pocket_dir()
    return PocketTorchEncoder(folder, model_id=f"pocket-torch:{rest}" if rest else "pocket-torch", options=options)


class PocketTorchEncoder(ContextEncoder):
    """A PromptTunable and VisionTunable over the pocket model's own weights.

    Its text tower is not causal and averages over the real tokens, so a prompt's feature does not depend on padding.
    """

    vision_prefixes = ("image.",)

    def __init__(self, folder: Path, *, model_id: str, options: LoadOptions) -> None:
        config = read_config(folder / FILE)
        self._pad = config.pad_id
        self.scripts = config.scripts
        self._tokenizer = PackTokenizer(
            folder / "tokenizer.json", context_length=config.context_length, pad_id=config.pad_id, pad_to=config.pad_to
        )
        super().__init__(
            Pocket(folder),
            model_id=model_id,
            image_spec=config.image,
            dim=config.dim,
            context_length=config.context_length,
            logit_scale=config.scale,
            logit_bias=config.bias,
            scoring=config.scoring,
            options=options,
        )
        self.text_width = int(self._pocket.text.words.shape[1])

    @property
    def _pocket(self) -> Pocket:
        return cast(Pocket, self.model)

    def token_ids(self, texts: Sequence[str]) -> Tensor:
        """Token ids (texts, length of the longest), on the CPU."""
        rows = [torch.from_numpy(self._tokenizer.encode(text)[0][0]) for text in texts]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self._pad)

    def _forward_images(self, pixels: Tensor) -> Tensor:
        return cast(Tensor, self._pocket.image(pixels))

    def _forward_texts(self, texts: list[str]) -> Tensor:
        tokens = self.token_ids(texts).to(self.device)
        return self._pocket.text.encode(self._embed_tokens(tokens), self._mask(tokens))[0]

    def _embed_tokens(self, tokens: Tensor) -> Tensor:
        return self._pocket.text.embed(tokens)

    def _end_positions(self, tokens: Tensor) -> Tensor:
        return self._mask(tokens).sum(dim=-1) - 1

    def _forward_prompts(self, tokens: Tensor, context: Tensor, deep: Sequence[Tensor]) -> Tensor:
        if deep:
            raise UnsupportedEncoderError(f"{self.model_id} takes no prompts inside its blocks; use a CLIP model.")
        embeddings = replace_positions(self._embed_tokens(tokens), context, 1)
        return self._pocket.text.encode(embeddings, self._mask(tokens))[0]

    def _mask(self, tokens: Tensor) -> Tensor:
        return tokens.ne(self._pad).to(torch.int64)
