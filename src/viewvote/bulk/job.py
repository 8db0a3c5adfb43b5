"""What decides the answers of a table: the classifier's arguments and the table's own settings, as data."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any

from ..classify.classifier import Classifier
from ..classify.options import checked_method
from ..encoders import LoadOptions
from ..errors import UsageError
from ..images.photo import ImageLimits
from ..methods import Method, StreamingMethod
from ..reading import LIST_BYTES, read_bytes
from ..sources import Source
from .schema import FORMAT, schema_of

PART = 1000
"""Images of a part, unless another number is asked for."""

_ELSEWHERE = ("cache_dir", "build_head")
"""Arguments that answers do not depend on."""


@dataclass(frozen=True)
class Recipe:
    """The arguments of a Classifier, which can be sent to where it is made; `model` is an id."""

    arguments: Mapping[str, Any]

    def classifier(self, *, threads: int = 0) -> Classifier:
        """The classifier, its model loaded; `threads` is for ONNX models, 0 is one per core."""
        options = replace(self.arguments.get("options") or LoadOptions(), threads=threads)
        return Classifier(**{**self.arguments, "options": options})

    @property
    def _method(self) -> Method:
        given = self.arguments
        has_head = given.get("text_head") is not None
        return checked_method(given.get("method", "auto"), given.get("keep"), text_head=has_head)

    def check(self) -> None:
        """Raise UsageError for a method that learns from one image to the next: pieces have no order."""
        if isinstance(self._method, StreamingMethod):
            raise UsageError(
                f"method {self._method.name!r} learns from one image to the next; a table of parts has no order."
            )

    def settings(self) -> dict[str, Any]:
        """The arguments and the defaults of others as JSON-ready values; files by what is in them."""
        defaults = {name: each.default for name, each in signature(Classifier).parameters.items()}
        given = {**defaults, **self.arguments}
        given |= {"options": given["options"] or LoadOptions(), "limits": given["limits"] or ImageLimits()}
        given["method"] = self._method
        return {name: _plain(value) for name, value in given.items() if name not in _ELSEWHERE}


@dataclass(frozen=True)
class BulkJob:
    """A table to be made: from which images, with which classifier, where, in which parts.

    output       the folder of parts, on this machine or an address
    part_images  images of a part, the unit of progress
    top          how many labels a row lists with their probabilities
    """

    source: Source
    recipe: Recipe
    output: str
    part_images: int = PART
    top: int = 3
    batch_views: int | None = None

    @cached_property
    def schema(self) -> Any:
        """The table's Arrow schema."""
        return schema_of(self.source.column_types())

    def settings(self) -> dict[str, Any]:
        """Whatever would make another table, as JSON-ready values."""
        kept = {field.name: str(field.type) for field in self.schema if field.name in self.source.keep}
        source = _plain(self.source) | {"keep": kept}
        table = {"format": FORMAT, "part_images": self.part_images, "top": self.top}
        return {**self.recipe.settings(), **source, **table}


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return _fingerprint(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = {} if isinstance(value, Source | LoadOptions | ImageLimits) else {"is": type(value).__name__}
        return named | {name: _plain(inner) for name, inner in _fields(value).items()}
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _fingerprint(path: Path) -> str:
    return "sha256 " + sha256(read_bytes(path, error=UsageError, limit=LIST_BYTES)).hexdigest()[:12]
