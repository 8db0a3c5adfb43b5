"""The pocket model as a torch module that reads its weights from the pack's ONNX files (no second copy of them)."""

import json
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional

HEADS = 12


class Weights:
    """The tensors of an ONNX file by name, widened to float32; int8 codes are multiplied by their steps."""

    def __init__(self, path: Path) -> None:
        self.graph = onnx.load(path).graph
        self._raw = {tensor.name: tensor for tensor in self.graph.initializer}

    def __contains__(self, name: str) -> bool:
        return name in self._raw

    def get(self, name: str) -> Tensor:
        """One tensor in float32."""
        value = numpy_helper.to_array(self._raw[name]).astype(np.float32)
        if f"{name}.step" in self._raw:
            value = value * numpy_helper.to_array(self._raw[f"{name}.step"])
        return torch.from_numpy(np.array(value))


class Conv(nn.Module):
    """A convolution with explicit, possibly uneven padding, and ReLU6 when asked for."""

    def __init__(self, weights: Weights, name: str, node: onnx.NodeProto, *, relu6: bool) -> None:
        super().__init__()
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        top, left, bottom, right = attributes["pads"]
        self.pads, self.relu6 = (left, right, top, bottom), relu6
        self.stride, self.groups = attributes["strides"][0], attributes["group"]
        self.weight = nn.Parameter(weights.get(f"{name}.weight"))
        self.bias = nn.Parameter(weights.get(f"{name}.bias"))

    def forward(self, x: Tensor) -> Tensor:
        """The convolved map."""
        x = functional.pad(x, self.pads) if any(self.pads) else x
        x = functional.conv2d(x, self.weight, self.bias, stride=self.stride, groups=self.groups)
        return functional.relu6(x) if self.relu6 else x


class ImageTower(nn.Module):
    """EfficientNet-Lite and the projection into the joint space."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        weights = Weights(path)
        nodes = {node.input[2].removesuffix(".bias"): node for node in weights.graph.node if node.op_type == "Conv"}
        self.convs = nn.ModuleDict()
        self.order: list[list[str]] = []  # convolutions by block: stem, blocks..., head
        for name, node in nodes.items():
            key = name.replace(".", "/")
            self.convs[key] = Conv(weights, name, node, relu6=not name.endswith("project"))
            block = name.rsplit(".", 1)[0] if name.startswith("blocks.") else name
            if not self.order or not self.order[-1][0].startswith(block.replace(".", "/") + "/"):
                self.order.append([])
            self.order[-1].append(key)
        self.weight = nn.Parameter(weights.get("project.weight"))  # (1280, dim)
        self.bias = nn.Parameter(weights.get("project.bias"))
        self.share = float(weights.get("share"))
        self.captions = int(weights.get(split_sizes(weights))[1])

    def forward(self, pixels: Tensor) -> Tensor:
        """Unit image vectors of normalised pixels, (batch, dim)."""
        x = pixels
        for keys in self.order:
            y = x
            for key in keys:
                y = self.convs[key](y)
            x = x + y if len(keys) > 1 and y.shape == x.shape else y  # an inverted residual block that keeps its shape
        raw = x.mean((2, 3)) @ self.weight + self.bias
        return join(raw[:, : -self.captions], raw[:, -self.captions :], self.share)


class Layer(nn.Module):
    """One transformer layer, normalised after each half."""

    def __init__(self, weights: Weights, prefix: str) -> None:
        super().__init__()
        self.query, self.key, self.value = (
            linear(weights, f"{prefix}.attention.self.{part}") for part in ("query", "key", "value")
        )
        self.mix, self.mix_norm = (
            linear(weights, f"{prefix}.attention.output.dense"),
            norm(weights, f"{prefix}.attention.output"),
        )
        self.widen, self.narrow = (
            linear(weights, f"{prefix}.intermediate.dense"),
            linear(weights, f"{prefix}.output.dense"),
        )
        self.norm = norm(weights, f"{prefix}.output")

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(batch, length, width) -> the same; `mask` (batch, 1, 1, length) is true on real tokens."""
        batch, length, width = x.shape
        query, key, value = (
            part(x).view(batch, length, HEADS, width // HEADS).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )  # (batch, heads, length, width / heads)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = self.mix_norm(x + self.mix(mixed.transpose(1, 2).reshape(batch, length, width)))
        out: Tensor = self.norm(x + self.narrow(functional.gelu(self.widen(x))))
        return out


class TextTower(nn.Module):
    """The sentence encoder and the kernel head; `embed` and `encode` are apart so that a context can be learned."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        weights = Weights(path)
        self.words = nn.Parameter(weights.get("embeddings.word_embeddings.weight"))
        self.places = nn.Parameter(weights.get("embeddings.position"))
        self.norm = norm(weights, "embeddings")
        layers: list[Layer] = []
        while f"encoder.layer.{len(layers)}.output.dense.bias" in weights:
            layers.append(Layer(weights, f"encoder.layer.{len(layers)}"))
        self.layers = nn.ModuleList(layers)
        self.centres = nn.Parameter(weights.get("head.centres"))  # (384, centres)
        self.mix = nn.Parameter(weights.get("head.mix"))  # (centres, row dim)
        self.skip = nn.Parameter(weights.get("head.skip"))  # (384, caption dim)
        self.shift = nn.Parameter(weights.get("head.shift"))
        self.share = float(weights.get("share"))
        self.gamma = float(weights.get("head.gamma"))

    def embed(self, ids: Tensor) -> Tensor:
        """Word vectors, before positions are added: the place where context vectors go in, (batch, length, width)."""
        return self.words[ids]

    def encode(self, embeddings: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Unit text vectors (batch, dim) and unit sentence vectors (batch, 384) of word or context vectors."""
        x = self.norm(embeddings + self.places[: embeddings.shape[1]])
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :].bool())
        sentence = functional.normalize((x * mask[..., None]).sum(1), dim=-1)
        rows = torch.exp(self.gamma * (sentence @ self.centres - 1)) @ self.mix
        return join(rows, sentence @ self.skip + self.shift, self.share), sentence

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Unit text vectors of token ids."""
        return self.encode(self.embed(ids), mask)[0]


class Pocket(nn.Module):
    """Both towers and the logit scale of a pack folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        settings = json.loads((folder / "viewvote.json").read_text())
        self.image, self.text = ImageTower(folder / "vision.onnx"), TextTower(folder / "text.onnx")
        self.log_scale = nn.Parameter(torch.tensor(settings["scale"]).log())

    def forward(self, pixels: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """Logits, (images, texts)."""
        logits: Tensor = self.log_scale.exp() * self.image(pixels) @ self.text(ids, mask).T
        return logits


def join(rows: Tensor, captions: Tensor, share: float) -> Tensor:
    """Unit vectors of the row part and the shorter caption part side by side."""
    return functional.normalize(
        torch.cat([functional.normalize(rows, dim=-1), share * functional.normalize(captions, dim=-1)], -1), dim=-1
    )


def split_sizes(weights: Weights) -> str:
    """The name of the tensor with the lengths of the two parts of an image vector."""
    return str(next(node.input[1] for node in weights.graph.node if node.op_type == "Split"))


def linear(weights: Weights, name: str) -> nn.Linear:
    """A linear layer from a stored (inputs, outputs) matrix."""
    weight = weights.get(f"{name}.weight").T.contiguous()
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    layer.weight.data, layer.bias.data = weight, weights.get(f"{name}.bias")
    return layer


def norm(weights: Weights, prefix: str) -> nn.LayerNorm:
    """A layer normalisation."""
    gain = weights.get(f"{prefix}.LayerNorm.weight")
    layer = nn.LayerNorm(len(gain), eps=1e-12)
    layer.weight.data, layer.bias.data = gain, weights.get(f"{prefix}.LayerNorm.bias")
    return layer
