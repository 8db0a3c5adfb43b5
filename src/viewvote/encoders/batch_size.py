"""How many views to encode at once: measured once per model and machine, and only where it can matter."""

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from time import perf_counter

import numpy as np

from ..files import default_cache_dir, write_best_effort
from .base import Encoder

DEFAULT = 32
SIZES = (8, 16, 32, 64, 128)
SECONDS = 2.0
"""The most a measurement takes, apart from the batch during which the time runs out."""


@dataclass(frozen=True)
class BatchSize:
    """A number of views and why it is that one."""

    views: int
    reason: str


def fastest_batch(encoder: Encoder, *, cache_dir: Path | None = None) -> int:
    """The number of views to encode at once that is fastest here, measured when it is first asked for."""
    return explain_batch(encoder, cache_dir=cache_dir).views


def explain_batch(encoder: Encoder, *, cache_dir: Path | None = None) -> BatchSize:
    """The same with its reason.

    Nothing is measured where the size cannot matter: packs encode every view in a run of its own, torch encoders in
    fixed blocks. (Their block is not measured: it would make the last bits of features depend on a stopwatch.)
    """
    block = encoder.block_views
    if encoder.linear_cost:
        return BatchSize(DEFAULT, "each view costs the same in any batch: not measured")
    if block != 1:
        blocks = f"blocks of {block} views" if block else "one image at a time"
        return BatchSize(DEFAULT, f"encoded in {blocks} whatever the batch: not measured")
    path = (cache_dir or default_cache_dir()) / "batch-views" / f"{_key(encoder)}.json"
    known = _read(path)
    if known is None:
        known = measure_batch(encoder)
        write_best_effort(path, json.dumps({"views": known}))
    return BatchSize(known, "the fastest per view, measured once on this machine")


def measure_batch(encoder: Encoder, *, sizes: Iterable[int] = SIZES, seconds: float = SECONDS) -> int:
    """The size with the least time per view; larger ones are left out once the time is up."""
    side = encoder.image_spec.size
    views = np.random.default_rng(0).integers(0, 256, (max(sizes := tuple(sizes)), side, side, 3), dtype=np.uint8)
    start = perf_counter()
    encoder.encode_images(views[: sizes[0]])  # warms up
    per_view: dict[int, float] = {}
    for size in sizes:
        before = perf_counter()
        if per_view and before - start >= seconds:
            break
        encoder.encode_images(views[:size])
        per_view[size] = (perf_counter() - before) / size
    return min(per_view, key=lambda size: per_view[size])


def _key(encoder: Encoder) -> str:
    machine = (platform.node(), platform.machine(), platform.processor(), os.cpu_count())
    return blake2b(repr((encoder.model_id, encoder.fingerprint, machine)).encode(), digest_size=16).hexdigest()


def _read(path: Path) -> int | None:
    """The measured size, or None where the file is missing or damaged."""
    try:
        views = json.loads(path.read_bytes())["views"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return views if isinstance(views, int) and views in SIZES else None
