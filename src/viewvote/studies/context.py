"""Other photos as context (docs/guides/context.md): what the rule gains zero-shot by mix and number of photos."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Float32, Int64
from ..context.rule import MEAN_SHARE, VARIED, estimate
from ..metrics.means import mean_of, pooled_means
from ..pictures.plots import bars_side_by_side, faint
from ..records.detail import read_details
from ..runs.read import Run
from .base import COUNTS, NAMES, Column, Finding, Group, Options, groups, of_views
from .mixes import draw_folders

FOLDERS = 10
"""Folders of each mix, and of each size."""

SIZES = (10, 20, 50, 100, 200, 500)
LEAST = float(np.finfo(np.float32).tiny)

COLUMNS = (
    *NAMES,
    Column("folder", "folder"),
    Column("photos", "photos", "count"),
    Column("folders", "folders", "count"),
    Column("plain", "zero-shot", "percent"),
    Column("gain", "with context", "points", "gain_low", "gain_high"),
    Column("share", "of the pull taken", "percent"),
    Column("mean_gain", "with the plain mean", "points"),
    *COUNTS,
)


@dataclass(frozen=True)
class Outcome:
    """One folder: its photos, which of them zero-shot has right without and with context, and the share taken off."""

    name: str
    plain: Float32
    ruled: Float32
    meaned: Float32
    share: float


def study(runs: Sequence[Run], options: Options) -> Finding:
    """Zero-shot with the folder's own photos as context, from recorded source views."""
    rows = tuple(row for group in groups(of_views(runs, detail=True)) for row in _rows(group, options.seed))
    return Finding(
        name="context",
        title="Zero-shot with other photos as context",
        columns=COLUMNS,
        rows=rows,
        notes=(
            "Points over zero-shot on the same photos; [ ] is 95% over the folders' photos (folders of one mix share "
            "some, which it does not know). Folders are drawn from the run's photos: all of them, long tails, one "
            "label that fills half, 80% or all of a folder, two labels; then as many photos as the name has. The rule "
            f"takes less off where few labels fill a folder; the plain mean ({MEAN_SHARE:g} of it) does not look.",
            "The run's other images decide: these rows are not to be averaged with those of single images.",
        ),
        draw=lambda figure: _draw(figure, rows),
        size=(6.6, 3.0 * len(_panels(rows))),
    )


def outcomes(logits: Float32, targets: Int64, rng: np.random.Generator) -> Iterator[Outcome]:
    """Zero-shot on folders of every mix, then of every size, from source views' logits (photos, labels)."""
    for mix, chosen in draw_folders(targets, rng, each=FOLDERS):
        yield _outcome(mix, logits[chosen], targets[chosen])
    for size in (size for size in SIZES if size < len(targets)):
        for _ in range(FOLDERS):
            chosen = rng.choice(len(targets), size, replace=False)
            yield _outcome(f"{size} photos", logits[chosen], targets[chosen])


def _outcome(name: str, logits: Float32, targets: Int64) -> Outcome:
    ruled, meaned = estimate(logits), estimate(logits, mix=VARIED)
    plain, with_rule, with_mean = (
        (logits - offsets).argmax(axis=1) == targets for offsets in (np.float32(0), ruled.offsets, meaned.offsets)
    )
    hits = [found.astype(np.float32) for found in (plain, with_rule, with_mean)]
    return Outcome(name, hits[0], hits[1], hits[2], ruled.share)


def _rows(group: Group, seed: int) -> list[dict[str, Any]]:
    seeds = [list(outcomes(*_source_logits(run), np.random.default_rng(seed))) for run in group.runs]
    rows = []
    for name in dict.fromkeys(found.name for found in seeds[0]):
        by_seed = [[found for found in one if found.name == name] for one in seeds]
        gains = pooled_means([mean_of(np.concatenate([f.ruled - f.plain for f in same])) for same in by_seed])
        every = [found for same in by_seed for found in same]
        rows.append(
            {
                **group.names,
                "folder": name,
                "photos": round(np.mean([len(found.plain) for found in every])),
                "folders": len(by_seed[0]),
                "plain": float(np.concatenate([found.plain for found in every]).mean()),
                "gain": gains.value,
                "gain_low": gains.low,
                "gain_high": gains.high,
                "share": float(np.mean([found.share for found in every])),
                "mean_gain": float(np.concatenate([found.meaned - found.plain for found in every]).mean()),
                "n": gains.n,
                "seeds": len(seeds),
            }
        )
    return rows


def _source_logits(run: Run) -> tuple[Float32, Int64]:
    """Log-probabilities of the source views (photos, labels), which are their logits but for one number a photo."""
    found = [(one.arrays["source"], one.target) for one in read_details(run.records, ["source"])]
    rows = np.log(np.maximum(np.array([source for source, _ in found], dtype=np.float32), LEAST))
    return rows, np.array([target for _, target in found], dtype=np.int64)


def _draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """The gain of the rule and of the plain mean for each folder, a panel per dataset and model."""
    names = _panels(rows)
    for axis, (dataset, model) in zip(figure.subplots(len(names), 1, squeeze=False).flat, names, strict=True):
        _panel(axis, [row for row in rows if (row["dataset"], row["model"]) == (dataset, model)])
        axis.set_title(f"{dataset}, {model}", loc="left")


def _panels(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["dataset"], row["model"]) for row in rows))


def _panel(axis: Any, shown: Sequence[Mapping[str, Any]]) -> None:
    bars_side_by_side(
        axis,
        [row["folder"] for row in shown],
        {
            "the rule": [100 * row["gain"] for row in shown],
            "the plain mean": [100 * row["mean_gain"] for row in shown],
        },
        colours=("C0", "C5"),
        errors={"the rule": [(100 * row["gain_low"], 100 * row["gain_high"]) for row in shown]},
    )
    axis.axhline(0, color=faint(), linewidth=0.6)
    axis.set_ylabel("points over zero-shot")
