"""`viewvote.json`: the description of a pack, read strictly and written the same way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ... import reading
from ...errors import CheckpointError, ModelNotFoundError, UsageError
from ...fields import NUMBER, POSITIVE, TEXT, Fields, Kind, list_of, one_of, shown, table_of, whole
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
    return reading.read_json(path, error=CheckpointError)


def read_config(path: Path) -> PackConfig:
    """The configuration in a pack's `viewvote.json`."""
    return parse_config(read_json(path), source=str(path))


def check_format(data: Mapping[str, Any], *, source: str) -> None:
    """Raise CheckpointError unless the object declares the pack format this version reads."""
    if data.get("format") != FORMAT:
        raise CheckpointError(f"{source}: format is {shown(data.get('format'))}, expected {FORMAT!r}.")


def parse_config(data: Mapping[str, Any], *, source: str) -> PackConfig:
    """The configuration in a parsed `viewvote.json`; `source` names it in errors."""
    check_format(data, source=source)
    read = Fields(data, source, error=CheckpointError)
    size = read("size", _PIXELS)
    try:
        image = ImageSpec(
            size=size,
            mean=read("mean", _CHANNELS),
            std=read("std", _CHANNELS),
            interpolation=read("interpolation", one_of(Interpolation)),
            resize=read("resize", one_of(ResizeMode), default="shortest"),
            short_side=read("short_side", _PIXELS, default=size),
        )
    except UsageError as error:
        raise CheckpointError(f"{source}: {error}") from error
    return PackConfig(
        name=read("name", TEXT),
        image=image,
        scale=read("scale", POSITIVE),
        bias=read("bias", NUMBER),
        context_length=read("context_length", _TOKENS),
        dim=read("dim", _WIDTH),
        pad_id=read("pad_id", whole(0)),
        scoring=read("scoring", one_of(Scoring), default="softmax"),
        pad_to=read("pad_to", one_of(PadTo), default="longest"),
        calibration=read("calibration", table_of(table_of(NUMBER)), default={}),
        scripts=read("scripts", list_of(TEXT), default=()),
    )


# No model comes near these; a damaged file must not make views that fill the memory.
_PIXELS = whole(1, most=10_000)
_TOKENS = whole(1, most=100_000)
_WIDTH = whole(1, most=1_000_000)
_CHANNELS: Kind[Any] = list_of(NUMBER, length=3)
