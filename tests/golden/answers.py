"""Everything whose bytes must not change, as named texts; `--write` records their digests, `--texts DIR` keeps them.

    python -m tests.golden.answers --texts before     # then change something
    python -m tests.golden.answers --texts after && diff -r before after

`--write` is for behaviour that was changed on purpose, and for kinds of machines that have no digests yet (at a commit
that is known to be right). Only the command line and public names are used, so that modules may move.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import viewvote
from tests.golden.machine import ROOT, digest, numpy_probe, pocket_probe
from tests.golden.runs import CLASSIFY, COLOURS, LABELS, POCKET, REPORTED, REPORTS, TEXTS, TOY
from tests.golden.specs import spec_texts

DIGESTS = Path(__file__).with_name("digests.json")
PROBES: dict[str, Callable[[], str]] = {"specs": lambda: "any", "toy": numpy_probe, "pocket": pocket_probe}
"""The kinds of items, and what tells the machines apart on which they are equal."""
EXAMPLES = ROOT / "examples"
PHOTOS = ["--dataset", str(EXAMPLES / "photos.csv"), "--classes", str(EXAMPLES / "labels.txt")]


@dataclass(frozen=True)
class Command:
    """A command line, where it runs, and the file that gets what it prints."""

    args: tuple[str, ...]
    cwd: Path
    out: Path

    @property
    def printed(self) -> str:
        """What it printed."""
        return self.out.read_text(encoding="utf-8") if self.out.exists() else "not run"


def run_commands(commands: Sequence[Command], *, cache: Path) -> str:
    """Runs the commands in one process of their own; returns what those that failed complained of."""
    env = os.environ | {"VIEWVOTE_CACHE": str(cache), "COLUMNS": "120", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    env["SOURCE_DATE_EPOCH"] = "0"
    jobs = json.dumps([{"args": each.args, "cwd": str(each.cwd), "out": str(each.out)} for each in commands])
    process = [sys.executable, Path(__file__).with_name("many_commands.py")]
    done = subprocess.run(process, env=env, input=jobs.encode(), capture_output=True, timeout=500)
    return done.stderr.decode() if done.returncode else ""


def draw_colours(folder: Path) -> Path:
    """Twelve noisy pictures in four classes; part of each is of another class's colour, so that views disagree."""
    rng = np.random.default_rng(7)
    paint = {"blue": (0, 0, 1), "green": (0, 1, 0), "red": (1, 0, 0), "yellow": (1, 1, 0)}
    for nth, colour in enumerate(COLOURS):
        (folder / colour).mkdir(parents=True)
        for i in range(3):
            pixels = rng.integers(0, 90, (40, 40 + 4 * i, 3))
            edge = 26 - 6 * i
            pixels[:, :edge] += 110 * np.array(paint[colour])
            pixels[:, edge:] += 110 * np.array(paint[COLOURS[(nth + i + 1) % 4]])
            Image.fromarray(pixels.astype(np.uint8)).save(folder / colour / f"{i}.png")
    return folder


class Workshop:
    """A folder in which the answers are computed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.colours = draw_colours(folder / "colours")
        self.complaints = ""
        (folder / "printed").mkdir()

    def carry_out(self, commands: Sequence[Command]) -> None:
        """Runs the commands; what went wrong is added to `complaints`."""
        self.complaints += run_commands(commands, cache=self.cache)

    def command(self, name: str, args: Sequence[str], *, cwd: Path | None = None) -> Command:
        """A command, whose output is kept under this name."""
        return Command(tuple(args), cwd or self.folder, self.folder / "printed" / name)

    def evaluation(self, name: str, flags: Sequence[str]) -> Command:
        """The command of a run, whose folder `run(name)` is."""
        return self.command(name, ["eval", *flags, "--out", f"made/{name}", "--format", "json", "--quiet"])

    def toy(self, name: str, *extra: str) -> Command:
        """The command of a run of the toy model."""
        return self.evaluation(f"toy-{name}", ["--dataset", "colours", "--model", "toy", *TOY[name], *extra])

    def pocket(self, name: str) -> Command:
        """The command of a run of the embedded model."""
        return self.evaluation(f"pocket-{name}", [*PHOTOS, *POCKET[name]])

    def classify(self, name: str) -> Command:
        """The command that classifies the photographs and prints every view."""
        flags = ["photos", "--labels-file", "labels.txt", "--trace", "--format", "jsonl", "--quiet"]
        return self.command(f"classify-{name}", ["classify", *flags, *CLASSIFY[name]], cwd=EXAMPLES)

    def run(self, name: str) -> Path:
        """The folder of a run that was made."""
        found = list((self.folder / "made" / name).glob("*/summary.json"))
        return found[0].parent if found else self.folder / "made" / name

    def runs(self) -> list[Path]:
        """The folders of all runs that were made."""
        return sorted(path.parent for path in (self.folder / "made").glob("*/*/summary.json"))


def records_text(run: Path) -> str:
    """A run's records without their timings."""
    lines = (run / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return "\n".join(line[: line.rindex(',"timings":')] for line in lines)


def run_text(run: Path, place: Path) -> str:
    """A run's name, spec and summary without what depends on time and place, and its records."""
    if not (run / "summary.json").exists():
        return "no run"
    spec = (run / "spec.toml").read_text(encoding="utf-8").replace(str(place), "PLACE").replace(str(ROOT), "ROOT")
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    summary |= {"run": "", "path": "", "seconds": sorted(summary["seconds"]), "images_per_second": 0}
    summary |= {"peak_memory_mb": 0}
    return "\n".join([run.name[:-12], spec, json.dumps(summary, indent=1), records_text(run)])


def fix_run(run: Path, into: Path, *, dataset: str) -> None:
    """Copies a run for reports: with fixed timings, and as one on this dataset."""
    if not (run / "summary.json").exists():
        return
    into.mkdir(parents=True)
    times = {"read": 0.001, "render": 0.002, "encode": 0.004, "decide": 0.008, "total": 0.015}
    records = [f'{line},"timings":{json.dumps(times)}}}' for line in records_text(run).split("\n")]
    (into / "records.jsonl").write_text("\n".join(records) + "\n", encoding="utf-8")
    spec = (run / "spec.toml").read_text(encoding="utf-8")
    (into / "spec.toml").write_text(re.sub(r'^dataset = ".*"$', f'dataset = "{dataset}"', spec, flags=re.M), "utf-8")
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    summary |= {"run": into.name, "path": f"runs/{into.name}", "dataset": dataset.strip("/"), "seconds": times}
    summary |= {"images_per_second": 66.5, "peak_memory_mb": 100.0}
    (into / "summary.json").write_text(json.dumps(summary), encoding="utf-8")


def toy_texts(shop: Workshop) -> dict[str, str]:
    """Runs of the toy model, reports and scores of them, thresholds calibrated on them, and a run with those."""
    shop.carry_out([shop.toy(name) for name in TOY])
    texts = {f"eval-{name}": run_text(shop.run(f"toy-{name}"), shop.folder) for name in TOY}
    place = shop.folder / "reports"
    for name in REPORTED:
        fix_run(shop.run(f"toy-{name}"), place / "runs" / name, dataset="/colours")
        fix_run(shop.run(f"toy-{name}"), place / "shifted" / name, dataset="imagenet-a")
    for name in filter(lambda name: name.startswith("zero-64"), TOY):
        fix_run(shop.run(f"toy-{name}"), place / "more" / name, dataset="/colours")
    reports = {name: shop.command(name, args, cwd=place) for name, args in REPORTS.items()}
    stop = place / "stop.json"
    flags = ["--dataset", "colours", "--model", "toy", "--views", "adaptive", "--stop", str(stop)]
    flags += ["--disagreement", "0.2"]
    place.mkdir(exist_ok=True)
    shop.carry_out([*reports.values(), shop.evaluation("toy-thresholds", flags)])
    texts |= {name: made.printed for name, made in reports.items()}
    texts |= {"thresholds": stop.read_text(encoding="utf-8") if stop.exists() else "no file"}
    texts |= {"eval-thresholds": run_text(shop.run("toy-thresholds"), shop.folder)}
    return {name: text.replace(viewvote.__version__, "VERSION") for name, text in texts.items()}


def pocket_texts(shop: Workshop) -> dict[str, str]:
    """Runs, answers and text features of the embedded model."""
    classified = {f"classify-{name}": shop.classify(name) for name in CLASSIFY}
    shop.carry_out([*map(shop.pocket, POCKET), *classified.values()])
    texts = {f"eval-{name}": run_text(shop.run(f"pocket-{name}"), shop.folder) for name in POCKET}
    texts |= {name: answers_text(made.printed) for name, made in classified.items()}
    return texts | {f"text-features-{name}": text for name, text in feature_texts(shop)}


def answers_text(printed: str) -> str:
    """The lines of `viewvote classify` without timings."""
    if not printed.startswith("{"):
        return printed
    rows = [json.loads(line) for line in printed.splitlines()]
    return "\n".join(json.dumps(row | {"timings": sorted(row["timings"])}) for row in rows)


def feature_texts(shop: Workshop) -> Iterator[tuple[str, str]]:
    """Digests of the text features of the embedded model."""
    encoder = viewvote.load_encoder("pocket")
    for name, templates in TEXTS.items():
        made: Any = viewvote.Classifier(encoder, labels=LABELS, templates=templates, cache_dir=shop.cache)
        features = made.text_head.features
        yield name, f"{features.shape} {features.dtype} {digest(np.ascontiguousarray(features).tobytes())}"


def all_texts(shop: Workshop) -> dict[str, dict[str, str]]:
    """Kind -> name -> text, of everything but the run by Ray."""
    with ThreadPoolExecutor(2) as pool:
        toy, pocket = pool.submit(toy_texts, shop), pool.submit(pocket_texts, shop)
        specs = {f"spec-{name}": text for name, text in spec_texts()}
        return {"specs": specs, "toy": toy.result(), "pocket": pocket.result()}


def read_digests() -> dict[str, dict[str, dict[str, str]]]:
    """Kind -> probe -> name -> digest."""
    found: dict[str, dict[str, dict[str, str]]] = json.loads(DIGESTS.read_text(encoding="utf-8"))
    return found


def _write_digests(kinds: Mapping[str, Mapping[str, str]]) -> None:
    known = read_digests() if DIGESTS.exists() else {}
    for kind, texts in kinds.items():
        known.setdefault(kind, {})[PROBES[kind]()] = {name: digest(text) for name, text in texts.items()}
    DIGESTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _main() -> None:
    parser = argparse.ArgumentParser(description="Compute the golden answers.")
    parser.add_argument("--write", action="store_true", help="record their digests as the right ones for this machine")
    parser.add_argument("--texts", type=Path, help="write the texts to this folder, to compare two checkouts")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(Path(folder).resolve())
        kinds = all_texts(shop)
    if shop.complaints:
        sys.exit(shop.complaints)
    if asked.texts:
        write_texts(kinds, asked.texts)
    if asked.write:
        _write_digests(kinds)


def write_texts(kinds: Mapping[str, Mapping[str, str]], folder: Path) -> None:
    """Writes each text to folder/kind/name.txt."""
    for kind, texts in kinds.items():
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / kind / f"{name}.txt").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    _main()
