"""Small jobs and what their tables hold."""

import json
from pathlib import Path

from benchmarks.shelves import LABELS, write_shard
from viewvote.bulk import BulkJob, Recipe
from viewvote.sources import open_source

RECIPE = Recipe({"model": "toy", "labels": LABELS, "n_views": 4})


def shards(folder, *, number=3, each=5):
    """Shards 0.tar, 1.tar, ... of so many pictures, and what stands for them all."""
    folder.mkdir(parents=True, exist_ok=True)
    for shard in range(number):
        write_shard(folder / f"{shard}.tar", range(shard * each, shard * each + each))
    return f"{folder}/{{0..{number - 1}}}.tar"


def job(places, output, *, keep=(), recipe=RECIPE, **settings):
    """A job over the places."""
    source = open_source(*([places] if isinstance(places, str) else places), keep_columns=keep)
    return BulkJob(source, recipe, str(output), **{"part_images": 2, **settings})


def rows_of(output):
    """The rows of all parts, in order."""
    import pyarrow.parquet as pq

    return [row for part in sorted(Path(output).iterdir()) for row in pq.read_table(part).to_pylist()]


def parts_of(output):
    """Name -> bytes of each part."""
    return {part.name: part.read_bytes() for part in Path(output).iterdir()}


def manifest_of(output):
    """The manifest."""
    return json.loads(Path(f"{output}.manifest", "manifest.json").read_text())
