"""Torch modules to ONNX graphs with the inputs and outputs a pack has."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...errors import CheckpointError
from ..onnx.runtimes import open_session

OPSET = 18


class _Tower(torch.nn.Module):
    """A module under fixed argument names, so that exported inputs are called the same whatever the source."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module


class _Vision(_Tower):
    def forward(self, pixel_values: torch.Tensor) -> Any:
        return self.module(pixel_values)


class _Text(_Tower):
    def forward(self, input_ids: torch.Tensor) -> Any:
        return self.module(input_ids)


class _MaskedText(_Tower):
    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
        return self.module(input_ids, attention_mask)


def export_vision(module: torch.nn.Module, path: Path, *, size: int) -> None:
    """Write a vision tower: `pixel_values` (batch, 3, size, size) -> `image_embeds` (batch, dim)."""
    # Two views and not one: the exporters take a size of 1 for a constant.
    examples = [(torch.rand(batch, 3, size, size, generator=_numbers()),) for batch in (2, 1)]
    _export(_Vision(module), path, examples, names=("pixel_values",), output="image_embeds", axes={0: "batch"})


def export_text(
    module: torch.nn.Module, path: Path, *, inputs: Sequence[str], context_length: int, vary_length: bool
) -> None:
    """Write a text tower: `input_ids` and maybe `attention_mask`, (batch, tokens) -> `text_embeds` (batch, dim)."""
    tower: torch.nn.Module = _MaskedText(module) if "attention_mask" in inputs else _Text(module)
    half = max(context_length // 2, 2)
    shapes = [(2, half), (1, half + 1)] if vary_length else [(2, context_length), (1, context_length)]
    examples = []
    for shape in shapes:
        ids = torch.randint(0, 3, shape, generator=_numbers())
        examples.append((ids, torch.ones_like(ids))[: len(inputs)])
    axes = {0: "batch", 1: "tokens"} if vary_length else {0: "batch"}
    _export(tower, path, examples, names=tuple(inputs), output="text_embeds", axes=axes)


def _numbers() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def _export(
    module: torch.nn.Module,
    path: Path,
    examples: Sequence[tuple[torch.Tensor, ...]],
    *,
    names: tuple[str, ...],
    output: str,
    axes: dict[int, str],
) -> None:
    """Trace the module; where that fails or freezes a size into the graph, capture it with `torch.export`.

    Tracing takes a fifth of the time. Whether it froze a size shows on the second example, shaped otherwise.
    """
    shared: dict[str, Any] = {"input_names": list(names), "output_names": [output], "verbose": False}
    module.eval()
    with _quiet(), torch.no_grad():
        try:
            dynamic = {name: axes for name in names} | {output: {0: "batch"}}  # noqa: C420 - a dict of the same dict
            torch.onnx.export(
                module, examples[0], str(path), dynamo=False, dynamic_axes=dynamic, opset_version=OPSET, **shared
            )
            if _agrees(module, path, examples[1], names=names, output=output):
                return
        except (RuntimeError, TypeError, ValueError, CheckpointError):
            path.unlink(missing_ok=True)
        shapes = {name: dict.fromkeys(axes, torch.export.Dim.DYNAMIC) for name in names}
        torch.onnx.export(
            module, examples[0], str(path), dynamo=True, dynamic_shapes=shapes, external_data=False, **shared
        )


def _agrees(
    module: torch.nn.Module, path: Path, example: tuple[torch.Tensor, ...], *, names: tuple[str, ...], output: str
) -> bool:
    """Whether the graph gives the module's output for an example of another shape."""
    feeds = {name: tensor.numpy() for name, tensor in zip(names, example, strict=True)}
    found = open_session(path, runtime="onnxruntime").run(feeds, output=output)
    expected = module(*example).numpy()
    return found.shape == expected.shape and bool(np.allclose(found, expected, rtol=1e-3, atol=1e-4))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the exporters' notices about themselves off the terminal, and attention to operators they know."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        fused = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            yield
        finally:
            torch.backends.mha.set_fastpath_enabled(fused)
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
