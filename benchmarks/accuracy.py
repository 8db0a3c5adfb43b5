"""What each mode answers on real labelled photos, with the embedded model: accuracy, agreement, views looked at.

Our modes answer from features of all 64 views, to the last bit what they answer for the photos themselves; those are
kept on disk, so the views are encoded once for all modes and runs.
"""

import sys
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kept import Kept
from benchmarks.modes import Answer, Mode, OurWay, Worker
from benchmarks.tables import STOPPING
from training.eval_sets import load_benchmark
from viewvote import LoadOptions
from viewvote.encoders import load_encoder
from viewvote.rates import rate_of
from viewvote.vote import break_tie, count_kept, rank_by_confidence, tally

SETS = ("imagenet", "pacs_sketch")
VIEWS = (1, 2, 4, 8, 16, 32, 64)
INT8 = {"model": "pocket", "precision": "int8"}
MODES = (
    Mode("fp32", "pocket", precision="fp32"),
    Mode("fp32, exact stop", "pocket", precision="fp32", disagreement="exact"),
    Mode("int8", **INT8),
    Mode("int8, ZERO, strict", **INT8, n_views="auto", disagreement="strict"),
    Mode("int8, ZERO, noise", **INT8, n_views="auto", disagreement="noise"),
    Mode("int8, anchored", **INT8, method="anchored"),
    Mode("int8, anchored, exact", **INT8, method="anchored", disagreement="exact"),
    Mode("int8, anchored, strict", **INT8, method="anchored", n_views="auto", disagreement="strict"),
    Mode("int8, default", **INT8, method="auto", n_views="auto"),
)
REFERENCE = Mode(
    "reference", "pocket-torch", reference=True, keeps_memory=True
)  # the same answers, several times as fast
FULL = "fp32"  # the mode whose answers the others' are compared with
ASKED = 60  # photos of the reference, which is slow
CHUNK = 5


def judge(data: Path, *, limit: int, folder: Path, kept: Kept) -> list[dict[str, Any]]:
    """One row per set and mode; the rows of fixed budgets also have the accuracy for fewer views, from the same run."""
    rows = []
    for name in SETS:
        paths, targets, classes = choose_photos(data, name, limit=limit)
        full: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        chosen: dict[str, NDArray[np.int64]] = {}
        for mode in MODES:
            answers = answers_of(mode, paths, classes, folder=folder / f"features-{name}-{mode.precision}")
            chosen[mode.name] = np.array([answer.index for answer in answers])
            full = chosen[mode.name] if mode.name == FULL else full
            row = describe(answers, targets, full) | {"set": name, "mode": mode.name, "classes": len(classes)}
            if mode.name in STOPPING:
                same = chosen[mode.name] == chosen[STOPPING[mode.name]]
                row["same as full budget"] = vars(rate_of(same, np.ones(len(same), dtype=bool)))
            rows.append(row)
            print(f"{name}: {mode.name}: {row['accuracy']:.1f}%", file=sys.stderr, flush=True)
        step = -(-len(paths) // ASKED)
        answers = reference_answers(paths[::step], classes, name=name, kept=kept)
        row = describe(answers, targets[::step], full[::step]) | {"set": name, "mode": "reference"}
        rows.append(row | {"classes": len(classes)})
    return rows


def choose_photos(data: Path, name: str, *, limit: int) -> tuple[list[Path], NDArray[np.int64], tuple[str, ...]]:
    """At most `limit` photos spread evenly over a set, their classes, and the names of all classes."""
    found = load_benchmark(data, name)
    chosen = np.unique(np.linspace(0, len(found.paths) - 1, min(limit, len(found.paths))).astype(int))
    return [found.paths[i] for i in chosen], np.array(found.labels)[chosen], found.classes


def answers_of(mode: Mode, paths: list[Path], classes: tuple[str, ...], *, folder: Path) -> list[Answer]:
    """A mode's answers from features in `folder`, where those that are missing are added."""
    encoder = load_encoder(mode.model, LoadOptions(device="cpu", precision=mode.precision))
    budget = OurWay(Mode("budget", mode.model), encoder, classes).classifier
    known = budget.encode(paths, out=folder, resume=folder.exists())
    wanted = {str(path) for path in paths}
    ours = OurWay(mode, encoder, classes)
    found = {answer.path: ours.answer(answer) for answer in ours.classifier.predict_features(known)}
    if missing := wanted - found.keys():
        raise SystemExit(f"{folder} has no features of {min(missing)}; delete it.")
    return [found[str(path)] for path in paths]


def reference_answers(paths: list[Path], classes: tuple[str, ...], *, name: str, kept: Kept) -> list[Answer]:
    """The authors' way, some photos at a time."""
    worker: list[Worker] = []

    def ask(chunk: list[Path]) -> list[int]:
        if not worker:
            worker.append(Worker([REFERENCE], classes, any_texts=False))
        return [answer.index for answer in worker[0].many(REFERENCE, [path.read_bytes() for path in chunk]).answers]

    found: list[int] = []
    for start in range(0, len(paths), CHUNK):
        chunk = paths[start : start + CHUNK]
        found += kept.unit(["reference", name, start], lambda chunk=chunk: ask(chunk))
    for one in worker:
        one.close()
    nothing = np.zeros(0)
    return [Answer(index, 0.0, 0.0, nothing.astype(np.int64), nothing) for index in found]


def describe(answers: list[Answer], targets: NDArray[np.int64], full: NDArray[np.int64]) -> dict[str, Any]:
    """Accuracy with its 95% interval, agreement with the full budget, views used and, for 64 of them, for fewer."""
    index = np.array([answer.index for answer in answers])
    used = [len(answer.labels) for answer in answers]
    fewer = {}
    if min(used) == max(VIEWS):
        fewer = {n: 100 * float(np.mean([winner(a, n) for a in answers] == targets)) for n in VIEWS}
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
