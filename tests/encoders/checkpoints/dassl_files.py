"""Checkpoints written the way the authors' training code wrote them, foreign objects included."""

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from torch import nn


class WarmUp:
    """Stands for a class of the training code that is not installed where the checkpoint is read."""

    def __init__(self, successor):
        self.successor = successor

    def get_lr(self):
        return self.successor.get_last_lr()


def save_dassl(path: Path, state_dict: dict[str, torch.Tensor], *, epoch: int = 50, zip_format: bool = True) -> Path:
    """Write what Dassl's `save_model` writes: five keys, tensors tagged as CUDA, live objects in the scheduler."""
    weight = nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.SGD([weight], lr=0.002, momentum=0.9)
    weight.grad = torch.ones(3)
    optimizer.step()
    successor = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 50)  # it holds the optimizer and its tensors
    scheduler = {
        "successor": successor,
        "warmup_epoch": 1,
        "base_lrs": [np.float64(0.002)],
        "lr": WarmUp(successor).get_lr,
    }
    checkpoint = {
        "state_dict": OrderedDict(state_dict),
        "epoch": epoch,
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler,
        "val_result": np.float32(71.5),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with mock.patch("torch.serialization.location_tag", return_value="cuda:0"):
        torch.save(checkpoint, path, _use_new_zipfile_serialization=zip_format)
    return path


def coop_state(n_ctx: int, *, width: int, classes: int = 5, seed: int = 0) -> dict[str, torch.Tensor]:
    """The state dict of CoOp's prompt learner: fp16, with the training class names beside the context."""
    rng = torch.Generator().manual_seed(seed)
    return {
        "ctx": (0.02 * torch.randn(n_ctx, width, generator=rng)).half(),
        "token_prefix": torch.randn(classes, 1, width, generator=rng).half(),
        "token_suffix": torch.randn(classes, 76 - n_ctx, width, generator=rng).half(),
    }


def maple_state(depth: int, *, text_width: int, vision_width: int, n_ctx: int = 2, seed: int = 0):
    """The state dict of MaPLe's whole CustomCLIP; large enough values that every prompt matters."""
    rng = torch.Generator().manual_seed(seed)

    def randn(*shape):
        return 0.3 * torch.randn(*shape, generator=rng)

    state = {
        "prompt_learner.ctx": randn(n_ctx, text_width).half(),
        "prompt_learner.token_prefix": randn(5, 1, text_width).half(),
        "prompt_learner.token_suffix": randn(5, 76 - n_ctx, text_width).half(),
        "prompt_learner.proj.weight": randn(vision_width, text_width).half(),
        "prompt_learner.proj.bias": randn(vision_width).half(),
    }
    for i in range(depth - 1):
        state[f"prompt_learner.compound_prompts_text.{i}"] = randn(n_ctx, text_width)
    for i in range(depth - 1):
        state[f"prompt_learner.compound_prompt_projections.{i}.weight"] = randn(vision_width, text_width)
        state[f"prompt_learner.compound_prompt_projections.{i}.bias"] = randn(vision_width)
    state["image_encoder.class_embedding"] = randn(vision_width).half()
    state["image_encoder.conv1.weight"] = randn(vision_width, 3, 4, 4).half()
    state["text_encoder.positional_embedding"] = randn(77, text_width)
    state["logit_scale"] = torch.tensor(4.6052).half()
    return state


class Name:
    """Pickles as the global `module name`."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name


class PickledCall:
    """Pickles as a call of a global, which a real unpickler would make."""

    def __init__(self, function: Name, *args) -> None:
        self.function, self.args = function, args


class Pid:
    """Pickles as a persistent id."""

    def __init__(self, *parts) -> None:
        self.parts = parts


class HandPickler(pickle._Pickler):
    """Writes names, calls and ids that no honest program would, without importing anything."""

    def persistent_id(self, obj):
        return obj.parts if isinstance(obj, Pid) else None

    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, Name):
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        elif isinstance(obj, PickledCall):
            self.save(obj.function)
            self.save(obj.args)
            self.write(pickle.REDUCE)
        else:
            super().save(obj, save_persistent_id)


def hand_pickle(value) -> bytes:
    """Protocol 2, torch's, of a value that may hold Name, PickledCall and Pid."""
    buffer = io.BytesIO()
    HandPickler(buffer, 2).dump(value)
    return buffer.getvalue()


def hand_tensor(key: str, numel, *, offset=0, shape=(2,), stride=(1,), kind: str = "FloatStorage"):
    """A tensor as torch pickles it, with whatever numbers a hostile file may claim."""
    storage = Pid("storage", Name("torch", kind), key, "cuda:0", numel)
    return PickledCall(Name("torch._utils", "_rebuild_tensor_v2"), storage, offset, shape, stride, False, {})


def save_zip(path: Path, root, storages: dict[str, bytes], *, folder: str = "archive", compression=zipfile.ZIP_STORED):
    """The zip layout of torch 1.6 to 1.11, entry by entry."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr(f"{folder}/data.pkl", hand_pickle(root))
        for key, data in storages.items():
            archive.writestr(f"{folder}/data/{key}", data)
        archive.writestr(f"{folder}/version", "3\n")
    return path
