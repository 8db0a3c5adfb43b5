"""What a run cost: seconds per image and stage from its records."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..records.columns import TIMINGS, Columns


@dataclass(frozen=True)
class Cost:
    """Seconds per image over `n` images: the mean of each stage, and the spread of the total."""

    mean: Mapping[str, float]
    median: float
    p95: float
    n: int


def cost_of(columns: Columns) -> Cost | None:
    """The cost in the records, or None where none has timings (Table "Computational requirements").

    The paper times the forward passes alone; "encode" and "decide" are those, "read" and "render" decode and crop.
    """
    timed = ~np.isnan(columns.seconds[:, -1])
    if not timed.any():
        return None
    seconds = columns.seconds[timed]
    timed_stages = {name: column for name, column in zip(TIMINGS, seconds.T, strict=True) if not np.isnan(column).all()}
    median, p95 = np.quantile(seconds[:, -1], [0.5, 0.95])
    return Cost(
        mean={name: float(np.nanmean(column)) for name, column in timed_stages.items()},
        median=float(median),
        p95=float(p95),
        n=int(timed.sum()),
    )
