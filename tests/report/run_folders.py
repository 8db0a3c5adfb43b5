"""Run folders without a model: what `viewvote eval` leaves behind."""

import json

import numpy as np

from tests.records.record_files import draw_logits, plain_record, voted_record, write_records
from viewvote.report.layouts import find_layout
from viewvote.report.table import build_table
from viewvote.runs.read import load_run


def write_run(
    folder, records, *, dataset="pets", size=None, subset=False, official=True, complete=True, named=None, **spec
):
    """A run's folder with these records; `size` is that of the dataset, `named` what the environment calls it."""
    write_records(folder / "records.jsonl", records)
    spec = {"dataset": dataset, "fingerprint": "f" * 8, **spec}
    settings = spec.pop("settings", {})
    lines = [f"{name} = {json.dumps(value)}" for name, value in spec.items()]
    lines += ["[settings]", *(f"{name} = {json.dumps(value)}" for name, value in settings.items())]
    (folder / "spec.toml").write_text("\n".join(lines) + "\n")
    if named is not None:
        (folder / "environment.json").write_text(json.dumps({"dataset_name": named}))
    if complete:
        told = {"dataset": dataset, "n": len(records), "subset": subset, "full_split": official and not subset}
        told |= {"dataset_size": len(records) if size is None else size, "peak_memory_mb": 500.0}
        (folder / "summary.json").write_text(json.dumps(told))
    return folder


def answers(right, wrong, *, start=0):
    """Records of which so many are right; keys are numbers."""
    hits = [True] * right + [False] * wrong
    return [plain_record(str(start + i), target=1, index=int(hit), top5=(int(hit), 2)) for i, hit in enumerate(hits)]


def voted(n, *, views=12, seed=0):
    """Records with views and evidence."""
    rng = np.random.default_rng(seed)
    return [voted_record(draw_logits(rng, views=views), key=str(i), target=i % 3, draw=i / n) for i in range(n)]


def odd_table(folder):
    """A table whose names need escaping everywhere."""
    run = write_run(
        folder / "odd", answers(75, 25), dataset="a_b & <c>|%", templates="a {} #1 ~ ^ \\", model="hf:x/y_z$"
    )
    return build_table([load_run(run)], layout=find_layout("free"))
