"""The smallest torch encoder that can be exported."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from tests.encoders.onnx import packs
from viewvote.arrays import Float32, UInt8
from viewvote.encoders.base import BaseEncoder, unit_rows
from viewvote.encoders.export.parts import ExportParts
from viewvote.encoders.onnx.config import PadTo
from viewvote.encoders.onnx.text import PackTokenizer
from viewvote.images.spec import ImageSpec

SIZE, DIM, CONTEXT = 32, 16, 12
WORDS = ["a", "photo", "of", "dog", "cat"]


class Vision(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers = [torch.nn.Conv2d(3, 16, 5, stride=2), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 3, stride=2)]
        self.features = torch.nn.Sequential(*layers, torch.nn.ReLU())
        self.head = torch.nn.Linear(32, DIM)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(pixels).mean(dim=(2, 3)))


class Text(torch.nn.Module):
    """One causal attention layer read at the end token, as CLIP's text tower is."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(len(packs.WORDS), 32)
        self.places = torch.nn.Parameter(torch.randn(CONTEXT, 32))
        self.qkv, self.head = torch.nn.Linear(32, 96), torch.nn.Linear(32, DIM)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        length = ids.shape[1]
        x = self.tokens(ids) + self.places[:length]
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        ahead = torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).triu(1)[:length, :length]
        weights = (query @ key.transpose(1, 2) / 32).masked_fill(ahead, -1e9).softmax(dim=-1)
        return self.head((x + 5 * weights @ value)[torch.arange(ids.shape[0]), ids.eq(2).int().argmax(dim=1)])


class TinyEncoder(BaseEncoder):
    """The smallest torch encoder that can be exported."""

    model_id, fingerprint, dim = "tiny:torch", "tiny", DIM
    logit_scale, logit_bias, scoring = 33.0, -2.0, "sigmoid"
    image_spec = ImageSpec(size=SIZE, interpolation="bilinear", resize="squash")

    def __init__(self, tmp_path: Path, *, pad_to: PadTo = "longest") -> None:
        torch.manual_seed(0)
        self.vision, self.text = Vision().eval(), Text().eval()
        self.pad_to = pad_to
        packs.save_tokenizer(tmp_path / "source-tokenizer.json")
        self.source = tmp_path / "source-tokenizer.json"

    def export_parts(self) -> ExportParts:
        return ExportParts(
            vision=self.vision,
            text=self.text,
            text_inputs=("input_ids",),
            tokenizer_json=self.tokenizer_json(),
            context_length=CONTEXT,
            pad_id=0,
            pad_to=self.pad_to,
        )

    def tokenizer_json(self) -> str:
        return self.source.read_text()

    def encode_images(self, views: UInt8) -> Float32:
        pixels = (views / 255.0 - np.array(self.image_spec.mean)) / np.array(self.image_spec.std)
        with torch.no_grad():
            return unit_rows(self.vision(torch.tensor(pixels, dtype=torch.float32).permute(0, 3, 1, 2)).numpy())

    def encode_texts(self, texts: Sequence[str]) -> Float32:
        tokenizer = PackTokenizer(self.source, context_length=CONTEXT, pad_id=0, pad_to="max")
        with torch.no_grad():
            ids = np.concatenate([tokenizer.encode(text)[0] for text in texts])
            return unit_rows(self.text(torch.from_numpy(ids)).numpy())
