"""The paper's studies on real photographs with the embedded model: the tables of docs/results/studies.md.

    python -m benchmarks.studies --data DIR [--part views|invariance|cost] [--out runs/studies] [--write]
    python -m benchmarks.studies --table [--write]

views       ZERO with all 64 views and every detail, on six sets: calibration, error gap, jury, risk, ties, independence
invariance  TPT on the same weights in torch, on three sets
cost        ZERO, TPT and RLCF in turn, each in a process of its own: on a machine that does nothing else

The runs are those of `viewvote eval`, in folders below --out: what was cut off goes on. What the studies find in them
is kept in benchmarks/results/study-NAME.json, which --table renders without a model and without photographs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.endtoend import describe_machine
from benchmarks.sections import add_write, section
from training.eval_sets import data_folder
from viewvote.report.formats.strict_json import strict_json
from viewvote.runs import run
from viewvote.runs.engines.local import LocalEngine
from viewvote.runs.read import Run, load_run
from viewvote.runs.spec import RunSpec
from viewvote.studies import STUDIES
from viewvote.studies.base import Options
from viewvote.studies.cost import PUBLISHED
from viewvote.studies.error_gap import spearman, spearman_interval
from viewvote.studies.independence import effective_voters

RESULTS = Path(__file__).parent / "results"
PARTS = ("views", "invariance", "cost")
SETS = {"imagenet": 200, "caltech101": 200, "oxford_pets": 185, "pacs_sketch": 140, "eurosat": 200, "dtd_10classes": 80}
"""How many photographs of each set, evenly spaced."""
TUNED = {"oxford_pets": (60, (0,)), "pacs_sketch": (70, (0, 1)), "dtd_10classes": (80, (0,))}
"""Photographs and seeds of the invariance to tuning."""
OF_VIEWS = ("overconfidence", "error-gap", "jury", "risk", "ties", "independence")
TEACHER: dict[str, Any] = {"teacher": "clip-b16"}
TIMED: Mapping[str, dict[str, Any]] = {
    "zero": {"method": "zero"},
    "tpt": {"method": "tpt"},
    "zero, teacher": {"method": "zero", **TEACHER},
    "rlcf, prompt, 3 steps, teacher": {"method": "rlcf", "settings": {"steps": 3}, **TEACHER},
    "rlcf, image tower, 3 steps, teacher": {"method": "rlcf", "settings": {"tune": "image", "steps": 3}, **TEACHER},
}
PAPER = {  # what the paper times of each
    "zero": ("zero", False),
    "tpt": ("tpt", False),
    "zero, teacher": ("zero", True),
    "rlcf, prompt, 3 steps, teacher": ("rlcf prompt", True),
    "rlcf, image tower, 3 steps, teacher": ("rlcf image", True),
}
IMAGES = 6

Row = Mapping[str, Any]


def measure(part: str, data: Path, out: Path, threads: int) -> None:
    """Make the runs of a part, as far as they are not there, and keep what its studies find."""
    if part == "cost":
        pets = str((data / "eval" / "oxford_pets").resolve())
        specs = [RunSpec(dataset=pets, model="pocket-torch", **asked) for asked in TIMED.values()]
        keep_rows("cost", [Run(out, spec, None, 0) for spec in specs], Options(images=IMAGES))
        return
    runs = []
    for spec in specs_of(part, data / "eval"):
        summary = run(spec, out=out, engine=LocalEngine(threads=threads))
        print(summary, file=sys.stderr, flush=True)
        runs.append(load_run(Path(summary.path)))
    for name in OF_VIEWS if part == "views" else (part,):
        keep_rows(name, runs, Options())


def specs_of(part: str, folder: Path) -> list[RunSpec]:
    """The runs of a part, over the sets in the folder."""
    place = {name: str((folder / name).resolve()) for name in (*SETS, *TUNED)}
    if part == "views":
        return [RunSpec(dataset=place[name], detail=True, limit=limit) for name, limit in SETS.items()]
    tuned: dict[str, Any] = {"model": "pocket-torch", "method": "tpt", "views": 32}
    return [
        RunSpec(dataset=place[name], settings={"record_marginal": True}, limit=limit, seed=seed, **tuned)
        for name, (limit, seeds) in TUNED.items()
        for seed in seeds
    ]


def keep_rows(name: str, runs: Sequence[Run], options: Options) -> None:
    """Write the rows that a study finds in the runs, and where."""
    finding = STUDIES.get(name)(runs, options)
    found = {"study": name, "machine": describe_machine(), "rows": finding.rows}
    (RESULTS / f"study-{name}.json").write_text(strict_json(found), encoding="utf-8")


def kept(name: str) -> Row:
    """The rows of a study, as kept, and the machine."""
    found: Row = json.loads((RESULTS / f"study-{name}.json").read_text(encoding="utf-8"))
    return found


def between(row: Row, key: str, show: str, *, times: float = 1.0) -> str:
    """A value with its 95% interval, as `show` formats each number."""
    value, low, high = (format(times * row[name], show) for name in (key, f"{key}_low", f"{key}_high"))
    return f"{value} [{low}, {high}]"


def calibration_table(found: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Accuracy and calibration of source and kept views, and what ZERO gains; under it how these go together."""
    yield "| set | n | accuracy, source | kept 10% | ECE, source | kept 10% | improvement by ZERO (keep 0.1) |"
    yield "|---" * 7 + "|"
    gaps = found["error-gap"]
    for one, gap in zip(found["overconfidence"], gaps, strict=True):
        shares = f"{100 * one['source_accuracy']:.1f} | {100 * one['kept_accuracy']:.1f}"
        errors = " | ".join(between(one, key, ".3f") for key in ("source_ece", "kept_ece"))
        gained = between(gap, "improvement", "+.1f", times=100)
        yield f"| {one['dataset']} | {one['n']} | {shares} | {errors} | {gained} |"
    together = spearman([row["gap"] for row in gaps], [row["improvement"] for row in gaps])
    low, high = spearman_interval(together, len(gaps))
    yield ""
    yield (
        f"Spearman's coefficient of error gap and improvement over the {len(gaps)} sets: "
        f"{together:+.2f} [{low:+.2f}, {high:+.2f}]."
    )


def views_table(found: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """What the other studies of views find, set by set."""
    yield (
        "| set | error, source view | of p-bar over the class | difference | squared risk of p-bar | of the views "
        "| p-bar's is no larger | ties | correlation of errors | of views that hardly overlap | independent voters |"
    )
    yield "|---" * 11 + "|"
    for jury in found["jury"]:
        name = jury["dataset"]
        risk = next(
            one for one in of_set(found["risk"], name) if (one["over"], one["loss"]) == ("all views", "squared")
        )
        ties = of_set(found["ties"], name)[0]
        pairs = of_set(found["independence"], name)
        every, apart = pairs[-1], pairs[0]
        voters = effective_voters(every["kept"], every["correlation"])
        cells = [f"{100 * jury['expected']:.1f}", f"{100 * jury['marginal']:.1f}"]
        cells += [between(jury, "difference", "+.1f", times=100)]
        cells += [f"{risk['marginal']:.3f}", f"{risk['views']:.3f}", f"{risk['holds']:.1%}"]
        cells += [f"{ties['ties']} ({ties['share']:.1%})", f"{every['correlation']:.2f}", f"{apart['correlation']:.2f}"]
        yield f"| {name} | " + " | ".join(cells) + f" | {voters:.1f} of {every['kept']} |"


def of_set(rows: Sequence[Row], name: str) -> list[Row]:
    """The rows of one set."""
    return [row for row in rows if row["dataset"] == name]


def invariance_table(rows: Sequence[Row]) -> Iterator[str]:
    """How often tuning leaves the argmax of p-bar alone."""
    yield "| set | n, seeds | argmax of p-bar unchanged | its probability rose |"
    yield "|---|---|---|---|"
    for row in rows:
        spread = f" ±{100 * row['std']:.1f}" if row["seeds"] > 1 else ""
        same = f"{100 * row['same']:.1f}{spread} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
        yield f"| {row['dataset']} | {row['n']}, {row['seeds']} | {same} | {100 * row['rose']:.1f} |"


def cost_table(rows: Sequence[Row], machine: str) -> Iterator[str]:
    """Seconds and memory of each method, as a multiple of ZERO with the same teacher, and the paper's multiple."""
    yield "| method | seconds, forward | x ZERO | peak MB (above the loaded model) | paper, x ZERO |"
    yield "|---|---|---|---|---|"
    zero = {title: row["forward"] for title, row in zip(TIMED, rows, strict=True) if title.startswith("zero")}
    for title, row in zip(TIMED, rows, strict=True):
        beside = "zero, teacher" if title.endswith("teacher") else "zero"
        theirs = PUBLISHED[PAPER[title]][0] / PUBLISHED[PAPER[beside]][0]
        times = ["1", "1"] if title == beside else [f"{row['forward'] / zero[beside]:.1f}", f"{theirs:.1f}"]
        memory = f"{row['memory_mb']:,} ({row['above_mb']:,})"
        yield f"| {title} | {between(row, 'forward', '.3f')} | {times[0]} | {memory} | {times[1]} |"
    yield ""
    yield f"Measured on {machine}; {rows[0]['n']} photographs."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=data_folder, help="the folder of eval/; without it, --table only")
    parser.add_argument("--part", nargs="+", default=["views", "invariance"], choices=PARTS)
    parser.add_argument("--out", type=Path, default=Path("runs/studies"), help="where the runs' folders are")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="print what is kept, and compute nothing")
    add_write(parser)
    args = parser.parse_args()
    if args.data is None and not args.table:
        parser.error("--data DIR is needed to measure (or --table to print what is kept)")
    for part in args.part:
        named = ("calibration", "views") if part == "views" else (part,)
        places = [section("benchmarks.studies", name, write=args.write) for name in named]
        if not args.table:
            measure(part, args.data, args.out, args.threads)
        if part == "views":
            found = {name: kept(name)["rows"] for name in OF_VIEWS}
            tables = [calibration_table(found), views_table(found)]
        elif part == "invariance":
            tables = [invariance_table(kept(part)["rows"])]
        else:
            tables = [cost_table(kept(part)["rows"], kept(part)["machine"])]
        for place, lines in zip(places, tables, strict=True):
            place.show(lines)
            print()


if __name__ == "__main__":
    main()
