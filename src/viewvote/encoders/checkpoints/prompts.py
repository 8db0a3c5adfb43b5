"""The prompts inside CoOp and MaPLe checkpoints as the authors released them, checked against the model they meet."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...arrays import Float32
from ...errors import CheckpointError
from .state_dict import Shape, StateDict

MAPLE_PREFIX = "prompt_learner."
_COMPOUND = re.compile(r"compound_prompts_text\.(\d{1,4})|compound_prompt_projections\.(\d{1,4})\.(?:weight|bias)")


@dataclass(frozen=True)
class CoOpPrompt:
    """The context vectors of CoOp (context, text width), shared by all classes."""

    context: Float32

    @property
    def fingerprint(self) -> str:
        """A hash of the values."""
        return _hash({"ctx": self.context})


@dataclass(frozen=True)
class MaPLePrompts:
    """The learned tensors of MaPLe by the authors' names without `prompt_learner.`.

    `n_ctx` prompt tokens enter each tower before block 0 and are replaced before blocks 1 .. depth - 1.
    """

    parameters: Mapping[str, Float32]
    n_ctx: int
    depth: int

    @property
    def fingerprint(self) -> str:
        """A hash of the values."""
        return _hash(self.parameters)


def coop_prompt(state: StateDict, *, text_width: int, context_length: int) -> CoOpPrompt:
    """The context of a CoOp checkpoint; the class-name embeddings stored beside it are ImageNet's and are dropped."""
    shape = state.shapes.get("ctx")
    if shape is None:
        hint = " It looks like a MaPLe checkpoint: use maple:." if MAPLE_PREFIX + "ctx" in state.shapes else ""
        raise _missing(state, "ctx", what="a CoOp checkpoint", hint=hint)
    if len(shape) == 3:
        raise CheckpointError(
            f"{state.path} has class-specific contexts (CSC): ctx of shape {shape}, one per training class. "
            f"Expected one context for all classes, of shape (M, {text_width})."
        )
    if len(shape) != 2 or shape[1] != text_width:
        raise CheckpointError(
            f"{state.path} has ctx of shape {shape}; expected (M, {text_width}) for this text tower. "
            "Use the checkpoint that was trained for this model."
        )
    _check_length(state, shape[0], context_length=context_length)
    return CoOpPrompt(state.read("ctx"))


def maple_prompts(
    state: StateDict, *, text_width: int, vision_width: int, context_length: int, blocks: int
) -> MaPLePrompts:
    """The prompts of a MaPLe checkpoint for towers of these widths, the shallower of which has `blocks` blocks.

    Only `prompt_learner.*` is read, without the stored class-name embeddings: the rest is a copy of CLIP. The number
    of prompt tokens and the depth come from the keys.
    """
    ctx = state.shapes.get(MAPLE_PREFIX + "ctx")
    if ctx is None:
        hint = " It looks like a CoOp checkpoint: use coop:." if "ctx" in state.shapes else ""
        raise _missing(state, MAPLE_PREFIX + "ctx", what="a MaPLe checkpoint", hint=hint)
    n_ctx = ctx[0] if ctx else 0
    _check_length(state, n_ctx, context_length=context_length)
    depth = 1 + _compound_count(state)
    if depth > blocks:
        raise CheckpointError(
            f"{state.path} has prompts for {depth} blocks (depth {depth}); expected at most {blocks}, "
            "the number of blocks of this model's shallower tower."
        )
    expected = maple_shapes(n_ctx=n_ctx, depth=depth, text_width=text_width, vision_width=vision_width)
    for name, shape in expected.items():
        found = state.shapes.get(MAPLE_PREFIX + name)
        if found is None:
            raise _missing(state, MAPLE_PREFIX + name, what=f"a MaPLe checkpoint of depth {depth}")
        if found != shape:
            raise CheckpointError(
                f"{state.path} has {MAPLE_PREFIX}{name} of shape {found}; expected {shape} for {n_ctx} prompt tokens, "
                f"text width {text_width} and vision width {vision_width}."
            )
    return MaPLePrompts({name: state.read(MAPLE_PREFIX + name) for name in expected}, n_ctx=n_ctx, depth=depth)


def maple_shapes(*, n_ctx: int, depth: int, text_width: int, vision_width: int) -> dict[str, Shape]:
    """The name and shape of every learned tensor of MaPLe."""
    shapes: dict[str, Shape] = {
        "ctx": (n_ctx, text_width),
        "proj.weight": (vision_width, text_width),
        "proj.bias": (vision_width,),
    }
    for i in range(depth - 1):
        shapes[f"compound_prompts_text.{i}"] = (n_ctx, text_width)
        shapes[f"compound_prompt_projections.{i}.weight"] = (vision_width, text_width)
        shapes[f"compound_prompt_projections.{i}.bias"] = (vision_width,)
    return shapes


def _compound_count(state: StateDict) -> int:
    """One more than the highest index of any compound prompt or projection, so that a gap shows as a missing key."""
    matches = (_COMPOUND.fullmatch(key.removeprefix(MAPLE_PREFIX)) for key in state.shapes)
    return max((1 + int(match[1] or match[2]) for match in matches if match), default=0)


def _check_length(state: StateDict, n_ctx: int, *, context_length: int) -> None:
    most = context_length - 4  # the start, a name of one token, the full stop, the end
    if not 1 <= n_ctx <= most:
        raise CheckpointError(
            f"{state.path} has {n_ctx} context tokens; expected 1 to {most}, because the text tower reads "
            f"{context_length} tokens in all."
        )


def _missing(state: StateDict, key: str, *, what: str, hint: str = "") -> CheckpointError:
    names = sorted(state.shapes, key=lambda name: (not name.startswith(MAPLE_PREFIX), name))
    found = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return CheckpointError(f"{state.path} has no {key!r}, which {what} needs; it has {found or 'no tensors'}.{hint}")


def _hash(tensors: Mapping[str, Float32]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name}{tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name], dtype="<f4").tobytes())
    return digest.hexdigest()[:16]
