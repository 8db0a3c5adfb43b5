"""Unlabelled photos as context, on cached features: gains by mix, estimator and method, constants with sets left out.

    python -m benchmarks.context --data DIR --cache FOLDER --model pocket --views 64 --out runs/context [--write]

FOLDER holds SET.npy with features (images, views, dim) of the set's images in their order, view 0 the source view; rows
of zeros are left out. Folders of six mixes are drawn from each set. What was measured of a set is kept in --out, so an
interrupted run goes on; without --cache the tables of what is there, of any number of models, are printed.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.sections import add_write, section
from training.eval_sets import SETS, Benchmark, data_folder, load_benchmark
from viewvote import load_encoder
from viewvote.context.mix import variety
from viewvote.context.published import PUBLISHED
from viewvote.context.pull import leak_pull, level_pull, mean_pull, others_pull, transport_pull
from viewvote.context.rule import (
    BALANCED,
    DOUBT,
    FULL,
    LEAST_PHOTOS,
    MEAN_SHARE,
    REST,
    SHARE,
    UNEVEN,
    UNIFORM,
    estimate,
)
from viewvote.encoders import Encoder
from viewvote.encoders.likeness import label_likeness
from viewvote.encoders.text_head import build_text_head
from viewvote.labels.templates import resolve_templates
from viewvote.methods.anchored import weight_for
from viewvote.metrics.paired import mcnemar
from viewvote.studies.mixes import MIXES, VARIED, draw_folders
from viewvote.vote import count_kept

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
METHODS_SHOWN = ("zero-shot", "zero", "anchored")
KEEP = 0.3
LEAST_PER_LABEL = 2
"""Sets with fewer photos a label have no folder of one label."""


def shares_of(labels: Int64, n_classes: int) -> Float64:
    """The true mix, each label with a photo in ten: no method can know it from the photos."""
    return np.bincount(labels, minlength=n_classes) + 0.1


def put_back(logits: Float64, shares: Float64) -> Float64:
    """Transport to a mix, and the mix put back: the bias alone, where the mix is known."""
    return transport_pull(logits, shares) + np.log(shares / shares.sum())


OTHERS = "0.5 of the others' mean"
FIXED: dict[str, Callable[[Float64, Float64], Float64]] = {
    "DN: 0.25 of the mean": lambda logits, _: PUBLISHED["dn"](logits),
    "half of the mean": lambda logits, _: MEAN_SHARE * mean_pull(logits),
    OTHERS: lambda logits, _: 0.5 * others_pull(logits),
    "Frolic's debiasing: 11 rounds": lambda logits, _: PUBLISHED["frolic"](logits),
    "one such round, absent labels kept": lambda logits, _: leak_pull(logits),
    "levels, no rule": lambda logits, _: SHARE * level_pull(logits),
    "transport to the true mix": transport_pull,
    "half of the bias, the mix known": lambda logits, shares: 0.5 * put_back(logits, shares),
}
"""What is taken off, from the logits (images, classes) and the true shares, which only the last two look at."""

TOLD_THE_MIX = ("transport to the true mix", "half of the bias, the mix known")
RULE, LEFT_OUT = "**the rule**", "the rule, set left out"
KEYS = {"no context": "none", RULE: "shipped"}
ROWS = {  # of the table by mix: the contexts that each method is shown with
    "zero-shot": (*(name for name in FIXED if name not in (OTHERS, *TOLD_THE_MIX)), RULE, LEFT_OUT, *TOLD_THE_MIX),
    "zero": ("no context", RULE, LEFT_OUT),
    "anchored": (
        "no context",
        "DN: 0.25 of the mean",
        "half of the mean",
        "Frolic's debiasing: 11 rounds",
        "levels, no rule",
        RULE,
        LEFT_OUT,
        TOLD_THE_MIX[0],
    ),
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


def right(one: Scored, chosen: Int64, offsets: Float64) -> list[NDArray[np.bool_]]:
    """Whether zero-shot, ZERO and the anchored vote are right about each photo, with these offsets taken off."""
    logits = one.logits[chosen] - offsets.astype(np.float32)
    answers = decided(logits, weight_for(one.likeness))
    return [found == one.labels[chosen] for found in answers]


def decided(logits: NDArray[np.float32], weight: float) -> tuple[Int64, Int64, Int64]:
    """The answers of zero-shot, ZERO and the anchored vote for many images at once (images, views, classes)."""
    n, n_views, n_classes = logits.shape
    shifted = logits - logits.max(axis=-1, keepdims=True)
    odds = np.exp(shifted)
    total = odds.sum(axis=-1, keepdims=True)
    entropy = np.log(total)[..., 0] - (odds * shifted).sum(axis=-1) / total[..., 0]
    best = np.take_along_axis(logits.argmax(axis=-1), np.argsort(entropy, axis=1, kind="stable"), axis=1)
    kept, images = count_kept(n_views, KEEP), np.arange(n)
    votes, later = np.zeros((n, n_classes)), np.zeros((n, n_classes))
    for place in range(n_views):
        if place < kept:
            votes[images, best[:, place]] += 1
        else:  # the first of these that votes for a tied label decides, however many follow
            later[images, best[:, place]] += 2.0 ** (kept - 1 - place)
    said = votes / kept + weight * odds[:, 0] / total[:, 0]
    return logits[:, 0].argmax(axis=-1), (votes + later / 2).argmax(axis=-1), said.argmax(axis=-1)


def measure(one: Scored, *, each: int) -> list[dict[str, object]]:
    """Every folder of a set: what each method has right with each context, in percent; of what ships each photo."""
    rows: list[dict[str, object]] = []
    n_classes = one.logits.shape[2]
    for mix, chosen in draw_folders(one.labels, np.random.default_rng(0), each=each):
        source = one.logits[chosen, 0].astype(np.float64)
        ruled = estimate(one.logits[chosen, 0])
        row: dict[str, object] = {"set": one.name, "mix": mix, "n": len(chosen), "share": ruled.share}
        row["views"] = one.logits.shape[1]
        asked = {"none": np.zeros(n_classes), "shipped": ruled.offsets.astype(np.float64)}
        shares = shares_of(one.labels[chosen], n_classes)
        asked |= {name: offsets_of(source, shares) for name, offsets_of in FIXED.items()}
        asked |= grid_offsets(source)
        done: dict[bytes, list[NDArray[np.bool_]]] = {}
        for name, offsets in asked.items():
            key = offsets.astype(np.float32).tobytes()
            if key not in done:
                done[key] = right(one, chosen, offsets)
            row[name] = [100 * float(hits.mean()) for hits in done[key]]
            if name in ("none", "shipped") and mix == "balanced":
                row[f"{name} each"] = [hits.astype(int).tolist() for hits in done[key]]
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Policy:
    """Constants of the rule: `uniform` to `full`, `uneven` to `balanced`, and photos a label that are half known."""

    uniform: float = UNIFORM
    full: float = FULL
    uneven: float = UNEVEN
    balanced: float = BALANCED
    rest: float = REST
    doubt: float = DOUBT

    @property
    def name(self) -> str:
        """Its key in what was measured."""
        return "/".join(f"{value:g}" for value in vars(self).values())


GRID = [
    Policy(low, low + width, *edges, rest, doubt)
    for low, width, edges, rest, doubt in product(
        (0.5, 0.55, 0.6), (0.2, 0.3), ((0.8, 0.95), (0.85, 1.0)), (0.3, 0.5), (1, 2)
    )
]


def grid_offsets(source: Float64) -> dict[str, Float64]:
    """What the rule takes off with each set of constants."""
    n, n_classes = source.shape
    varied, pull = variety(source), SHARE * level_pull(source)
    rest = transport_pull(source - pull, np.ones(n_classes))
    found = {}
    for one in GRID:
        known = n / (n + one.doubt * n_classes) if n >= LEAST_PHOTOS else 0.0
        used = np.clip((varied - one.uniform) / (one.full - one.uniform), 0, 1)
        even = np.clip((varied - one.uneven) / (one.balanced - one.uneven), 0, 1)
        found[one.name] = known * (used * pull + even * one.rest * rest)
    return found


@dataclass(frozen=True)
class Table:
    """Points gained by set (sets, methods) for each mix: over zero-shot where varied, else over the same method."""

    sets: tuple[str, ...]
    gains: dict[str, Float64]

    def without(self, name: str) -> dict[str, Float64]:
        """The gains on all other sets."""
        keep = np.array([one != name for one in self.sets])
        return {mix: values[keep] for mix, values in self.gains.items()}


def table_of(rows: Sequence[dict[str, object]], context: str) -> Table:
    """The mean gains with a context, by its name."""
    sets = tuple(dict.fromkeys(str(row["set"]) for row in rows))
    gains = {}
    for mix in MIXES:
        by_set = []
        for name in sets:
            here = [row for row in rows if row["set"] == name and row["mix"] == mix]
            by_set.append(np.mean([_gain(row, context) for row in here], axis=0))
        gains[mix] = np.array(by_set)
    return Table(sets, gains)


def _gain(row: Mapping[str, Any], context: str) -> Float64:
    """Points of each method over zero-shot without context where the folder is varied, else over itself without."""
    before = np.array(row["none"])
    return np.array(row[context]) - (before[0] if row["mix"] in VARIED else before)


def merit(gains: dict[str, Float64]) -> float:
    """What constants are chosen by: the gain on varied folders, less what falls short of the bars."""
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
    tables = {model: [table_of(rows, policy.name) for policy in GRID] for model, rows in measured.items()}
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


def by_mix(model: str, rows: list[dict[str, object]], ruled: Table) -> Iterator[str]:
    """The table by mix: mean and worst set of each method with each context; `ruled` has each set left out."""
    alone = all(row.get("views") == 1 for row in rows)  # then all methods are zero-shot
    yield f"| {shown_as(model)}{', zero-shot' * alone} | " + " | ".join(MIXES) + " |"
    yield "|---" * (1 + len(MIXES)) + "|"
    for place, method in enumerate(ROWS if not alone else ["zero-shot"]):
        for name in ROWS[method]:
            gains = (ruled if name == LEFT_OUT else table_of(rows, KEYS.get(name, name))).gains
            there = VARIED if name == "no context" else MIXES  # against itself there is nothing to gain
            title = name if alone else f"{method}, {name}"
            cells = [_summary(gains[mix][:, place]) if mix in there else "" for mix in MIXES]
            yield f"| {f'*{title}*' if name in TOLD_THE_MIX else title} | " + " | ".join(cells) + " |"


def shown_as(model: str) -> str:
    """What the pages call a model."""
    return "embedded" if model == "pocket" else f"`{model}`"


def _summary(points: Float64) -> str:
    return " / ".join(signed(value) for value in (points.mean(), points.min()))


def signed(points: float) -> str:
    """Points with their sign; none where they round to nothing."""
    told = f"{points:+.1f}"
    return told if float(told) else "0.0"


def by_set(measured: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    """Each set as a whole: zero-shot and the anchored vote without and with context, and McNemar's mid-p of the two."""
    yield "| model | set | n | zero-shot | with context | p | anchored | with context | p |"
    yield "|---" * 9 + "|"
    for model, rows in measured.items():
        for row in rows:
            if row["mix"] == "balanced":
                cells = [cell for place in (0, 2) for cell in _paired(row, place)]
                cells[3:] = [""] * 3 if row.get("views") == 1 else cells[3:]
                yield " | ".join([f"| {shown_as(model)}", f"{row['set']}", f"{row['n']}", *cells]) + " |"


def _paired(row: Mapping[str, Any], place: int) -> tuple[str, str, str]:
    """The accuracy of a method without and with context, and McNemar's mid-p of the two on the same photos."""
    before, after = (np.array(row[f"{name} each"][place], dtype=bool) for name in ("none", "shipped"))
    p = mcnemar(after, before).mid_p
    return f"{before.mean():.1%}"[:-1], f"{after.mean():.1%}"[:-1], "<0.001" if p < 0.0005 else f"{p:.3f}"


def folders(measured: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    """What ships, set by set and mix by mix: folders and photos, the share taken off and the gains."""
    yield f"| model | set | n | mix | share | {', '.join(METHODS_SHOWN)} |"
    yield "|---" * 6 + "|"
    for model, rows in measured.items():
        table = table_of(rows, "shipped")
        for i, name in enumerate(table.sets):
            for mix in MIXES:
                here = [row for row in rows if row["set"] == name and row["mix"] == mix]
                gains = "; ".join(f"{value:+.1f}" for value in table.gains[mix][i])
                share = np.mean([float(str(one["share"])) for one in here])
                n = f"{len(here)} x {np.mean([int(str(row['n'])) for row in here]):.0f}"
                yield f"| {model} | {name} | {n} | {mix} | {share:.2f} | {gains} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=data_folder, required=True)
    parser.add_argument("--cache", type=Path, help="the folder of features; none: report what was measured")
    parser.add_argument("--model", default="pocket")
    parser.add_argument("--views", type=int, default=64)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--each", type=int, default=8, help="folders of each mix")
    parser.add_argument("--out", type=Path, default=Path("runs/context"))
    add_write(parser)
    args = parser.parse_args()
    sets = section("benchmarks.context", "sets", write=args.write)
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
    for path in sorted(args.out.glob("*@*.json"), key=lambda path: (not path.name.startswith("pocket@"), path.name)):
        measured.setdefault(path.name.split("@")[0], []).extend(json.loads(path.read_text()))
    places = {model: section("benchmarks.context", model, write=args.write) for model in measured}
    ruled, policies = left_out(measured)
    for model, rows in measured.items():
        places[model].show(by_mix(model, rows, ruled[model]))
        print()
    print(f"Constants of each set left out: {policies}\n")
    sets.show(by_set(measured))
    print("", *folders(measured), sep="\n")


if __name__ == "__main__":
    main()
