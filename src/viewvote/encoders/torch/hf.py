"""CLIP, SigLIP, SigLIP 2 and other dual encoders from transformers, with their own processors."""

import inspect
from collections.abc import Sequence
from math import exp
from typing import TYPE_CHECKING, Any, cast

from ...errors import MissingExtraError, UnsupportedEncoderError
from ..base import Encoder, LoadOptions

try:
    import torch
    from torch import Tensor, nn
    from transformers import CLIPModel
except ImportError as error:
    raise MissingExtraError.for_extra("torch", what="A transformers model") from error

from .common import TorchEncoder, number, pick_device, pick_dtype
from .hf_files import Parts, load_parts
from .hf_images import image_spec
from .prompted import DeepContextEncoder, replace_positions, through_blocks

if TYPE_CHECKING:
    from ..export.parts import ExportParts


def load(rest: str, options: LoadOptions) -> Encoder:
    """The transformers model of the hub id or local folder `rest`."""
    pick_device(options.device)  # raise before a download, not after it
    pick_dtype(options.dtype)
    parts = load_parts(rest, options)
    kind = HFEncoder
    if hasattr(parts.model, "get_image_features") and "spatial_shapes" in _arguments(parts.model.get_image_features):
        kind = PatchedHFEncoder
    elif isinstance(parts.model, CLIPModel):
        kind = PromptedHFClip
    return kind(parts, model_id=f"hf:{rest}", options=options)


class HFEncoder(TorchEncoder):
    """An Encoder and VisionTunable over a transformers model with `get_image_features` and `get_text_features`."""

    vision_prefixes = ("vision", "visual", "image")

    def __init__(self, parts: Parts, *, model_id: str, options: LoadOptions) -> None:
        model: Any = parts.model
        self.tokenizer = parts.tokenizer
        # SigLIP was trained on texts in lower case, filled up to the full length, with the padding attended to.
        self.is_siglip = "siglip" in model.config.model_type
        super().__init__(
            model,
            model_id=model_id,
            image_spec=self._image_spec(parts, model_id),
            dim=_dim(model.config),
            context_length=_context_length(model, parts.tokenizer),
            logit_scale=_scale(model, model_id),
            logit_bias=number(getattr(model, "logit_bias", None)),
            scoring="sigmoid" if self.is_siglip else "softmax",
            options=options,
        )

    def token_ids(self, texts: Sequence[str]) -> Tensor:
        """Token ids (texts, length) as the model's own tokenizer gives them, on the CPU."""
        return self._tokens(texts)["input_ids"]

    def export_parts(self) -> "ExportParts":
        """What goes into a pack; see Exportable."""
        from ..export.from_transformers import transformers_parts

        return transformers_parts(self)

    def _tokens(self, texts: Sequence[str]) -> dict[str, Tensor]:
        batch = self.tokenizer(
            [text.lower() for text in texts] if self.is_siglip else list(texts),
            padding="max_length" if self.is_siglip else True,
            truncation=True,
            max_length=self.context_length,
            return_tensors="pt",
        )
        return {"input_ids": batch["input_ids"]} if self.is_siglip else dict(batch)

    def _forward_texts(self, texts: list[str]) -> Tensor:
        tokens = {name: ids.to(self.device) for name, ids in self._tokens(texts).items()}
        return _features(cast(Any, self.model).get_text_features(**tokens))

    def _forward_images(self, pixels: Tensor) -> Tensor:
        return _features(cast(Any, self.model).get_image_features(pixel_values=pixels))

    def _image_spec(self, parts: Parts, model_id: str) -> Any:
        config = getattr(parts.model.config, "vision_config", parts.model.config)
        return image_spec(parts.images, image_size=getattr(config, "image_size", None), model_id=model_id)


class PatchedHFEncoder(HFEncoder):
    """An HFEncoder whose vision tower takes patches and their grid (SigLIP 2 NaFlex); ours is always a square one.

    Differs: NaFlex keeps an image's shape, we squash it into a square as the fixed-size SigLIP models do.
    """

    def export_parts(self) -> "ExportParts":
        """Raise UnsupportedEncoderError: a pack's vision tower takes pixels only."""
        raise UnsupportedEncoderError(
            f"{self.model_id} cannot be exported: its vision tower takes patches and their grid; expected one that "
            "takes pixels."
        )

    def _image_spec(self, parts: Parts, model_id: str) -> Any:
        self.patch = int(parts.images.patch_size)
        self.grid = int(parts.images.max_num_patches**0.5)
        parts.images.size = {"height": self.grid * self.patch, "width": self.grid * self.patch}
        return image_spec(parts.images, image_size=None, model_id=model_id)

    def _forward_images(self, pixels: Tensor) -> Tensor:
        views, grid, patch = len(pixels), self.grid, self.patch
        patches = pixels.view(views, 3, grid, patch, grid, patch).permute(0, 2, 4, 3, 5, 1)  # (.., patch, patch, 3)
        model: Any = self.model
        return _features(
            model.get_image_features(
                pixel_values=patches.reshape(views, grid * grid, -1),
                pixel_attention_mask=torch.ones((views, grid * grid), dtype=torch.int32, device=pixels.device),
                spatial_shapes=torch.full((views, 2), grid, dtype=torch.int64, device=pixels.device),
            )
        )


class PromptedHFClip(DeepContextEncoder, HFEncoder):
    """An HFEncoder over CLIP, and so PromptTunable and DeepPromptTunable."""

    def __init__(self, parts: Parts, *, model_id: str, options: LoadOptions) -> None:
        super().__init__(parts, model_id=model_id, options=options)
        model: Any = self.model
        self.text, self.vision = model.text_model, model.vision_model
        self.text_width = int(model.config.text_config.hidden_size)
        self.text_depth = len(self.text.encoder.layers)
        self.vision_width = int(model.config.vision_config.hidden_size)
        self.vision_depth = len(self.vision.encoder.layers)

    def _embed_tokens(self, tokens: Tensor) -> Tensor:
        return cast(Tensor, self.text.embeddings.token_embedding(tokens))

    def _end_positions(self, tokens: Tensor) -> Tensor:
        end = self.text.eos_token_id
        # Configurations from before transformers 4.31 say 2, and mean the largest id.
        return tokens.argmax(dim=-1) if end == 2 else torch.eq(tokens, end).int().argmax(dim=-1)

    def _forward_prompts(self, tokens: Tensor, context: Tensor, deep: Sequence[Tensor]) -> Tensor:
        length = tokens.shape[1]
        x = replace_positions(self._embed_tokens(tokens), context, 1)
        x = x + self.text.embeddings.position_embedding.weight[:length]  # (texts, length, width)
        mask = torch.full((length, length), torch.finfo(x.dtype).min, dtype=x.dtype, device=x.device).triu(1)
        layers, mask = self.text.encoder.layers, mask[None, None]
        x, _ = through_blocks(layers, x, lambda layer, x: _step(layer, x, mask), deep=deep, start=1)
        x = self.text.final_layer_norm(x)
        x = x[torch.arange(len(x), device=x.device), self._end_positions(tokens)]  # (texts, width)
        return cast(Tensor, cast(Any, self.model).text_projection(x))

    def _forward_prompted_images(
        self, pixels: Tensor, prompts: Tensor, deep: Sequence[Tensor], taps: int
    ) -> tuple[Tensor, list[Tensor]]:
        x = self.vision.embeddings(pixels)  # (views, 1 + patches, width)
        start = x.shape[1]
        x = self.vision.pre_layrnorm(torch.cat([x, prompts.to(x.dtype).expand(len(x), -1, -1)], dim=1))
        layers = self.vision.encoder.layers
        x, tapped = through_blocks(layers, x, lambda layer, x: _step(layer, x, None), deep=deep, start=start, taps=taps)
        return cast(Any, self.model).visual_projection(self.vision.post_layernorm(x[:, 0])), tapped


def _step(layer: nn.Module, x: Tensor, mask: Tensor | None) -> Tensor:
    """One layer; transformers 4 takes the causal mask as an argument of its own and returns a tuple."""
    masks = (None, mask) if "causal_attention_mask" in _arguments(layer.forward) else (mask,)
    out = layer(x, *masks)
    return cast(Tensor, out[0] if isinstance(out, tuple) else out)


def _features(output: Any) -> Tensor:
    """The projected features: transformers 5 returns them as the pooled output of a structure, 4 as they are."""
    return cast(Tensor, output if isinstance(output, Tensor) else output.pooler_output)


def _arguments(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters)


def _scale(model: Any, model_id: str) -> float:
    """The factor on cosines: exp of the learned scale, or one over ALIGN's temperature."""
    if getattr(model, "logit_scale", None) is not None:
        return exp(number(model.logit_scale))
    if getattr(model, "temperature", None) is not None:
        return 1 / number(model.temperature)
    raise UnsupportedEncoderError(f"{model_id} has no logit scale; expected a CLIP-like model.")


def _dim(config: Any) -> int:
    """Length of a feature vector: SigLIP has it at its text tower, the others at the whole model."""
    text = getattr(config, "text_config", config)
    return int(getattr(config, "projection_dim", None) or getattr(text, "projection_size", None) or text.hidden_size)


def _context_length(model: Any, tokenizer: Any) -> int:
    config = getattr(model.config, "text_config", model.config)
    return int(min(getattr(config, "max_position_embeddings", 77), tokenizer.model_max_length))
