"""Features of the last photographs: the same photo asked about other labels is not encoded again."""

from collections import OrderedDict
from threading import Lock

import numpy as np

from ..arrays import Float32
from ..encoders import Encoder
from ..rng import content_key

Key = tuple[str, int, str]

ENTRY = 600
"""Bytes that an entry takes besides its features: its key, the array around them, its place in the order."""


class FeatureCache:
    """Features (views, dim) by photo, seed and kind of views, in at most `max_bytes`; the least recently used go first.

    Views follow from those three alone and features from the view alone, as long as whole blocks of the encoder are
    kept. So an answer from here is the same to the last bit.
    """

    def __init__(self, encoder: Encoder, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes if encoder.block_views else 0  # without blocks, features depend on their neighbours
        self._block = encoder.block_views or 1
        self._none = np.zeros((0, encoder.dim), dtype=np.float32)
        self._rows: OrderedDict[Key, Float32] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        self.hits = 0

    @property
    def on(self) -> bool:
        """Whether anything is kept at all."""
        return self._max_bytes > 0

    def key(self, data: bytes, *, seed: int, augment: str) -> Key:
        """What the views of an image follow from."""
        return content_key(data), seed, augment

    def known(self, key: Key) -> Float32:
        """The features of the first views, as many as there are."""
        with self._lock:
            if key not in self._rows:
                return self._none
            self._rows.move_to_end(key)
            self.hits += 1
            return self._rows[key]

    def keep(self, key: Key, rows: Float32) -> None:
        """Remember whole blocks of features, unless more are here already."""
        rows = rows[: len(rows) - len(rows) % self._block]
        with self._lock:
            before = self._rows.get(key, self._none)
            if len(rows) <= len(before) or not self.on:
                return
            self._bytes += rows.nbytes - before.nbytes + (0 if key in self._rows else ENTRY)
            self._rows[key] = rows.copy()
            self._rows.move_to_end(key)
            while self._bytes > self._max_bytes and self._rows:
                _, oldest = self._rows.popitem(last=False)
                self._bytes -= oldest.nbytes + ENTRY
