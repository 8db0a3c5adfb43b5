"""Classifying in a Ray Data pipeline of your own. Importing this loads no Ray: it only takes and returns batches."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bulk.schema import OWN, row_of
from .classify.classifier import Classifier
from .encoders import LoadOptions
from .errors import UnreadableImageError, UsageError
from .sources import SourceItem
from .stopping.options import Views

__all__ = ["ClassifyBatch"]


class ClassifyBatch:
    """A callable class for `map_batches`: takes batches with an image column, returns them with answers in its place.

    Each actor makes one and so loads the model once. The columns it adds are those of a table of answers
    (docs/guides/bulk.md): label, index, probability, ..., error, which says why an image could not be used.

    >>> rows.map_batches(  # doctest: +SKIP
    ...     ClassifyBatch, fn_constructor_kwargs={"labels": ["cat", "dog"]}, concurrency=4, num_cpus=1, batch_size=64
    ... ).write_parquet("answers")

    Args:
        labels: The answers to choose from, in words.
        model: A model id.
        method: A method's name; "auto" and the defaults below are those of `Classifier`.
        n_views: How many views to look at; "adaptive" is as many as an image needs.
        keep: The share of most confident views that decide; None is the method's own default.
        templates: A template set, a template or several; None is the method's own.
        seed: The views of an image depend on this and on its content.
        image_column: Holds encoded bytes, pixels (as of `ray.data.read_images`), a path, or a struct {bytes, path}.
        keep_image: Return the image column too.
        top: How many labels are listed with their probabilities.
        threads: CPU threads of an ONNX model: as many as `num_cpus`.
    """

    def __init__(
        self,
        labels: Sequence[str],
        *,
        model: str = "pocket",
        method: str = "auto",
        n_views: Views = "auto",
        keep: float | None = None,
        templates: str | Sequence[str] | None = None,
        seed: int = 0,
        image_column: str = "image",
        keep_image: bool = False,
        top: int = 3,
        threads: int = 1,
    ) -> None:
        self._classifier = Classifier(
            model,
            labels=labels,
            method=method,
            n_views=n_views,
            keep=keep,
            templates=templates,
            seed=seed,
            options=LoadOptions(threads=threads),
        )
        self._image_column = image_column
        self._keep_image = keep_image
        self._top = top

    def __call__(self, batch: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The batch with its answers; columns of the same name are replaced."""
        if not isinstance(batch, dict):
            raise UsageError(f"a batch is a dict of arrays; got {type(batch).__name__}: leave batch_format out.")
        if self._image_column not in batch:
            raise UsageError(f"a batch has no column {self._image_column!r}; it has {', '.join(batch)}.")
        images = [_image(cell) for cell in batch[self._image_column]]
        answers = self._classifier.predict_many(images, on_error="return")
        rows = [row_of(SourceItem(""), answer, top=self._top) for answer in answers]
        kept = {name: column for name, column in batch.items() if self._keep_image or name != self._image_column}
        return kept | {name: _column([row.get(name) for row in rows]) for name in OWN if name != "key"}


def _image(cell: Any) -> Any:
    """A cell as a classifier takes it."""
    if isinstance(cell, Mapping):
        cell = cell.get("bytes") or cell.get("path")
    if cell is None:
        return SourceItem("", error=UnreadableImageError("the cell holds no image."))
    return cell


def _column(values: list[Any]) -> NDArray[np.object_]:
    column = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):  # a slice would take lists apart
        column[i] = value
    return column
