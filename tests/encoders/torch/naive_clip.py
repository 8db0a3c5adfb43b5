"""A slow float64 CLIP in numpy, and the tiny real open_clip model whose weights it reads."""

from pathlib import Path

import numpy as np
from open_clip.tokenizer import SimpleTokenizer
from safetensors.torch import load_file

from tests.encoders.torch.tiny_torch import write_open_clip

TEXT, VISION, DIM = 16, 24, 12
SIZE, PATCH, HEADS = 16, 8, 2
BLOCKS = 10
MEAN, STD = (0.48, 0.46, 0.41), (0.27, 0.26, 0.28)
VISION_TOWER = {
    "image_size": SIZE,
    "patch_size": PATCH,
    "width": VISION,
    "head_width": VISION // HEADS,
    "layers": BLOCKS,
}
RESNET = {"image_size": 32, "width": 8, "head_width": 16, "layers": [1, 1, 1, 1]}


def save_tiny(folder: Path, vision: dict | None = None) -> Path:
    """An open_clip folder with random weights and the activation of OpenAI's models."""
    return write_open_clip(
        folder,
        preprocess={"size": SIZE, "mean": MEAN, "std": STD},
        embed_dim=DIM,
        quick_gelu=True,
        vision_cfg=vision or VISION_TOWER,
        text_cfg={"context_length": 77, "vocab_size": 49408, "width": TEXT, "heads": HEADS, "layers": BLOCKS},
    )


class NaiveClip:
    """CLIP and MaPLe written from their description: one text or image at a time, one head at a time, in float64."""

    def __init__(self, folder: Path) -> None:
        weights = load_file(folder / "open_clip_model.safetensors")
        self.w = {name: value.double().numpy() for name, value in weights.items()}
        self.tokens = SimpleTokenizer()

    def text(self, prompt: str, context=(), deep=()) -> np.ndarray:
        """The unit feature of a prompt whose tokens 1.. are `context`, and before block b `deep[b - 1]`."""
        ids = self.tokens([prompt])[0].numpy()
        x = self.w["token_embedding.weight"][ids].copy()
        for i, vector in enumerate(context):
            x[1 + i] = vector
        x = x + self.w["positional_embedding"]
        for b in range(BLOCKS):
            if 1 <= b <= len(deep):
                for i, vector in enumerate(deep[b - 1]):
                    x[1 + i] = vector
            x = self._block(x, f"transformer.resblocks.{b}.", causal=True)
        x = self._norm(x, "ln_final.")
        feature = x[int(np.argmax(ids))] @ self.w["text_projection"]
        return feature / np.sqrt(np.sum(feature**2))

    def image(self, view: np.ndarray, prompts=None, deep=()) -> tuple[np.ndarray, list[np.ndarray]]:
        """The unit feature of a uint8 view, and the input of every block."""
        pixels = (view / 255.0 - np.array(MEAN)) / np.array(STD)
        x = [self.w["visual.class_embedding"]]
        for top in range(0, SIZE, PATCH):
            for left in range(0, SIZE, PATCH):
                patch = pixels[top : top + PATCH, left : left + PATCH].transpose(2, 0, 1)
                x.append(np.array([np.sum(kernel * patch) for kernel in self.w["visual.conv1.weight"]]))
        x = np.array(x) + self.w["visual.positional_embedding"]
        if prompts is not None:
            x = np.concatenate([x, prompts])
        x = self._norm(x, "visual.ln_pre.")
        inputs = []
        for b in range(BLOCKS):
            if 1 <= b <= len(deep):
                x = np.concatenate([x[: -len(deep[b - 1])], deep[b - 1]])
            inputs.append(x)
            x = self._block(x, f"visual.transformer.resblocks.{b}.", causal=False)
        feature = self._norm(x[:1], "visual.ln_post.")[0] @ self.w["visual.proj"]
        return feature / np.sqrt(np.sum(feature**2)), inputs

    def _block(self, x: np.ndarray, name: str, *, causal: bool) -> np.ndarray:
        x = x + self._attention(self._norm(x, f"{name}ln_1."), f"{name}attn.", causal=causal)
        hidden = self._norm(x, f"{name}ln_2.") @ self.w[f"{name}mlp.c_fc.weight"].T + self.w[f"{name}mlp.c_fc.bias"]
        hidden = hidden / (1 + np.exp(-1.702 * hidden))
        return x + hidden @ self.w[f"{name}mlp.c_proj.weight"].T + self.w[f"{name}mlp.c_proj.bias"]

    def _attention(self, x: np.ndarray, name: str, *, causal: bool) -> np.ndarray:
        width = x.shape[1]
        q, k, v = np.split(x @ self.w[f"{name}in_proj_weight"].T + self.w[f"{name}in_proj_bias"], 3, axis=1)
        mixed = np.zeros_like(x)
        for head in range(HEADS):
            part = slice(head * width // HEADS, (head + 1) * width // HEADS)
            for i in range(len(x)):
                seen = i + 1 if causal else len(x)
                scores = k[:seen, part] @ q[i, part] / np.sqrt(width // HEADS)
                shares = np.exp(scores - scores.max())
                mixed[i, part] = (shares / shares.sum()) @ v[:seen, part]
        return mixed @ self.w[f"{name}out_proj.weight"].T + self.w[f"{name}out_proj.bias"]

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
        return scaled * self.w[f"{name}weight"] + self.w[f"{name}bias"]


def random_views(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size=(n, SIZE, SIZE, 3), dtype=np.uint8)
