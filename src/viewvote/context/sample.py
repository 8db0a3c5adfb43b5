"""The logits of photos as they come, in bounded memory: of more than fit, a sample that has no order."""

from hashlib import blake2b

import numpy as np

from ..arrays import Float32

MOST_PHOTOS = 10_000
MOST_NUMBERS = 20_000_000


class LogitSample:
    """The logits (labels,) of the source views of photos: all of them, or those whose bytes have the smallest hash.

    Which are kept depends on what they are, not on when they came, so a folder in another order is the same sample.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[bytes, Float32]] = []

    def add(self, row: Float32) -> None:
        """Take one photo's logits."""
        row = np.ascontiguousarray(row, dtype=np.float32)
        self._kept.append((blake2b(row.tobytes(), digest_size=16).digest(), row))
        if len(self._kept) > 2 * self._most:
            self._trim()

    def rows(self) -> Float32:
        """The logits (photos, labels) of the sample, the same bits in any order they came in."""
        self._trim()
        return np.array([row for _, row in self._kept], dtype=np.float32)

    @property
    def _most(self) -> int:
        return min(MOST_PHOTOS, max(1, MOST_NUMBERS // len(self._kept[0][1])))

    def _trim(self) -> None:
        self._kept.sort(key=lambda pair: pair[0])
        if self._kept:
            del self._kept[self._most :]
