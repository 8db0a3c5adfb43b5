"""Unlabelled photos as context, on cached features: gains by mix, estimator and method, constants with sets left out.

    python -m benchmarks.context --data DIR --cache FOLDER --model pocket --views 64 --out runs/context

FOLDER holds SET.npy with features (images, views, dim) of the set's images in their order, view 0 the source view; rows
of zeros are left out. Folders of six mixes are drawn from each set. What was measured of a set is kept in --out, so an
interrupted run goes on, and --report prints the tables of any number of models without measuring anything.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.eval_sets import SETS, Benchmark, data_folder, load_benchmark
from viewvote import load_encoder
from viewvote.context.mix import effective_labels, expected_labels
from viewvote.context.pull import leak_pull, mean_pull, others_pull, softmax, transport_pull
from viewvote.context.rule import DOUBT, FULL, LEAST_PHOTOS, REST, UNIFORM, estimate
from viewvote.encoders import Encoder
from viewvote.encoders.likeness import label_likeness
from viewvote.encoders.text_head import build_text_head
from viewvote.labels.templates import resolve_templates
from viewvote.methods import METHODS, ViewLogits
from viewvote.methods.base import TrainingFreeMethod
from viewvote.metrics.paired import mcnemar
from viewvote.studies.mixes import MIXES, VARIED, draw_folders

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
METHODS_SHOWN = ("zero-shot", "zero", "anchored")
SHARES = (0.25, 0.5, 0.75, 1.0)
SETTINGS = [*(("rule", share) for share in SHARES), ("leaks", 1.0), ("mean", 0.5), ("others", 0.5), ("transport", 0.5)]
LEAST_PER_LABEL = 2
"""Sets with fewer photos a label have no folder of one label."""


def rule_pull(logits: Float64) -> Float64:
    """What the rule takes a share of."""
    leaked = leak_pull(logits)
    return leaked + REST * transport_pull(logits - leaked, np.ones(logits.shape[1]))


PULLS: dict[str, Callable[[Float64], Float64]] = {
    "rule": rule_pull,
    "mean": mean_pull,
    "others": others_pull,
    "leaks": leak_pull,
    "transport": lambda logits: transport_pull(logits, np.ones(logits.shape[1])),
}


@dataclass(frozen=True)
class Scored:
    """One set: its photos' logits (images, views, labels), labels, and how alike the label texts are."""

    name: str
    logits: NDArray[np.float32]
    labels: Int64
    likeness: float
    encoder: Encoder


def scored(encoder: Encoder, bench: Benchmark, cache: Path, *, views: int) -> Scored:
    """The logits of the images whose features are there."""
    templates = resolve_templates("photo")
    head = build_text_head(encoder, bench.classes, templates=templates)
    stored = np.load(cache / f"{bench.name}.npy", mmap_mode="r")
    there = [i for i in range(len(stored)) if stored[i, views - 1].any()]
    logits = [head.logits(np.asarray(stored[i, :views], dtype=np.float32), encoder) for i in there]
    likeness = label_likeness(encoder, head, templates=templates)
    return Scored(bench.name, np.stack(logits), np.array(bench.labels)[there], likeness, encoder)


def right(
    one: Scored, chosen: Int64, offsets: Float64, methods: Mapping[str, TrainingFreeMethod]
) -> dict[str, list[bool]]:
    """Whether each method is right about each of the photos, with these offsets taken off."""
    scale, bias = one.encoder.logit_scale, one.encoder.logit_bias
    shifted = one.logits[chosen] - offsets.astype(np.float32)
    views = [ViewLogits(v, scale, bias, likeness=one.likeness, tie_draw=0.0) for v in shifted]
    answers = {name: np.array([method.decide(each).index for each in views]) for name, method in methods.items()}
    return {name: [bool(hit) for hit in found == one.labels[chosen]] for name, found in answers.items()}


def measure(one: Scored, *, each: int) -> list[dict[str, object]]:
    """Every folder of a set: what it shows, and which photos each method has right at each share of each pull."""
    methods = {name: METHODS.get(name)() for name in METHODS_SHOWN}
    free = {name: method for name, method in methods.items() if isinstance(method, TrainingFreeMethod)}
    rows: list[dict[str, object]] = []
    for mix, chosen in draw_folders(one.labels, np.random.default_rng(0), each=each):
        source = one.logits[chosen, 0].astype(np.float64)
        left = softmax(source - leak_pull(source)).mean(axis=0)
        shown = effective_labels(left) / expected_labels(len(chosen), source.shape[1])
        row: dict[str, object] = {"set": one.name, "mix": mix, "n": len(chosen), "varied": shown}
        pulls = {name: pull(source) for name, pull in PULLS.items()}
        for pull, share in [("none", 0.0), *SETTINGS]:
            offsets = share * pulls[pull] if share else np.zeros(source.shape[1])
            key = f"{pull} {share or 0}"
            row |= {f"{key} {name}": hits for name, hits in right(one, chosen, offsets, free).items()}
        ruled = estimate(one.logits[chosen, 0])
        row |= {f"shipped {name}": hits for name, hits in right(one, chosen, ruled.offsets, free).items()}
        row["share"] = ruled.share
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Policy:
    """How much of which pull: `share` of it, or by the rule with these constants; no constants is what ships.

    uniform, full  between which parts of the expected labels the share grows from 0
    doubt          it is n / (n + doubt) for a varied folder of n photos
    """

    pull: str = "shipped"
    share: float = 1.0
    uniform: float = 0.0
    full: float = 0.0
    doubt: float = 0.0

    def key(self, row: Mapping[str, object]) -> str:
        """What was measured of a folder that is nearest to it."""
        if self.pull == "shipped":
            return "shipped"
        share, n = self.share, int(str(row["n"]))
        if self.full:
            varied = (float(str(row["varied"])) - self.uniform) / (self.full - self.uniform)
            share *= min(1.0, max(0.0, varied)) * n / (n + self.doubt) if n >= LEAST_PHOTOS else 0
        share = min((0.0, *SHARES), key=lambda one: abs(one - share))
        return f"{self.pull} {share}" if share else "none 0"


SHIPPED = Policy()
EDGES = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
WIDTH = 0.3
GRID = [
    Policy("rule", share, low, high, doubt)
    for share, low, high, doubt in product((0.75, 1.0), EDGES, EDGES, (0, 20, 40, 80))
    if low < high <= low + WIDTH
]
assert Policy("rule", 1.0, UNIFORM, FULL, DOUBT) in GRID
FIXED = [Policy(pull, share) for pull, share in SETTINGS]


@dataclass(frozen=True)
class Table:
    """Points gained by set (sets, methods) for each mix: over zero-shot where varied, else over the same method."""

    sets: tuple[str, ...]
    gains: dict[str, Float64]

    def without(self, name: str) -> dict[str, Float64]:
        """The gains on all other sets."""
        keep = np.array([one != name for one in self.sets])
        return {mix: values[keep] for mix, values in self.gains.items()}


def table_of(rows: Sequence[dict[str, object]], policy: Policy | None) -> Table:
    """The mean gains of a policy; None takes nothing off."""
    sets = tuple(dict.fromkeys(str(row["set"]) for row in rows))
    gains = {}
    for mix in MIXES:
        by_set = []
        for name in sets:
            here = [row for row in rows if row["set"] == name and row["mix"] == mix]
            by_set.append(np.mean([[_gain(row, policy, method) for method in METHODS_SHOWN] for row in here], axis=0))
        gains[mix] = 100 * np.array(by_set)
    return Table(sets, gains)


def _gain(row: dict[str, object], policy: Policy | None, method: str) -> float:
    against = "zero-shot" if row["mix"] in VARIED else method
    key = "none 0" if policy is None else policy.key(row)
    return float(np.mean(row[f"{key} {method}"]) - np.mean(row[f"none 0 {against}"]))  # type: ignore[arg-type]


def merit(gains: dict[str, Float64]) -> float:
    """What constants are chosen by: the gain on varied folders, less what falls short of the bars (docs/context.md)."""
    total = 0.0
    for mix, values in gains.items():
        shown = values[:, [0, 2]]  # zero-shot and the anchored vote
        mean, worst = shown.mean(axis=0), shown.min(axis=0)
        if mix in VARIED:
            total += float(mean.mean() + 0.7 * np.minimum(0, worst + 1).mean())
        else:
            total += float(2 * np.minimum(0, mean + 0.4).mean() + 0.7 * np.minimum(0, worst + 2).mean())
    return total


def left_out(measured: dict[str, list[dict[str, object]]]) -> tuple[dict[str, Table], list[Policy]]:
    """Each model's gains with every set measured under the constants that all other sets choose, of both models."""
    tables = {model: [table_of(rows, policy) for policy in GRID] for model, rows in measured.items()}
    names = list(dict.fromkeys(name for found in tables.values() for name in found[0].sets))
    chosen = {}
    for name in names:
        merits = [sum(merit(found[i].without(name)) for found in tables.values()) for i in range(len(GRID))]
        chosen[name] = int(np.argmax(merits))
    out = {}
    for model, found in tables.items():
        sets = found[0].sets
        gains = {mix: np.array([found[chosen[name]].gains[mix][row] for row, name in enumerate(sets)]) for mix in MIXES}
        out[model] = Table(sets, gains)
    return out, [GRID[i] for i in chosen.values()]


def line(title: str, table: Table) -> str:
    """One row of the table by mix: mean and worst set of each method."""
    cells = []
    for mix in MIXES:
        values = table.gains[mix]
        cells.append("; ".join(f"{v.mean():+.1f}/{v.min():+.1f}" for v in values.T))
    return f"| {title} | " + " | ".join(cells) + " |"


def report(measured: dict[str, list[dict[str, object]]]) -> str:
    """The tables of all models: by mix and estimator, and by set, with paired tests on the balanced folders."""
    lines = [f"Mean/worst set of {', '.join(METHODS_SHOWN)}.", "", "| | " + " | ".join(MIXES) + " |", "|---" * 7 + "|"]
    tables, policies = left_out(measured)
    for model, rows in measured.items():
        lines.append(line(f"{model}: no context", table_of(rows, None)))
        lines += [line(f"{model}: {one.pull} {one.share}", table_of(rows, one)) for one in FIXED]
        lines += [line(f"{model}: shipped", table_of(rows, SHIPPED)), line(f"{model}: set left out", tables[model])]
    lines += ["", f"Constants of each set left out: {policies}", "", "| model | set | n | mix | share | gains | p |"]
    for model, rows in measured.items():
        table = table_of(rows, SHIPPED)
        for i, name in enumerate(table.sets):
            for mix in MIXES:
                here = [row for row in rows if row["set"] == name and row["mix"] == mix]
                gains = "; ".join(f"{value:+.1f}" for value in table.gains[mix][i])
                share = np.mean([float(str(one["share"])) for one in here])
                tests = "; ".join(_paired(here[0], method) for method in METHODS_SHOWN) if mix == "balanced" else ""
                n = f"{len(here)} x {np.mean([int(str(row['n'])) for row in here]):.0f}"
                lines.append(f"| {model} | {name} | {n} | {mix} | {share:.2f} | {gains} | {tests} |")
    return "\n".join(lines)


def _paired(row: dict[str, object], method: str) -> str:
    """McNemar's mid-p of the method with context against the same without, on the same photos."""
    changed = np.array(row[f"{SHIPPED.key(float(str(row['varied'])))} {method}"])
    return f"{mcnemar(changed, np.array(row[f'none 0 {method}'])).mid_p:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=data_folder, required=True)
    parser.add_argument("--cache", type=Path, help="the folder of features; none: report what was measured")
    parser.add_argument("--model", default="pocket")
    parser.add_argument("--views", type=int, default=64)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--each", type=int, default=8, help="folders of each mix")
    parser.add_argument("--out", type=Path, default=Path("runs/context"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if args.cache is not None:
        encoder = load_encoder(args.model)
        for name in args.sets:
            kept = args.out / f"{args.model}@{name}.json"
            bench = load_benchmark(args.data, name)
            counts = np.bincount(bench.labels)
            if kept.exists() or counts[counts > 0].min() < LEAST_PER_LABEL or not (args.cache / f"{name}.npy").exists():
                continue
            rows = measure(scored(encoder, bench, args.cache, views=args.views), each=args.each)
            kept.write_text(json.dumps(rows))
            print(f"{args.model} {name}: {len(rows)} folders", flush=True)
    measured: dict[str, list[dict[str, object]]] = {}
    for path in sorted(args.out.glob("*@*.json")):
        measured.setdefault(path.name.split("@")[0], []).extend(json.loads(path.read_text()))
    print(report(measured))


if __name__ == "__main__":
    main()
