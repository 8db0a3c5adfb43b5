"""Tiny real architectures with random weights, written in the upstream's own formats."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import torch
from PIL import Image
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    CLIPConfig,
    CLIPImageProcessor,
    CLIPModel,
    CLIPTokenizer,
    PreTrainedTokenizerFast,
    Siglip2Config,
    Siglip2ImageProcessor,
    Siglip2Model,
    Siglip2Tokenizer,
    SiglipConfig,
    SiglipImageProcessor,
    SiglipModel,
)

from viewvote.arrays import UInt8
from viewvote.images.photo import open_photo
from viewvote.images.spec import ImageSpec
from viewvote.views.crops import View, source_box
from viewvote.views.draw import render_views

torch.set_num_threads(1)  # tiny layers are done before a second thread wakes up

NAMES = ("cat", "dog", "red fox", "sea_lion")
WORDS = ["a", "photo", "of", "the", "cat", "dog", "red", "fox", "sea", "lion", "this", "is", ".", ","]
VISION = {"image_size": 32, "layers": 3, "width": 32, "head_width": 16, "patch_size": 8}
TEXT = {"context_length": 77, "vocab_size": 49408, "width": 24, "heads": 2, "layers": 3}


def write_open_clip(folder: Path, *, seed: int = 0, preprocess: dict[str, Any] | None = None, **changes: Any) -> Path:
    """A folder in open_clip's local-dir format with a tiny CLIP; `changes` go into its configuration."""
    config = {"embed_dim": 16, "vision_cfg": VISION, "text_cfg": TEXT} | changes
    model = build_open_clip(config, seed=seed)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    (folder / "open_clip_config.json").write_text(
        json.dumps({"model_cfg": config, "preprocess_cfg": preprocess or {"mean": [0.4, 0.5, 0.6]}})
    )
    return folder


def build_open_clip(config: dict[str, Any], *, seed: int = 0) -> torch.nn.Module:
    kind = open_clip.CustomTextCLIP if config.get("custom_text") else open_clip.CLIP
    kind = open_clip.CoCa if "multimodal_cfg" in config else kind
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = kind(**{k: v for k, v in config.items() if k != "custom_text"})
        shake(model)
    return model


def write_hf_clip(folder: Path, *, seed: int = 0, crop: int = 32, short_side: int = 32) -> CLIPModel:
    """A folder as CLIPModel.save_pretrained writes it, with CLIP's own tokenizer and an image processor."""
    towers = {"num_hidden_layers": 3, "num_attention_heads": 2, "projection_dim": 16, "hidden_act": "quick_gelu"}
    text = {"hidden_size": 24, "intermediate_size": 96, "eos_token_id": 49407, "bos_token_id": 49406} | towers
    vision = {"hidden_size": 32, "intermediate_size": 128, "image_size": 32, "patch_size": 8} | towers
    model = _built(CLIPModel, CLIPConfig(text_config=text, vision_config=vision, projection_dim=16), seed)
    model.save_pretrained(folder)
    write_clip_tokenizer(folder)
    CLIPImageProcessor(
        size={"shortest_edge": short_side}, crop_size={"height": crop, "width": crop}, image_mean=[0.4, 0.5, 0.6]
    ).save_pretrained(folder)
    return model


def write_clip_tokenizer(folder: Path) -> None:
    """CLIP's own vocabulary, which open_clip ships, as a transformers tokenizer."""
    simple = open_clip.SimpleTokenizer()
    merges = [pair for pair, _ in sorted(simple.bpe_ranks.items(), key=lambda item: item[1])]
    names = {"<start_of_text>": "<|startoftext|>", "<end_of_text>": "<|endoftext|>"}
    vocab = {names.get(token, token): i for token, i in simple.encoder.items()}
    CLIPTokenizer(vocab=vocab, merges=merges, model_max_length=77).save_pretrained(folder)


def write_siglip(folder: Path, *, seed: int = 0) -> SiglipModel:
    """A folder as SiglipModel.save_pretrained writes it."""
    config = SiglipConfig(text_config=_siglip_text(), vision_config=_siglip_vision() | {"image_size": 32})
    model = _built(SiglipModel, config, seed)
    model.save_pretrained(folder)
    write_siglip_tokenizer(folder)
    SiglipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    return model


def write_siglip2(folder: Path, *, seed: int = 0) -> Siglip2Model:
    """A folder as Siglip2Model.save_pretrained writes it: the NaFlex kind that takes patches."""
    config = Siglip2Config(text_config=_siglip_text(), vision_config=_siglip_vision() | {"num_patches": 16})
    model = _built(Siglip2Model, config, seed)
    model.save_pretrained(folder)
    letters = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁", *"abcdefghijklmnopqrstuvwxyz._"]
    Siglip2Tokenizer(
        vocab={letter: i for i, letter in enumerate(letters)},
        model_max_length=64,
        model_input_names=["input_ids"],
        padding_side="right",
    ).save_pretrained(folder)
    Siglip2ImageProcessor(patch_size=8, max_num_patches=16).save_pretrained(folder)
    return model


def write_siglip_tokenizer(folder: Path) -> None:
    """A word tokenizer with SigLIP's manners: lower case, an end token, the end token as padding, no mask."""
    words = {word: i for i, word in enumerate(["<unk>", "</s>", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        eos_token="</s>",
        pad_token="</s>",
        model_max_length=64,
        model_input_names=["input_ids"],
        padding_side="right",
    ).save_pretrained(folder)


def shake(model: torch.nn.Module, *, noise: float = 0.1) -> None:
    """Add noise to the initial weights, many of them zeros and ones, so that none can be forgotten unnoticed."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not name.startswith("logit_"):
                parameter.add_(noise * torch.randn_like(parameter))


def picture(width: int = 60, height: int = 44, *, seed: int = 0) -> Image.Image:
    """A smooth random picture."""
    small = np.random.default_rng(seed).integers(0, 256, (5, 6, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def source_view(image: Image.Image, spec: ImageSpec) -> UInt8:
    """The source view (1, size, size, 3) as the package draws it."""
    photo = open_photo(image)
    view = View(source_box(photo.size, spec), flip=False, source=True)
    return render_views(photo, [view], spec, exact=True)


def naive_source_view(image: Image.Image, spec: ImageSpec) -> UInt8:
    """The source view in the two steps that upstreams take: resize, then crop."""
    resample = Image.Resampling[spec.interpolation.upper()]
    if spec.resize == "squash":
        return np.asarray(image.resize((spec.size, spec.size), resample))[None]
    width, height = image.size
    short = min(width, height)
    resized = image.resize((int(spec.short_side * width / short), int(spec.short_side * height / short)), resample)
    left, top = round((resized.width - spec.size) / 2), round((resized.height - spec.size) / 2)
    return np.asarray(resized.crop((left, top, left + spec.size, top + spec.size)))[None]


def _siglip_text() -> dict[str, Any]:
    size = {"hidden_size": 24, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    ids = {"vocab_size": 64, "bos_token_id": 2, "eos_token_id": 1, "pad_token_id": 1}
    return size | ids | {"max_position_embeddings": 64, "projection_size": 24}


def _siglip_vision() -> dict[str, Any]:
    size = {"hidden_size": 24, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    return size | {"patch_size": 8}


def _built(kind: Any, config: Any, seed: int) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = kind(config).eval()
        siglip = hasattr(model, "logit_bias")
        shake(model, noise=0.5 if siglip else 0.1)  # its last token sees little of the others at first
        if siglip:  # both start at zero; SigLIP ends near 117 and -13
            with torch.no_grad():
                model.logit_scale.fill_(2.3)
                model.logit_bias.fill_(-1.5)
    return model
