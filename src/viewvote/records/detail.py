"""What studies need of a sample beyond votes: class probabilities, boxes, and p-bar around tuning."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..arrays import Float32
from ..errors import RecordError, UsageError
from ..prediction import Evidence, Trace
from ..reading import open_regular, reason
from .packing import pack_floats, unpack_floats

HOW = {
    "source": "viewvote eval ... --detail",
    "kept": "viewvote eval ... --detail",
    "every": "viewvote eval ... --detail",
    "target": "viewvote eval ... --detail",
    "square": "viewvote eval ... --detail",
    "boxes": "viewvote eval ... --detail",
    "before": "viewvote eval ... --method tpt --set record_marginal=True",
    "after": "viewvote eval ... --method tpt --set record_marginal=True",
}
"""The command that records each array."""


@dataclass(frozen=True)
class Detail:
    """Arrays of one sample by name, each packed; only what was recorded is there.

    source         the source view's probabilities (classes,)
    kept, every    p-bar over the kept views, and over all views (classes,)
    target         of each view, the probability of the right class (views,)
    square         of each view, the squared norm of its probabilities (views,)
    boxes          of each view, left, top, right and bottom in pixels of the upright image (views x 4)
    before, after  p-bar over the kept views before and after tuning (classes,)
    """

    packed: Mapping[str, str]


def detail_of(trace: Trace, *, target: int) -> Detail | None:
    """The detail in a trace, or None where nothing of it was asked for."""
    arrays: dict[str, Float32] = {}
    if trace.evidence is not None and trace.evidence.probabilities is not None:
        arrays |= _of_views(trace, trace.evidence, target)
    if trace.marginal_before is not None and trace.marginal_after is not None:
        arrays |= {"before": trace.marginal_before, "after": trace.marginal_after}
    return Detail({name: pack_floats(values) for name, values in arrays.items()}) if arrays else None


def _of_views(trace: Trace, evidence: Evidence, target: int) -> dict[str, Float32]:
    p = np.asarray(evidence.probabilities, dtype=np.float64)  # (views, classes)
    kept = trace.views.kept
    found = {
        "source": p[0],
        "kept": p[kept].mean(axis=0),
        "every": p.mean(axis=0),
        "target": p[:, target],
        "square": (p**2).sum(axis=1),
        "boxes": np.array([box.to_list() for box in trace.views.boxes], dtype=np.float64).ravel(),
    }
    return {name: values.astype(np.float32) for name, values in found.items()}


@dataclass(frozen=True)
class Detailed:
    """One usable sample with the arrays that were asked for."""

    key: str
    target: int
    labels: tuple[int, ...]
    kept: tuple[int, ...]
    arrays: Mapping[str, Float32]


def read_details(path: Path, names: Sequence[str]) -> Iterator[Detailed]:
    """The usable samples of a file of records, one at a time, with these arrays; a missing one is an error."""
    try:
        with open_regular(path) as stream:
            for number, line in enumerate(stream, 1):
                if line.endswith(b"\n") and (found := _detailed(line, names, path, number)) is not None:
                    yield found
    except OSError as error:
        raise RecordError(f"cannot read {path}: {reason(error)}.") from error


def _detailed(line: bytes, names: Sequence[str], path: Path, number: int) -> Detailed | None:
    try:
        row = json.loads(line)
        if row["index"] is None:
            return None
        packed, views = row.get("detail") or {}, row["views"] or {"labels": (), "kept": ()}
        for name in names:
            if name not in packed:
                raise UsageError(f"{path} holds no {name!r}, which this study needs. Record it: {HOW[name]}")
        arrays = {name: unpack_floats(packed[name]) for name in names}
        return Detailed(row["key"], int(row["target"]), tuple(views["labels"]), tuple(views["kept"]), arrays)
    except UsageError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise RecordError(f"{path}, line {number} is not a record ({type(error).__name__}: {error}).") from error
