"""Tiny real models with random weights to tune, episodes on them, and what the oracles share."""

import numpy as np
import torch

from tests.encoders.checkpoints.dassl_files import coop_state, maple_state, save_dassl
from tests.encoders.torch.naive_clip import BLOCKS, TEXT, VISION, NaiveClip, random_views, save_tiny
from viewvote.encoders import LoadOptions, load_encoder
from viewvote.methods import Episode, Teacher
from viewvote.methods.tuning.token_statistics import TokenStatistics

NAMES = ("cat", "sea_lion", "red fox")
CPU = LoadOptions(device="cpu")
MAPLE_DEPTH = 3
TOKENS = 1 + 4 + 2  # class, patches, prompts

torch.set_num_threads(1)  # tiny layers are done before a second thread wakes up


class Zoo:
    """One tiny CLIP in the three forms that may be tuned, and its naive twin in float64."""

    def __init__(self, folder):
        self.folder = save_tiny(folder / "clip")
        self.naive = NaiveClip(self.folder)
        model = f"open_clip:local-dir:{self.folder}"
        self.plain = load_encoder(model, CPU)
        self.coop_state = coop_state(3, width=TEXT)
        path = save_dassl(folder / "coop.pth.tar-50", self.coop_state)
        self.coop = load_encoder(f"coop:{path}@{model}", CPU)
        self.maple_state = maple_state(MAPLE_DEPTH, text_width=TEXT, vision_width=VISION)
        path = save_dassl(folder / "maple.pth.tar-2", self.maple_state, epoch=2)
        self.maple = load_encoder(f"maple:{path}@{model}", CPU)


def random_statistics(seed=0, blocks=BLOCKS):
    """Source statistics that fit the zoo's MaPLe."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(blocks, TOKENS, VISION)).astype(np.float32)
    return TokenStatistics(means, rng.random((blocks, TOKENS, VISION)).astype(np.float32))


def episode_on(encoder, *, n_views=8, seed=0, names=NAMES, teacher=None):
    """An episode of random pixels; the text head is what the package's own would be."""
    pixels = random_views(n_views, seed)
    features, text = encoder.encode_images(pixels), head(encoder, names)
    logits = np.float32(encoder.logit_scale) * features @ text.T
    asked = None
    if teacher is not None:
        asked = Teacher(teacher, head(teacher, names), lambda chosen: pixels[list(chosen)])
    return Episode(encoder, tuple(names), pixels, features, logits, text, asked)


def head(encoder, names):
    if hasattr(encoder, "encode_class_names"):
        return encoder.encode_class_names(names)
    return encoder.encode_texts([f"a photo of a {name.replace('_', ' ')}." for name in names])


def state_bits(encoder):
    """Every bit of a model: its towers, and its learned prompts if it has any."""
    plain = getattr(encoder, "base", encoder)
    tensors = dict(plain.model.state_dict())
    if hasattr(encoder, "prompt_parameters"):
        tensors |= encoder.prompt_parameters()
    if hasattr(encoder, "context"):
        tensors["context"] = encoder.context
    return {name: tensor.detach().numpy().tobytes() for name, tensor in tensors.items()}


def is_frozen(encoder):
    plain = getattr(encoder, "base", encoder)
    parameters = [*plain.model.parameters(), *getattr(encoder, "prompt_parameters", dict)().values()]
    return all(not p.requires_grad and p.grad is None for p in parameters)


def naive_softmax(logits):
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def naive_entropy(p):
    return -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0), axis=-1)


def naive_kept(logits, keep):
    entropy = naive_entropy(naive_softmax(logits.astype(np.float64)))
    return sorted(range(len(entropy)), key=lambda i: entropy[i])[: max(1, int(len(entropy) * keep))]


def sign_step(theta, gradient, *, lr, weight_decay):
    """AdamW's first step from empty moments, by its formula."""
    return theta * (1 - lr * weight_decay) - lr * gradient / (np.abs(gradient) + 1e-8)


def slope(function, at, direction, *, size=1e-5):
    """The derivative of `function` along `direction` by central differences."""
    return (function(at + size * direction) - function(at - size * direction)) / (2 * size)


def probes(shape, n, *, seed=0):
    """Random unit directions, for derivatives that see every coordinate."""
    rows = np.random.default_rng(seed).normal(size=(n, *shape))
    return [row / np.linalg.norm(row) for row in rows]


def recorded(loss_on, seen):
    """The same losses, each value noted in `seen`."""

    def on(kept):
        loss = loss_on(kept)

        def value(logits, taps):
            out = loss(logits, taps)
            seen.append(out.item())
            return out

        return value

    return on


def poisoned(features):
    """An encoder's function with the same value and a gradient of NaN."""

    def same(*args, **kwargs):
        out = features(*args, **kwargs)
        rows = out[0] if isinstance(out, tuple) else out
        nothing = torch.sqrt((rows.sum() * 0) ** 2)  # the root has no slope at zero
        return (rows + nothing, *out[1:]) if isinstance(out, tuple) else rows + nothing

    return same
