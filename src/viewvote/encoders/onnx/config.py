"""`viewvote.json`: the description of a pack, read strictly and written the same way."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from ... import files
from ...errors import CheckpointError, ModelNotFoundError, UsageError
from ...images.spec import ImageSpec, Interpolation, ResizeMode
from ..base import Scoring

FORMAT = "viewvote-pack-1"
FILE = "viewvote.json"
PadTo = Literal["longest", "max"]
"""Whether texts are filled up to the longest of their chunk or to the context length."""


@dataclass(frozen=True)
class PackConfig:
    """The facts about a pack that its graphs do not carry."""

    name: str
    image: ImageSpec
    scale: float
    bias: float
    context_length: int
    dim: int
    pad_id: int
    scoring: Scoring = "softmax"
    pad_to: PadTo = "longest"
    calibration: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    scripts: tuple[str, ...] = ()  # of labels that it can read, such as latin; empty: not stated

    def to_dict(self) -> dict[str, Any]:
        """The JSON-ready contents of `viewvote.json`."""
        image = self.image
        return {
            "format": FORMAT,
            "name": self.name,
            "size": image.size,
            "mean": list(image.mean),
            "std": list(image.std),
            "interpolation": image.interpolation,
            "resize": image.resize,
            "short_side": image.short_side,
            "scale": self.scale,
            "bias": self.bias,
            "context_length": self.context_length,
            "dim": self.dim,
            "pad_id": self.pad_id,
            "scoring": self.scoring,
            "pad_to": self.pad_to,
            **(
                {"calibration": {name: dict(numbers) for name, numbers in self.calibration.items()}}
                if self.calibration
                else {}
            ),
            **({"scripts": list(self.scripts)} if self.scripts else {}),
        }


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a model folder."""
    if not path.is_file():
        raise ModelNotFoundError(f"{path} is missing; the model folder is not complete.")
    return files.read_json(path, error=CheckpointError)


def read_config(path: Path) -> PackConfig:
    """The configuration in a pack's `viewvote.json`."""
    return parse_config(read_json(path), source=str(path))


def check_format(data: Mapping[str, Any], *, source: str) -> None:
    """Raise CheckpointError unless the object declares the pack format this version reads."""
    if data.get("format") != FORMAT:
        raise CheckpointError(f"{source}: format is {data.get('format')!r}, expected {FORMAT!r}.")


def parse_config(data: Mapping[str, Any], *, source: str) -> PackConfig:
    """The configuration in a parsed `viewvote.json`; `source` names it in errors."""
    check_format(data, source=source)
    read = _Fields(data, source)
    size = read("size", _count, "a whole number above 0")
    try:
        image = ImageSpec(
            size=size,
            mean=read("mean", _triple, "three numbers"),
            std=read("std", _triple, "three numbers"),
            interpolation=read("interpolation", *_one_of(Interpolation)),
            resize=read("resize", *_one_of(ResizeMode), default="shortest"),
            short_side=read("short_side", _count, "a whole number above 0", default=size),
        )
    except UsageError as error:
        raise CheckpointError(f"{source}: {error}") from error
    return PackConfig(
        name=read("name", lambda v: v if isinstance(v, str) and v else None, "a text"),
        image=image,
        scale=read("scale", lambda v: number if (number := _number(v)) and number > 0 else None, "a number above 0"),
        bias=read("bias", _number, "a number"),
        context_length=read("context_length", _count, "a whole number above 0"),
        dim=read("dim", _count, "a whole number above 0"),
        pad_id=read("pad_id", lambda v: v if _is_int(v) and v >= 0 else None, "a token id, 0 or more"),
        scoring=read("scoring", *_one_of(Scoring), default="softmax"),
        pad_to=read("pad_to", *_one_of(PadTo), default="longest"),
        calibration=read("calibration", _numbers_by_name, "objects of numbers, by name", default={}),
        scripts=read("scripts", _words, "a list of words", default=()),
    )


def _words(value: Any) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, list) and all(isinstance(word, str) for word in value) else None


class _Fields:
    """Typed access to a JSON object, with errors that name the file and the key."""

    def __init__(self, data: Mapping[str, Any], source: str) -> None:
        self.data, self.source = data, source

    def __call__(self, key: str, parse: Callable[[Any], Any], expected: str, *, default: Any = None) -> Any:
        if key not in self.data:
            if default is None:
                raise CheckpointError(f"{self.source}: {key!r} is missing, expected {expected}.")
            return default
        value = parse(self.data[key])
        if value is None:
            raise CheckpointError(f"{self.source}: {key!r} is {self.data[key]!r}, expected {expected}.")
        return value


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(value: Any) -> int | None:
    return value if _is_int(value) and value > 0 else None


def _number(value: Any) -> float | None:
    is_number = (_is_int(value) or isinstance(value, float)) and math.isfinite(value)
    return float(value) if is_number else None


def _numbers_by_name(value: Any) -> Mapping[str, Mapping[str, float]] | None:
    """Numbers by name, by what they are for."""
    if not isinstance(value, dict):
        return None
    whole = all(
        isinstance(numbers, dict) and all(_number(number) is not None for number in numbers.values())
        for numbers in value.values()
    )
    return value if whole else None


def _triple(value: Any) -> tuple[float, ...] | None:
    numbers = [_number(v) for v in value] if isinstance(value, list) else []
    return tuple(n for n in numbers if n is not None) if len(numbers) == 3 and None not in numbers else None


def _one_of(literal: Any) -> tuple[Callable[[Any], Any], str]:
    choices = get_args(literal)
    return (lambda v: v if v in choices else None), "one of " + ", ".join(choices)
