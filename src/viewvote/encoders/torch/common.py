"""What every torch encoder shares: device, precision, pixels, batches and the fingerprint of its text tower."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any
from zlib import crc32

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional

from ...arrays import Float32, UInt8
from ...errors import UnsupportedEncoderError, UsageError
from ...images.spec import ImageSpec
from ...views.crops import View
from ..base import BaseEncoder, LoadOptions, Scoring, checked_views
from .device_views import draw_views
from .tunable import Snapshot

CPU_BLOCK = 8
DEVICE_BLOCK = 16
TEXT_BATCH = 256
PROBE = ("a photo of a cat.", "Zwölf große Boxkämpfer; 1234567890 & <html>!", "naïve façade 東京 🙂")
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def available_devices() -> list[str]:
    """The device names that work here, best first."""
    cuda = [f"cuda:{i}" for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    return [*cuda, *(["mps"] if torch.backends.mps.is_available() else []), "cpu"]


def pick_device(name: str) -> torch.device:
    """The device that `name` means here; "auto" is the best one."""
    here = available_devices()
    wanted = here[0] if name == "auto" else "cuda:0" if name == "cuda" else name
    if wanted not in here:
        raise UsageError(f"device {name!r} is not available here; expected one of: auto, {', '.join(here)}.")
    return torch.device(wanted)


def pick_dtype(name: str) -> torch.dtype:
    """The torch dtype of "fp32", "fp16" or "bf16"."""
    if name not in DTYPES:
        raise UsageError(f"dtype {name!r} is unknown; expected one of: {', '.join(DTYPES)}.")
    return DTYPES[name]


def unit(features: Tensor) -> Tensor:
    """Rows scaled to length 1 in float32, whatever precision they come in."""
    return functional.normalize(features.float(), dim=-1)


def number(value: Any) -> float:
    """The value of a one-element tensor in double precision; 0 for None."""
    return 0.0 if value is None else float(value.detach().double().item())


class TorchEncoder(BaseEncoder, ABC):
    """An Encoder and VisionTunable over one torch module that holds both towers.

    The module arrives in float32 on the CPU and is cast and moved here. Scale and bias come as numbers, read before the
    cast: exp() of a bfloat16 scale is off by a per cent.

    Views are encoded in blocks of `block_views`, because the last bits of a batch depend on its size: a stream that
    never splits or mixes blocks gives the same features as one image at a time.
    """

    block_views: int
    vision_prefixes: tuple[str, ...]  # of the names of the vision tower's parameters and buffers

    def __init__(
        self,
        model: nn.Module,
        *,
        model_id: str,
        image_spec: ImageSpec,
        dim: int,
        context_length: int,
        logit_scale: float,
        logit_bias: float,
        scoring: Scoring,
        options: LoadOptions,
    ) -> None:
        self.model_id = model_id
        self.image_spec = image_spec
        self.dim = dim
        self.context_length = context_length
        self.scoring = scoring
        self.logit_scale = logit_scale
        self.logit_bias = logit_bias
        self.device = pick_device(options.device)
        self.dtype = pick_dtype(options.dtype)
        self.model = model.eval().requires_grad_(False).to(device=self.device, dtype=self.dtype)
        spread = 255 * torch.tensor(image_spec.std, dtype=torch.float64)
        shift = -torch.tensor(image_spec.mean, dtype=torch.float64) / torch.tensor(image_spec.std, dtype=torch.float64)
        self.block_views = CPU_BLOCK if self.device.type == "cpu" else DEVICE_BLOCK
        self.draws_views = options.drawing == "device"
        self._gain = (1 / spread).float().to(self.device).view(3, 1, 1)
        self._shift = shift.float().to(self.device).view(3, 1, 1)

    @abstractmethod
    def _forward_images(self, pixels: Tensor) -> Tensor:
        """Raw features (views, dim) of normalised pixels (views, 3, height, width)."""

    @abstractmethod
    def _forward_texts(self, texts: list[str]) -> Tensor:
        """Raw features (texts, dim)."""

    @abstractmethod
    def token_ids(self, texts: Sequence[str]) -> Tensor:
        """Token ids (texts, length) as the text tower gets them, on the CPU."""

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the text tower's structure, weights and tokenizer, and of the precision they run in.

        Each tensor counts with a checksum: 0.1 s for ViT-B/16's 250 MB, a third of what a cryptographic hash takes.
        """
        text_tower = {k: v for k, v in self.model.state_dict().items() if not k.startswith(self.vision_prefixes)}
        modules = [f"{k}: {m}" for k, m in self.model.named_children() if not f"{k}.".startswith(self.vision_prefixes)]
        digest = blake2b(repr((type(self.model).__name__, str(self.dtype), modules)).encode(), digest_size=16)
        digest.update(self.token_ids(PROBE).numpy().tobytes())
        for name, tensor in sorted(text_tower.items()):
            checksum = crc32(tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy())
            digest.update(f"{name} {tuple(tensor.shape)} {checksum}\n".encode())
        return digest.hexdigest()

    def encode_images(self, views: UInt8) -> Float32:
        """Unit features (views, dim) of uint8 views (views, height, width, 3), `block_views` at a time."""
        with torch.inference_mode():
            return self._batched_images(views).cpu().numpy()

    def encode_texts(self, texts: Sequence[str]) -> Float32:
        """Unit features (texts, dim), `TEXT_BATCH` at a time."""
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        with torch.inference_mode():
            chunks = [unit(self._forward_texts(chunk)) for chunk in chunked(texts, TEXT_BATCH)]
            return torch.cat(chunks).cpu().numpy()

    def draw_views(self, levels: Mapping[int, Image.Image], views: Sequence[View]) -> UInt8:
        """Views (views, size, size, 3) of a photo's levels, drawn on the device the model is on."""
        return draw_views(levels, views, self.image_spec, device=self.device).cpu().numpy()

    def image_features(self, views: UInt8) -> Tensor:
        """Unit float32 features (views, dim) without gradients, usable inside a graph."""
        with torch.no_grad():  # not inference_mode: autograd may not save inference tensors
            return self._batched_images(views)

    def vision_parameters(self) -> list[nn.Parameter]:
        """The vision tower's parameters, frozen; who tunes them sets `requires_grad` and calls `restore_vision`."""
        if self.dtype != torch.float32:
            raise UnsupportedEncoderError(
                f"the weights of {self.model_id!r} are {self.dtype}, too coarse for the small steps of tuning. "
                'Load the model with dtype "fp32".'
            )
        return [p for name, p in self.model.named_parameters() if name.startswith(self.vision_prefixes)]

    def image_features_with_grad(self, views: UInt8) -> Tensor:
        """Unit float32 features (views, dim), differentiable in the vision parameters; all views in one batch."""
        return unit(self._forward_images(self.pixels(views)))

    def snapshot_vision(self) -> Snapshot:
        """A copy of the vision tower's parameters and buffers."""
        state = self.model.state_dict()
        return {k: v.detach().clone() for k, v in state.items() if k.startswith(self.vision_prefixes)}

    def restore_vision(self, snapshot: Snapshot) -> None:
        """Put a snapshot back bit for bit, drop gradients and freeze the tower again."""
        state = self.model.state_dict()
        for name, value in snapshot.items():
            state[name].copy_(value)
        for name, parameter in self.model.named_parameters():
            if name.startswith(self.vision_prefixes):
                parameter.grad = None
                parameter.requires_grad_(False)

    def pixels(self, views: UInt8) -> Tensor:
        """Normalised pixels (views, 3, height, width) on the device, in the towers' precision."""
        raw = torch.from_numpy(np.require(checked_views(views, self), requirements=["C", "W"])).to(self.device)
        return (raw.permute(0, 3, 1, 2).float() * self._gain + self._shift).to(self.dtype)

    def _batched_images(self, views: UInt8) -> Tensor:
        if len(views) == 0:
            return torch.zeros((0, self.dim), device=self.device)
        block = self.block_views
        starts = range(0, len(views), block)
        return torch.cat([unit(self._forward_images(self.pixels(views[i : i + block]))) for i in starts])


def chunked(items: Sequence[str], size: int) -> Iterator[list[str]]:
    """Lists of at most `size` items, in order."""
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
