"""The results of `benchmarks.endtoend` as markdown."""

import statistics
from collections.abc import Iterable
from typing import Any

import numpy as np

TITLES = {"vit": "ViT-B/16-shaped CLIP (random weights)", "pocket": "The embedded model"}
REFERENCE, KEPT_MEMORY = "reference", "reference, memory kept"
STOPPING = {  # the same without stopping
    "fp32, exact stop": "fp32",
    "int8, ZERO, strict": "int8",
    "int8, ZERO, noise": "int8",
    "int8, anchored, exact": "int8, anchored",
    "int8, anchored, strict": "int8, anchored",
    "int8, default": "int8, anchored",
}
IN_ONE_ROUND = ("fp32, exact stop", "int8, anchored, exact")
"""Stopping modes whose rounds are 8 views or more: they cost what as many views cost in one round."""

SHOWN = (REFERENCE, KEPT_MEMORY, "torch", "fp32", "fp32, exact stop", "int8", *list(STOPPING)[1:])


def fixed_name(precision: str, views: int) -> str:
    """The mode that looks at so many views at once."""
    return f"{precision}, {views} views"


def rounds_name(precision: str, views: int) -> str:
    """The mode that looks at so many views in rounds."""
    return f"{precision}, {views} views in rounds"


def to_markdown(results: dict[str, Any]) -> str:
    """Every table, with what it was measured on."""
    low, high = results["load"]
    parts = [f"{results['machine']}, load {low:.1f} to {high:.1f}; {results['rounds']} rounds."]
    parts += [f"Exporting ViT-B/16 with `--int8`: {results['export']}."] if "export" in results else []
    for model, title in TITLES.items():
        if model in results:
            parts += [f"### {title}", cost_table(results, model)]
    if results["quality"]:
        parts += ["### Answers of the embedded model on labelled photographs", quality_table(results["quality"])]
    if "labels" in results:
        parts += ["### Number of labels", labels_table(results["labels"])]
    return "\n\n".join(parts) + "\n"


def cost_table(results: dict[str, Any], model: str) -> str:
    """One row per mode: speed as a ratio to the reference, alone and in a stream, where time goes, and memory."""
    single, stream, peak = (results[model][part] for part in ("single", "stream", "peak"))
    rows = [
        "| mode | s per photo | x reference (quartiles) | x with memory kept | in CPU time | decoding | drawing "
        "| stream: s per photo | x reference | x with memory kept | peak MB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for mode in SHOWN:
        runs = seconds_of(results, model, mode)
        if not runs:
            continue
        low, middle, high = np.percentile(ratios(single[REFERENCE], runs, column=2), [25, 50, 75])
        flowing = stream.get(mode) or []
        cells = [
            mode,
            f"{statistics.median(run[2] for run in runs):.3f}",
            f"**{middle:.2f}** ({low:.2f}-{high:.2f})",
            median_ratio(single.get(KEPT_MEMORY), runs, column=2),
            median_ratio(single[REFERENCE], runs, column=3),
            *(shares(runs, column=column) for column in (4, 5)),
            f"{statistics.median(run[1] for run in flowing):.3f}" if flowing else "",
            median_ratio(stream[REFERENCE], flowing, column=1),
            median_ratio(stream.get(KEPT_MEMORY), flowing, column=1),
            f"{peak[mode]:.0f}" if mode in peak else "",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def median_ratio(reference: list[Any] | None, runs: list[Any], *, column: int) -> str:
    """The median of reference / mode; nothing where one was not measured."""
    return f"{statistics.median(ratios(reference, runs, column=column)):.2f}" if reference and runs else ""


def shares(runs: Iterable[list[Any]], *, column: int) -> str:
    """The part of the time that a column's seconds are: least and most by photo; nothing where none was told."""
    by_photo: dict[str, list[float]] = {}
    for run in runs:
        total = by_photo.setdefault(run[0], [0.0, 0.0])
        total[0] += run[column]
        total[1] += run[2]
    found = [f"{part / whole:.0%}" for part, whole in sorted(by_photo.values(), key=lambda pair: pair[0] / pair[1])]
    if not any(part for part, _ in by_photo.values()):
        return ""
    return found[0] if found[0] == found[-1] else f"{found[0]}-{found[-1]}"


def seconds_of(results: dict[str, Any], model: str, mode: str, *, photos: str = "imagenet") -> list[list[Any]]:
    """A mode's [photo, round, seconds: all, CPU, reading, drawing]; of stopping modes the mean over views used."""
    single = results[model]["single"]
    if mode not in STOPPING:
        return list(single.get(mode, []))
    used = [n for row in results["quality"] if (row["set"], row["mode"]) == (photos, mode) for n in row["used"]]
    costs = costs_of(single, precision_of(mode), in_rounds=mode not in IN_ONE_ROUND)
    if not used:
        return []
    runs = []
    for position, (photo, number, *_) in enumerate(single[REFERENCE]):
        known = np.array([costs[n][position][2:] for n in sorted(costs)], dtype=float)  # (budgets, 4)
        mean = [float(np.mean(np.interp(used, sorted(costs), column))) for column in known.T]
        runs.append([photo, number, *mean])
    return runs


def precision_of(mode: str) -> str:
    """The precision that a mode's name begins with: what a number of views costs follows from it."""
    return mode.split(",")[0]


def costs_of(single: dict[str, Any], precision: str, *, in_rounds: bool = False) -> dict[int, list[Any]]:
    """The runs of a precision by their number of views, all at once or in rounds; 64 of them cost about the same."""
    name = rounds_name if in_rounds else fixed_name
    counts = {n: name(precision, n) for n in range(1, 64)}
    return {n: single[mode] for n, mode in counts.items() if mode in single} | {64: single[precision]}


def ratios(reference: Iterable[Any], runs: Iterable[Any], *, column: int) -> list[float]:
    """Reference / mode, pair by pair of the same photo and round."""
    theirs = {tuple(run[: min(column, 2)]): run[column] for run in reference}
    return [theirs[tuple(run[: min(column, 2)])] / run[column] for run in runs]


def quality_table(quality: list[dict[str, Any]]) -> str:
    """Accuracy, agreement with all 64 views in fp32 and in the mode's own precision, and views looked at."""
    rows = [
        "| photographs | mode | n | top-1 % (95%) | same answer as fp32 | as its own 64 views | views |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in quality:
        views = "64" if not sum(row["used"]) else f"{np.mean(row['used']):.1f}"
        cells = [row["set"], row["mode"], str(row["n"]), f"{row['accuracy']:.1f} ± {row['half']:.1f}"]
        own = row.get("same as full budget")
        cells += [f"{row['same']:.1f}%", "" if own is None else interval(own), views]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def interval(rate: dict[str, float]) -> str:
    """A rate and its 95% interval in per cent."""
    return f"{100 * rate['value']:.1f}% ({100 * rate['low']:.1f}-{100 * rate['high']:.1f})"


def labels_table(labels: dict[str, list[list[float]]]) -> str:
    """Seconds and CPU seconds by the number of labels."""
    rows = ["| labels | s per photo | CPU s per photo |", "|---:|---:|---:|"]
    for n, (seconds, cpu) in labels.items():
        rows.append(f"| {int(n):,} | {statistics.median(seconds):.3f} | {statistics.median(cpu):.3f} |")
    return "\n".join(rows)
