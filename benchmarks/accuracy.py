"""What each mode answers on real labelled photos, with the embedded model: accuracy, agreement, views looked at."""

import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.modes import Answer, Mode, Worker
from benchmarks.tables import STOPPING
from training.eval_sets import load_benchmark
from viewvote.rates import rate_of
from viewvote.vote import break_tie, count_kept, rank_by_confidence, tally

SETS = ("imagenet", "pacs_sketch")
VIEWS = (1, 2, 4, 8, 16, 32, 64)
MODES = (
    Mode("reference", "pocket-torch", reference=True),
    Mode("fp32", "pocket", precision="fp32"),
    Mode("fp32, exact stop", "pocket", precision="fp32", stop="exact"),
    Mode("int8", "pocket", precision="int8"),
    Mode("int8, adaptive", "pocket", precision="int8", n_views="adaptive"),
    Mode("int8, anchored", "pocket", precision="int8", method="anchored"),
    Mode("int8, default", "pocket", precision="int8", n_views="auto", method="auto"),
)
FULL = "fp32"  # the mode whose answers the others' are compared with
AT_MOST = {"reference": 60, "fp32, exact stop": 250}  # photos: the one is slow, the other proved equal to fp32
CHUNK = 50


def judge(data: Path, *, limit: int) -> list[dict[str, Any]]:
    """One row per set and mode; the rows of fixed budgets also have the accuracy for fewer views, from the same run."""
    rows = []
    for name in SETS:
        photos, targets, classes = load_photos(data, name, limit=limit)
        steps = {mode.name: -(-len(photos) // AT_MOST.get(mode.name, len(photos))) for mode in MODES}
        answers = {mode.name: ask(mode, classes, photos[:: steps[mode.name]]) for mode in MODES}
        chosen = {mode: np.array([answer.index for answer in found]) for mode, found in answers.items()}
        for mode, found in answers.items():
            row = describe(found, targets[:: steps[mode]], chosen[FULL][:: steps[mode]])
            row |= {"set": name, "mode": mode, "classes": len(classes)}
            if mode in STOPPING:
                same = chosen[mode] == chosen[STOPPING[mode]][:: steps[mode]]
                row["same as full budget"] = vars(rate_of(same, np.ones(len(same), dtype=bool)))
            rows.append(row)
            print(f"{name}: {mode}: {rows[-1]['accuracy']:.1f}%", file=sys.stderr, flush=True)
    return rows


def load_photos(data: Path, name: str, *, limit: int) -> tuple[list[bytes], NDArray[np.int64], tuple[str, ...]]:
    """At most `limit` encoded photos spread evenly over a set, their classes, and the names of all classes."""
    found = load_benchmark(data, name)
    chosen = np.unique(np.linspace(0, len(found.paths) - 1, min(limit, len(found.paths))).astype(int))
    return [found.paths[i].read_bytes() for i in chosen], np.array(found.labels)[chosen], found.classes


def ask(mode: Mode, classes: Sequence[str], photos: Sequence[bytes]) -> list[Answer]:
    """The mode's answers, as a stream."""
    worker = Worker(mode, classes, any_texts=False)
    answers = [a for i in range(0, len(photos), CHUNK) for a in worker.many(photos[i : i + CHUNK]).answers]
    worker.close()
    return answers


def describe(answers: list[Answer], targets: NDArray[np.int64], full: NDArray[np.int64]) -> dict[str, Any]:
    """Accuracy with its 95% interval, agreement with the full budget, views used and, for 64 of them, for fewer."""
    index = np.array([answer.index for answer in answers])
    used = [len(answer.labels) for answer in answers]
    fewer = {}
    if min(used) == max(VIEWS):
        fewer = {n: 100 * np.mean([winner(a, n) for a in answers] == targets) for n in VIEWS}
    hits, n = int((index == targets).sum()), len(targets)
    half = 196 * sqrt(hits / n * (1 - hits / n) / n)
    same = 100 * float(np.mean(index == full))
    return {"n": n, "accuracy": 100 * hits / n, "half": half, "same": same, "used": used, "fewer": fewer}


def winner(answer: Answer, n: int) -> int:
    """The class that the first `n` views choose: the vote of `viewvote.vote`, from labels and entropies alone."""
    labels, order = answer.labels[:n], rank_by_confidence(answer.entropy[:n].astype(np.float32))
    k = count_kept(n, 0.3)
    votes = tally(labels[order[:k]], int(labels.max()) + 1)
    tied = np.flatnonzero(votes == votes.max())
    nothing = np.zeros((n, 0), dtype=np.float32)  # the greedy rule looks at no logits
    return int(tied[0]) if len(tied) == 1 else break_tie(tied, nothing, labels, order, k=k, rule="greedy")[0]
