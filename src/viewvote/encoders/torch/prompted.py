"""Context vectors in place of a prompt's first words, for text towers made of causal transformer blocks."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from ...arrays import UInt8
from ...errors import UsageError
from .common import TorchEncoder, unit


class ContextEncoder(TorchEncoder):
    """A TorchEncoder that is also PromptTunable.

    The tower is causal and reads its feature at the end token, so positions behind the longest prompt of a chunk change
    nothing and are cut off: "a photo of a cat." costs 8 positions instead of 77.
    """

    text_width: int
    _last_prompts: tuple[tuple[tuple[str, ...], str, int], Tensor] | None = None

    @abstractmethod
    def _embed_tokens(self, tokens: Tensor) -> Tensor:
        """Embeddings (texts, length, width) without positions."""

    @abstractmethod
    def _end_positions(self, tokens: Tensor) -> Tensor:
        """The end token's position (texts,): where the feature is read."""

    @abstractmethod
    def _forward_prompts(self, tokens: Tensor, context: Tensor, deep: Sequence[Tensor]) -> Tensor:
        """Raw features (texts, dim) with positions 1.. replaced by `context` and, before block b, by `deep[b - 1]`."""

    def initial_context(self, words: str) -> Tensor:
        """Token embeddings (context, width) of `words` in float32: the usual place to start from."""
        tokens = self.token_ids([words]).to(self.device)
        end = int(self._end_positions(tokens))
        if end < 2:
            raise UsageError(f"the initial context {words!r} has no words; expected something like 'a photo of a'.")
        with torch.no_grad():
            return self._embed_tokens(tokens)[0, 1:end].float().clone()

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
        self._check_prompts([context, *deep])
        words = " ".join(["X"] * len(context)) if placeholder is None else placeholder
        tokens = self._prompt_tokens(tuple(class_names), words, len(context))
        tuned = torch.is_grad_enabled() and any(p.requires_grad for p in (context, *deep))
        features = []
        for start in range(0, len(tokens), chunk):
            rows = tokens[start : start + chunk]
            rows = rows[:, : int(self._end_positions(rows).max()) + 1]  # (chunk, length of the longest prompt)
            if tuned:
                raw = checkpoint(self._forward_prompts, rows, context, tuple(deep), use_reentrant=False)
            else:
                raw = self._forward_prompts(rows, context, tuple(deep))
            features.append(unit(raw))
        return torch.cat(features)

    def _check_prompts(self, prompts: Sequence[Tensor]) -> None:
        expected = (len(prompts[0]), self.text_width)
        for prompt in prompts:
            if prompt.shape != expected or not len(prompt):
                raise UsageError(
                    f"{self.model_id} expects contexts of shape (context, {self.text_width}), all with equally many "
                    f"rows; got {[tuple(p.shape) for p in prompts]}."
                )

    def _prompt_tokens(self, class_names: tuple[str, ...], words: str, rows: int) -> Tensor:
        """Token ids (classes, length) of "words name." on the device; those of the last call are kept."""
        key = (class_names, words, rows)
        if self._last_prompts is None or self._last_prompts[0] != key:
            found = int(self._end_positions(self.token_ids([words]))) - 1
            if found < rows:
                raise UsageError(
                    f"the placeholder {words!r} has {found} tokens, fewer than the context's {rows} rows; "
                    f"expected at least as many and at most {self.context_length - 2}."
                )
            names = [f"{words} {name.replace('_', ' ')}." for name in class_names]
            self._last_prompts = (key, self.token_ids(names).to(self.device))
        return self._last_prompts[1]


class DeepContextEncoder(ContextEncoder):
    """A ContextEncoder that is also DeepPromptTunable: its vision transformer reads the class token."""

    text_depth: int
    vision_depth: int
    vision_width: int

    @abstractmethod
    def _forward_prompted_images(
        self, pixels: Tensor, prompts: Tensor, deep: Sequence[Tensor], taps: int
    ) -> tuple[Tensor, list[Tensor]]:
        """Raw features (views, dim) and the inputs (views, tokens, width) of the first `taps` blocks."""

    def image_features_with_prompts(
        self, views: UInt8, prompts: Tensor, *, deep: Sequence[Tensor] = (), taps: int = 0
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Unit float32 features (views, dim) and tapped block inputs; see DeepPromptTunable."""
        if prompts.shape[1:] != (self.vision_width,) or any(p.shape != prompts.shape for p in deep):
            raise UsageError(
                f"{self.model_id} expects vision prompts of shape (context, {self.vision_width}); "
                f"got {[tuple(p.shape) for p in (prompts, *deep)]}."
            )
        raw, tapped = self._forward_prompted_images(self.pixels(views), prompts, tuple(deep), taps)
        return unit(raw), tuple(tapped)


def through_blocks(
    blocks: Iterable[nn.Module],
    x: Tensor,
    step: Callable[[nn.Module, Tensor], Tensor],
    *,
    deep: Sequence[Tensor],
    start: int,
    taps: int = 0,
) -> tuple[Tensor, list[Tensor]]:
    """`x` after all blocks, and the inputs of the first `taps`; `deep[b - 1]` is put at `start` before block b."""
    tapped: list[Tensor] = []
    for b, block in enumerate(blocks):
        if 1 <= b <= len(deep):
            x = replace_positions(x, deep[b - 1], start)
        if b < taps:
            tapped.append(x)
        x = step(block, x)
    return x, tapped


def replace_positions(x: Tensor, prompts: Tensor, start: int) -> Tensor:
    """`x` (batch, length, width) with positions start, start + 1, ... replaced by the rows of `prompts`."""
    rows = prompts.to(x.dtype).expand(len(x), -1, -1)
    return torch.cat([x[:, :start], rows, x[:, start + len(prompts) :]], dim=1)
