"""Torch modules to ONNX graphs with the inputs and outputs a pack has."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

OPSET = 18
TRACER_WARNING: type[Warning] = getattr(torch.jit, "TracerWarning", UserWarning)


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
    # Two views and not one: the exporter takes a size of 1 for a constant.
    example = (torch.zeros(2, 3, size, size),)
    _export(_Vision(module), path, example, names=("pixel_values",), output="image_embeds", axes={0: "batch"})


def export_text(
    module: torch.nn.Module, path: Path, *, inputs: Sequence[str], context_length: int, vary_length: bool
) -> None:
    """Write a text tower: `input_ids` and maybe `attention_mask`, (batch, tokens) -> `text_embeds` (batch, dim)."""
    tower: torch.nn.Module = _MaskedText(module) if "attention_mask" in inputs else _Text(module)
    # Shorter than the context, or the exporter may take the length for that constant.
    length = max(context_length // 2, 2) if vary_length else context_length
    example = tuple(torch.ones(2, length, dtype=torch.int64) for _ in inputs)
    axes = {0: "batch", 1: "tokens"} if vary_length else {0: "batch"}
    _export(tower, path, example, names=tuple(inputs), output="text_embeds", axes=axes)


def _export(
    module: torch.nn.Module,
    path: Path,
    example: tuple[torch.Tensor, ...],
    *,
    names: tuple[str, ...],
    output: str,
    axes: dict[int, str],
) -> None:
    """Trace the module; where tracing cannot follow it, capture it with the slower `torch.export`.

    Tracing takes a fifth of the time, but may freeze a size into the graph; where it warns of that, it is not used.
    """
    shared: dict[str, Any] = {"input_names": list(names), "output_names": [output]}
    with _quiet(), torch.no_grad():
        try:
            warnings.simplefilter("error", TRACER_WARNING)
            dynamic = {name: axes for name in names} | {output: {0: "batch"}}  # noqa: C420 - one dict each
            torch.onnx.export(
                module.eval(), example, str(path), dynamo=False, dynamic_axes=dynamic, opset_version=OPSET, **shared
            )
        except (TRACER_WARNING, RuntimeError, TypeError, ValueError, NotImplementedError):
            warnings.simplefilter("ignore")
            shapes = {name: dict.fromkeys(axes, torch.export.Dim.DYNAMIC) for name in names}
            torch.onnx.export(
                module.eval(), example, str(path), dynamo=True, dynamic_shapes=shapes, external_data=False, **shared
            )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the exporter's progress and its notices about itself off the terminal."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
