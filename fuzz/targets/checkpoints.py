"""Files of weights: what torch.save wrote in both its formats, and safetensors. Nothing in them may be executed."""

import io
import os
import random
from contextlib import suppress

import numpy as np
import torch
from safetensors.torch import save

from viewvote.encoders.checkpoints.prompts import coop_prompt, maple_prompts
from viewvote.encoders.checkpoints.state_dict import StateDict, open_state_dict
from viewvote.errors import CheckpointError

from ..mutators import first_file as kind
from ..mutators import join_files, mutated_bytes, split_files
from ..worker import fresh

__all__ = ["GROWTH", "kind", "mutate", "run", "seeds"]

WIDTH = 4
GROWTH = 400
LARGEST = 2**24
"""Numbers of a tensor that are read: a shape that the file cannot fill is refused before."""


class _Runs:
    """Unpickling it would make a file named `executed`."""

    def __reduce__(self) -> tuple[object, ...]:
        return (os.system, ("touch executed",))


def seeds(rng: random.Random) -> list[bytes]:
    """Checkpoints of CoOp and of MaPLe in every format, and one that would run a command."""
    del rng
    state = {"ctx": torch.ones(2, WIDTH), "token_prefix": torch.zeros(3, 1, WIDTH, dtype=torch.float16)}
    maple = {f"prompt_learner.{name}": value for name, value in _maple().items()}
    found = []
    for tensors in (state, maple):
        dassl = {"state_dict": tensors, "epoch": 5, "optimizer": {"lr": 0.1}}
        for value in (dassl, tensors):
            for zipped in (True, False):
                out = io.BytesIO()
                torch.save(value, out, _use_new_zipfile_serialization=zipped)
                found.append(join_files({"model.pth.tar-5": out.getvalue()}))
        found.append(join_files({"model.safetensors": save(tensors)}))
    out = io.BytesIO()
    torch.save({"state_dict": {**state, "x": _Runs()}}, out, _use_new_zipfile_serialization=False)
    return [*found, join_files({"model.pth": out.getvalue()})]


def _maple() -> dict[str, torch.Tensor]:
    return {
        "ctx": torch.ones(2, WIDTH),
        "proj.weight": torch.ones(6, WIDTH),
        "proj.bias": torch.ones(6),
        "compound_prompts_text.0": torch.ones(2, WIDTH),
        "compound_prompt_projections.0.weight": torch.ones(6, WIDTH),
        "compound_prompt_projections.0.bias": torch.ones(6),
    }


def mutate(data: bytes, rng: random.Random) -> bytes:
    """The file's bytes changed, more often where names and shapes are than among the numbers."""
    ((name, content),) = split_files(data).items() or {"model.pth": b""}.items()
    half = len(content) // 2
    if rng.random() < 0.5 and half:
        start = rng.choice([0, half])
        part = mutated_bytes(content[start : start + half], rng)
        content = content[:start] + part + content[start + half :]
    else:
        content = mutated_bytes(content, rng)
    return join_files({name: content})


def run(data: bytes) -> None:
    """Read every tensor, and the prompts of both kinds."""
    folder = fresh("weights")
    os.chdir(folder)
    for name, content in split_files(data).items():
        (folder / name).write_bytes(content)
        state = open_state_dict(folder / name)
        _read(state)
        assert not (folder / "executed").exists(), "the file was executed"


def _read(state: StateDict) -> None:
    refusal: CheckpointError | None = None
    for key, shape in state.shapes.items():
        if np.prod([float(side) for side in shape]) <= LARGEST:
            try:
                state.read(key)
            except CheckpointError as error:
                refusal = error
    with suppress(CheckpointError):
        coop_prompt(state, text_width=WIDTH, context_length=8)
    with suppress(CheckpointError):
        maple_prompts(state, text_width=WIDTH, vision_width=6, context_length=8, blocks=3)
    if refusal is not None:
        raise refusal
