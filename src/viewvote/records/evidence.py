"""What is recorded of the views of one image, checked when it is unpacked: a file may have been edited or cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Float32, Int64
from ..errors import RecordError
from .packing import unpack_floats

CLASSES = 10_000_000
"""No record names a class beyond these: what counts per class would fill the memory."""


@dataclass(frozen=True)
class TieEvidence:
    """What ties of one record are broken by, still packed: only few records need it."""

    key: str
    views: int
    candidates: Sequence[int]
    packed_logits: str
    packed_groups: tuple[str, str]

    def logits(self) -> tuple[Int64, Float32]:
        """The candidate classes, ascending, and their logits (views, candidates); none where none were recorded."""
        classes = self._classes()
        logits = self._floats(self.packed_logits, name="logits")
        views = self.views if len(classes) else 0
        if logits.size != views * len(classes) or (len(classes) and not views):
            raise damaged(self.key, f"logits of {self.views} views and {len(classes)} candidates, not {logits.size}")
        return classes, logits.reshape(views, len(classes))

    def groups(self, rule: str) -> Float32:
        """Per view, the score of its group under "group-marginal" or "group-logits"; none where none were recorded."""
        scores = self._floats(self.packed_groups[rule == "group-logits"], name="scores of groups")
        if len(scores) not in (0, self.views):
            raise damaged(self.key, f"scores of the groups of {self.views} views, not {len(scores)}")
        return scores

    def positions(self, classes: Int64, among: Int64) -> Int64:
        """Where these classes stand among the candidates, which hold every class that a view or the vote prefers."""
        found: Int64 = np.searchsorted(among, classes)
        if not np.array_equal(among[np.minimum(found, len(among) - 1)], classes):
            raise damaged(self.key, "every class that was voted for among the candidates")
        return found

    def _classes(self) -> Int64:
        """The candidates as an array."""
        expected = f"candidates that are classes below {CLASSES:,}, ascending"
        try:
            classes = np.array(self.candidates, dtype=np.int64)
        except (ValueError, TypeError, OverflowError) as error:
            raise damaged(self.key, expected) from error
        if classes.ndim != 1 or (np.diff(classes, prepend=-1, append=CLASSES) <= 0).any():
            raise damaged(self.key, expected)
        return classes

    def _floats(self, packed: Any, *, name: str) -> Float32:
        """Packed numbers, each finite."""
        expected = f"{name} that are base64 of finite float32"
        try:
            values = unpack_floats(packed)
        except (ValueError, TypeError) as error:
            raise damaged(self.key, expected) from error
        if not np.isfinite(values).all():
            raise damaged(self.key, expected)
        return values


def evidence_of(row: dict[str, Any]) -> TieEvidence:
    """The evidence in a line of a file of records; what breaks ties and anchors votes is there where candidates are."""
    key, views = str(row["key"]), len((row["views"] or {"labels": ()})["labels"])
    if row["candidates"] and (row["tie_draw"] is None or row["source_probability"] is None):
        raise damaged(key, "tie_draw and source_probability beside its candidates")
    return TieEvidence(key, views, row["candidates"], row["logits"], (row["group_marginal"], row["group_logits"]))


def damaged(key: str, expected: str) -> RecordError:
    """The error that names a record and what it should hold."""
    return RecordError(f"record {key!r} is damaged: expected {expected}. Was its file edited? Run it again.")
