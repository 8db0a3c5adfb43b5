"""Any open_clip model, with its own preprocessing, tokenizer, scale and bias."""

from collections.abc import Sequence
from math import exp
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any, cast

from ...errors import CheckpointError, MissingExtraError, ModelNotFoundError, UnsupportedEncoderError
from ...images.spec import ImageSpec, Interpolation, ResizeMode
from ..base import Encoder, LoadOptions

try:
    import open_clip
    import torch
    from huggingface_hub import constants
    from open_clip.model import CLIP
    from open_clip.transformer import TextTransformer, VisionTransformer
    from safetensors import SafetensorError
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtraError.for_extra("torch", what="An open_clip model") from error

from ..hub import PROBED, hub_answers, staying_local
from .class_token import class_token_features, reads_class_token
from .common import TorchEncoder, number, pick_device, pick_dtype
from .open_clip_weights import Source, find_source
from .prompted import ContextEncoder, DeepContextEncoder, replace_positions, through_blocks

if TYPE_CHECKING:
    from ..export.parts import ExportParts


def load(rest: str, options: LoadOptions) -> Encoder:
    """The open_clip model `ARCH/TAG`, `ARCH/FILE`, `local-dir:PATH` or `hf-hub:ORG/REPO`."""
    pick_device(options.device)  # raise before a download, not after it
    pick_dtype(options.dtype)
    source = find_source(rest, options)
    with staying_local(when=_asks_the_hub(source) and (options.offline or not hub_answers(PROBED))):
        model = _create(source, rest)
        tokenizer = _tokenizer(source, options)
    kind = _encoder_class(model)
    if issubclass(kind, ContextEncoder) and not _starts_with_a_start_token(tokenizer):
        kind = OpenClipEncoder
    dim = int(open_clip.get_model_config(source.name)["embed_dim"])
    return kind(model, tokenizer, dim=dim, model_id=f"open_clip:{rest}", options=options)


class OpenClipEncoder(TorchEncoder):
    """An Encoder and VisionTunable over an open_clip model."""

    vision_prefixes = ("visual.",)

    def __init__(self, model: nn.Module, tokenizer: Any, *, dim: int, model_id: str, options: LoadOptions) -> None:
        clip: Any = model
        self.tokenizer = tokenizer
        self._reads_class_token = reads_class_token(clip.visual)
        super().__init__(
            model,
            model_id=model_id,
            image_spec=image_spec(clip.visual.preprocess_cfg, model_id),
            dim=dim,
            context_length=int(tokenizer.context_length),
            logit_scale=exp(number(clip.logit_scale)),
            logit_bias=number(clip.logit_bias),
            scoring="softmax" if clip.logit_bias is None else "sigmoid",
            options=options,
        )

    def token_ids(self, texts: Sequence[str]) -> Tensor:
        """Token ids (texts, context length) as open_clip's own tokenizer gives them, on the CPU."""
        return cast(Tensor, self.tokenizer(list(texts)))

    def export_parts(self) -> "ExportParts":
        """What goes into a pack; see Exportable."""
        from ..export.from_open_clip import open_clip_parts

        return open_clip_parts(self)

    def _forward_images(self, pixels: Tensor) -> Tensor:
        clip: Any = self.model
        return class_token_features(clip.visual, pixels) if self._reads_class_token else clip.encode_image(pixels)

    def _forward_texts(self, texts: list[str]) -> Tensor:
        return cast(Tensor, cast(Any, self.model).encode_text(self.token_ids(texts).to(self.device)))


class PromptedOpenClip(ContextEncoder, OpenClipEncoder):
    """An OpenClipEncoder with a standard causal text transformer, and so PromptTunable."""

    def __init__(self, model: nn.Module, tokenizer: Any, *, dim: int, model_id: str, options: LoadOptions) -> None:
        super().__init__(model, tokenizer, dim=dim, model_id=model_id, options=options)
        self.text: Any = getattr(model, "text", model)  # CLIP keeps the text tower's parts on itself
        self.text_width = int(self.text.token_embedding.embedding_dim)
        self.text_depth = len(self.text.transformer.resblocks)

    def _forward_texts(self, texts: list[str]) -> Tensor:
        tokens = self.token_ids(texts).to(self.device)
        tokens = tokens[:, : int(self._end_positions(tokens).max()) + 1]
        return self._forward_embedded(self._embed_tokens(tokens), tokens, ())

    def _forward_prompts(self, tokens: Tensor, context: Tensor, deep: Sequence[Tensor]) -> Tensor:
        return self._forward_embedded(replace_positions(self._embed_tokens(tokens), context, 1), tokens, deep)

    def _embed_tokens(self, tokens: Tensor) -> Tensor:
        return cast(Tensor, self.text.token_embedding(tokens)).to(self.dtype)

    def _end_positions(self, tokens: Tensor) -> Tensor:
        pool, end = _pooling(self.text)
        return tokens.argmax(dim=-1) if pool == "argmax" else torch.eq(tokens, end).int().argmax(dim=-1)

    def _forward_embedded(self, x: Tensor, tokens: Tensor, deep: Sequence[Tensor]) -> Tensor:
        length = tokens.shape[1]
        mask = self.text.attn_mask[:length, :length]
        x = x + self.text.positional_embedding[:length].to(x.dtype)  # (texts, length, width)
        blocks = self.text.transformer.resblocks
        x, _ = through_blocks(blocks, x, lambda block, x: block(x, attn_mask=mask), deep=deep, start=1)
        x = self.text.ln_final(x)
        x = x[torch.arange(len(x), device=x.device), self._end_positions(tokens)]  # (texts, width)
        projection = self.text.text_projection
        if projection is None:
            return x
        return cast(Tensor, projection(x)) if isinstance(projection, nn.Linear) else x @ projection


class DeepPromptedOpenClip(DeepContextEncoder, PromptedOpenClip):
    """A PromptedOpenClip with a standard vision transformer, and so DeepPromptTunable."""

    def __init__(self, model: nn.Module, tokenizer: Any, *, dim: int, model_id: str, options: LoadOptions) -> None:
        super().__init__(model, tokenizer, dim=dim, model_id=model_id, options=options)
        self.visual = cast(Any, model.visual)
        self.vision_width = int(self.visual.conv1.out_channels)
        self.vision_depth = len(self.visual.transformer.resblocks)

    def _forward_prompted_images(
        self, pixels: Tensor, prompts: Tensor, deep: Sequence[Tensor], taps: int
    ) -> tuple[Tensor, list[Tensor]]:
        patches = self.visual.conv1(pixels).flatten(2).transpose(1, 2)  # (views, patches, width)
        first = self.visual.class_embedding.to(patches.dtype).expand(len(patches), 1, -1)
        x = torch.cat([first, patches], dim=1) + self.visual.positional_embedding.to(patches.dtype)
        start = x.shape[1]
        x = self.visual.ln_pre(torch.cat([x, prompts.to(x.dtype).expand(len(x), -1, -1)], dim=1))
        blocks = self.visual.transformer.resblocks
        x, tapped = through_blocks(blocks, x, lambda block, x: block(x), deep=deep, start=start, taps=taps)
        return self.visual.ln_post(x[:, 0]) @ self.visual.proj, tapped


def image_spec(preprocess: dict[str, Any], model_id: str) -> ImageSpec:
    """The ImageSpec of open_clip's preprocess configuration."""
    size = preprocess["size"]
    height, width = (size, size) if isinstance(size, int) else (size[0], size[-1])
    resize, interpolation = preprocess["resize_mode"], preprocess["interpolation"]
    if height != width or resize not in {"shortest", "squash"}:
        raise UnsupportedEncoderError(
            f"{model_id} wants {height}x{width} images resized by {resize!r}; expected a square and one of: "
            "shortest, squash."
        )
    return ImageSpec(
        size=int(height),
        mean=cast(Any, tuple(float(v) for v in preprocess["mean"])),
        std=cast(Any, tuple(float(v) for v in preprocess["std"])),
        interpolation=cast(Interpolation, "bicubic" if interpolation == "random" else interpolation),
        resize=cast(ResizeMode, resize),
    )


def _create(source: Source, rest: str) -> nn.Module:
    """The model in float32 on the CPU with the source's weights, never with random ones."""
    try:
        return cast(
            nn.Module,
            open_clip.create_model(
                source.name,
                pretrained=source.weights,
                force_quick_gelu=source.quick_gelu,
                force_preprocess_cfg=dict(source.preprocess),
                require_pretrained=True,
                weights_only=True,
            ),
        )
    except OSError as error:
        name = open_clip.get_model_config(source.name)["text_cfg"].get("hf_model_name")
        advice = f" Fetch it where there is a network with: hf download {name} config.json" if name else ""
        reason = str(error).strip().splitlines()[0]
        raise ModelNotFoundError(f"cannot build open_clip:{rest}: {reason}{advice}") from error
    except (RuntimeError, ValueError, KeyError, TypeError, EOFError, UnpicklingError, SafetensorError) as error:
        raise CheckpointError(
            f"the weights of open_clip:{rest} do not fit: {error}. Expected a safetensors file, or a torch file that "
            "holds tensors only, made for this architecture."
        ) from error


def _asks_the_hub(source: Source) -> bool:
    """Whether open_clip looks up a tokenizer or a text tower from transformers, for which it would retry for long."""
    text = open_clip.get_model_config(source.name)["text_cfg"]
    return bool(text.get("hf_model_name") or text.get("hf_tokenizer_name"))


def _tokenizer(source: Source, options: LoadOptions) -> Any:
    config = open_clip.get_model_config(source.name) or {}
    name = config.get("text_cfg", {}).get("hf_tokenizer_name")
    if not name:
        return open_clip.get_tokenizer(source.name)
    offline = options.offline or constants.HF_HUB_OFFLINE
    place = source.tokenizer or source.name
    try:
        return open_clip.get_tokenizer(place, cache_dir=options.cache_dir, local_files_only=offline)
    except (OSError, ValueError) as error:
        raise ModelNotFoundError(
            f"cannot get the tokenizer of {source.name} ({name}). Fetch it where there is a network with: "
            f'hf download {name} --include "*token*"'
        ) from error


def _encoder_class(model: nn.Module) -> type[OpenClipEncoder]:
    """The class whose abilities the model's towers allow."""
    text, visual = getattr(model, "text", model), model.visual
    standard = isinstance(model, CLIP) or (isinstance(text, TextTransformer) and text.cls_emb is None)
    if not standard or text.attn_mask is None or _pooling(text)[0] not in {"argmax", "eos"}:
        return OpenClipEncoder
    if not isinstance(visual, VisionTransformer) or visual.attn_pool is not None or visual.pool_type != "tok":
        return PromptedOpenClip
    return DeepPromptedOpenClip


def _pooling(text: Any) -> tuple[str, int]:
    """How a text tower finds its feature, and the end token's id where it looks for that."""
    if isinstance(text, CLIP):
        return text.text_pool_type, getattr(text, "text_eos_id", 0)
    return text.pool_type, getattr(text, "eos_id", 0)


def _starts_with_a_start_token(tokenizer: Any) -> bool:
    first = tokenizer(["cat", "dog"])[:, 0]
    return bool(first[0] == first[1])
