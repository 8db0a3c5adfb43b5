"""The views of one image: where each looks, what it predicts, and whether it counted, as rows and as a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

from ..arrays import Bool, Float32, Int64


@dataclass(frozen=True)
class Box:
    """A rectangle of the upright original image in pixels: left and top inside, right and bottom outside."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Right minus left."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Bottom minus top."""
        return self.bottom - self.top

    def to_list(self) -> list[float]:
        """[left, top, right, bottom], whole numbers as ints."""
        return [int(v) if float(v).is_integer() else float(v) for v in (self.left, self.top, self.right, self.bottom)]


@dataclass(frozen=True)
class ViewTrace:
    """One view of a prediction: where it looks, what it predicts, and whether it counted."""

    box: Box
    flip: bool
    label: str
    entropy: float
    top_probability: float
    kept: bool

    def to_dict(self) -> dict[str, Any]:
        """The view as JSON-ready values."""
        return {
            "box": self.box.to_list(),
            "flip": self.flip,
            "label": self.label,
            "entropy": self.entropy,
            "top_probability": self.top_probability,
            "kept": self.kept,
        }


@dataclass(frozen=True, eq=False)
class ViewColumns:
    """What views predict, as columns; the last axis is the views, in their order.

    labels           the class with the largest logit
    entropy          in nats; the lower, the more confident
    top_probability  the probability of `labels`
    kept             True for the views that decided
    """

    labels: Int64
    entropy: Float32
    top_probability: Float32
    kept: Bool


@dataclass(frozen=True, eq=False)
class ViewTable(ViewColumns, Sequence[ViewTrace]):
    """The views of one image, in view order; view 0 is the source view. Labels are class indices.

    Where boxes, flips and names of classes are known (`located`), the table is also a sequence of `ViewTrace` rows.
    """

    boxes: tuple[Box, ...] = ()
    flips: tuple[bool, ...] = ()
    names: tuple[str, ...] = field(default=(), repr=False)

    def located(self, boxes: Sequence[Box], flips: Sequence[bool], *, names: tuple[str, ...]) -> "ViewTable":
        """The same table with where each view looks, and the names of the classes."""
        return replace(self, boxes=tuple(boxes), flips=tuple(flips), names=names)

    def __len__(self) -> int:
        return len(self.labels)

    @overload
    def __getitem__(self, position: int) -> ViewTrace: ...

    @overload
    def __getitem__(self, position: slice) -> "ViewTable": ...

    def __getitem__(self, position: int | slice) -> "ViewTrace | ViewTable":
        columns = self.labels[position], self.entropy[position], self.top_probability[position], self.kept[position]
        if isinstance(position, slice):
            return ViewTable(*columns, self.boxes[position], self.flips[position], self.names)
        label, entropy, top, kept = columns
        name = self.names[label]
        return ViewTrace(self.boxes[position], self.flips[position], name, float(entropy), float(top), bool(kept))

    def __iter__(self) -> Iterator[ViewTrace]:
        columns = (column.tolist() for column in (self.labels, self.entropy, self.top_probability, self.kept))
        for box, flip, label, entropy, top, kept in zip(self.boxes, self.flips, *columns, strict=True):
            yield ViewTrace(box, flip, self.names[label], entropy, top, kept)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ViewTable):
            return NotImplemented
        columns = "labels", "entropy", "top_probability", "kept"
        known = (self.boxes, self.flips, self.names) == (other.boxes, other.flips, other.names)
        return known and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in columns)

    def __repr__(self) -> str:
        return f"ViewTable({len(self)} views, {np.count_nonzero(self.kept)} kept)"

    __hash__ = None  # type: ignore[assignment]
