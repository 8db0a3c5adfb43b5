"""The methods on OpenAI's own CLIP ViT-B/16 image features, and pocket -> clip-b16 cascades, paired against zero-shot.

    python -m benchmarks.real_clip --data DIR [--sets ...] [--limit 200] [--threads 2] [--cache runs/real-clip]
    python -m benchmarks.real_clip --table [--write]

DIR is laid out as training/README.md describes. Every image is one line in benchmarks/results/real-clip.jsonl: what
each method said. The sets take turns, so all grow alike; an interrupted run goes on where it stopped, on any machine.
The features of all 64 views stay in --cache under a name that depends on the image tower alone, so that after a change
of the text side (begin with another --records) the whole costs minutes. --table prints what is recorded.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.compare import METHODS_SHOWN, Row, order_of, table, view_features, view_logits
from benchmarks.sections import add_write, section
from training.eval_sets import SETS, Benchmark, data_folder, load_benchmark
from viewvote import LoadOptions, load_encoder
from viewvote.arrays import Int64
from viewvote.encoders.onnx.encoder import OnnxEncoder
from viewvote.encoders.text_head import TextHead, build_text_head
from viewvote.labels.templates import resolve_templates
from viewvote.methods import ViewLogits
from viewvote.methods.zero import Zero
from viewvote.metrics.paired import mcnemar
from viewvote.vote import log_softmax

MEASURED = ("imagenet", "oxford_pets", "caltech101", "eurosat", *(name for name in SETS if name.startswith("pacs")))
CASCADES = {f"pocket, clip-b16 votes, keep {keep}": Zero(keep=keep) for keep in (0.1, 0.3)}
LEVEL = 0.05
SHOWN_AS = {  # in the tables
    "imagenet": "ImageNet",
    "oxford_pets": "Oxford Pets",
    "caltech101": "Caltech101",
    "eurosat": "EuroSAT",
    "pacs_photo": "PACS photo",
    "pacs_art_painting": "PACS art",
    "pacs_cartoon": "PACS cartoon",
    "pacs_sketch": "PACS sketch",
    "mean-logits": "mean of logits",
    "mta": "MTA",
    "zero, keep 0.1": "ZERO, keep 0.1",
    "zero, keep 0.3": "ZERO, keep 0.3",
    "zero+ensemble": "ZERO + ensemble",
} | {title: title.replace("pocket, clip-b16 votes", "cascade") for title in CASCADES}
RECORDS = Path(__file__).parent / "results" / "real-clip.jsonl"

Line = dict[str, Any]


class Pair:
    """The two models with what they make of one set's classes."""

    def __init__(self, student: OnnxEncoder, teacher: OnnxEncoder, bench: Benchmark, cache: Path) -> None:
        self.student, self.teacher, self.bench, self.cache = student, teacher, bench, cache
        self.order = order_of(bench)
        self.heads = {name: self._head(teacher, name) for name in ("photo", "ensemble")}
        self.student_head = self._head(student, "photo")

    def key(self, place: int) -> str:
        """What the image at this place of the order is called in the records."""
        path = self.bench.paths[self.order[place]]
        return f"{self.bench.name}/{path.parent.name}/{path.name}"

    def answer(self, place: int) -> Line:
        """What every method says of the image at this place of the order."""
        i = self.order[place]
        seen, known = (view_features(e, self.bench, [i], self.cache / e.vision_fingerprint) for e in self._both)
        said = {}
        for title, (templates, method) in METHODS_SHOWN.items():
            views = next(view_logits(self.teacher, self.heads[templates], known))
            said[title] = method.decide(views)
        logits = self.heads["photo"].logits(known[0], self.teacher)

        def ask(kept: Int64) -> NDArray[np.float32]:
            return logits[kept]

        views = next(view_logits(self.student, self.student_head, seen))
        asked = ViewLogits(views.logits, views.logit_scale, views.logit_bias, teacher=ask)
        said |= {title: method.decide(asked) for title, method in CASCADES.items()}
        source = np.exp(log_softmax(logits[0]))
        answers = {t: [d.index, round(d.confidence, 4), round(float(source[d.index]), 4)] for t, d in said.items()}
        return {"image": self.key(place), "target": self.bench.labels[i], "answers": answers}

    @property
    def _both(self) -> tuple[OnnxEncoder, OnnxEncoder]:
        return self.student, self.teacher

    def _head(self, encoder: OnnxEncoder, templates: str) -> TextHead:
        return build_text_head(encoder, self.bench.classes, templates=resolve_templates(templates))


def read(path: Path, models: dict[str, str] | None = None) -> list[Line]:
    """The lines recorded so far; those of other models are an error."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    if not text.endswith("\n"):  # the line that a killed run was writing
        text = text[: text.rfind("\n") + 1]
        path.write_text(text, encoding="utf-8")
    if not text:
        return []
    head, *lines = (json.loads(line) for line in text.splitlines())
    if models is not None and head["models"] != models:
        sys.exit(f"{path} holds the answers of other models ({head['models']}, these are {models}); choose --records.")
    return lines


def rows_of(lines: Iterable[Line]) -> Iterator[Row]:
    """Every set's rows, zero-shot first."""
    by_set: dict[str, list[Line]] = {}
    for line in lines:
        by_set.setdefault(line["image"].split("/")[0], []).append(line)
    for name in (name for name in MEASURED if name in by_set):
        for title in (*METHODS_SHOWN, *CASCADES):
            said = np.array([line["answers"][title] for line in by_set[name]])
            right = said[:, 0].astype(int) == [line["target"] for line in by_set[name]]
            yield Row(name, title, right, said[:, 1], said[:, 2])


def show(lines: Iterable[Line], *, write: bool) -> None:
    """Print both tables and what their stars mean."""
    places = [section("benchmarks.real_clip", part, write=write) for part in ("accuracy", "paired")]

    def shown(name: str) -> str:
        return SHOWN_AS.get(name, name)

    rows = [replace(row, dataset=shown(row.dataset), method=shown(row.method)) for row in rows_of(lines)]
    plain = {row.dataset: row for row in rows if row.method == "zero-shot"}
    results = [row.to_dict(plain[row.dataset]) for row in rows]
    places[0].show(table(results, map(shown, (*METHODS_SHOWN, *CASCADES))).splitlines())
    print("* differs from zero-shot on the same images (McNemar's mid-p < 0.05, not corrected for many tests)\n")
    places[1].show(paired_table(rows).splitlines())
    print("images gained / lost against zero-shot; * McNemar's mid-p < 0.05, ** also after Holm's correction for all")


def paired_table(rows: Iterable[Row]) -> str:
    """Images that each method gains and loses against zero-shot, set by set."""
    rows = list(rows)
    plain = {row.dataset: row.right for row in rows if row.method == "zero-shot"}
    tests = {(row.dataset, row.method): mcnemar(plain[row.dataset], row.right) for row in rows}
    tests = {key: test for key, test in tests.items() if key[1] != "zero-shot"}
    certain = dict(zip(tests, holm([test.mid_p for test in tests.values()]), strict=True))
    titles = list(dict.fromkeys(method for _, method in tests))
    lines = ["| set | n | " + " | ".join(titles) + " |", "|---" * (len(titles) + 2) + "|"]
    for name, right in plain.items():
        cells = []
        for title in titles:
            test = tests[name, title]
            mark = "**" if certain[name, title] < LEVEL else "*" if test.mid_p < LEVEL else ""
            cells.append(f"{test.only_second} / {test.only_first}{mark}")
        lines.append(f"| {name} | {len(right)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def holm(p_values: list[float]) -> list[float]:
    """The p-values corrected for being many (Holm's step-down: each at least the one before it)."""
    corrected = np.empty(len(p_values))
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(np.array(p_values)[order] * factors))
    return [float(p) for p in corrected]


def load(model: str, threads: int) -> OnnxEncoder:
    encoder = load_encoder(model, LoadOptions(threads=threads))
    assert isinstance(encoder, OnnxEncoder)
    return encoder


def run(args: argparse.Namespace) -> None:
    clip, pocket = load("clip-b16", args.threads), load("pocket", args.threads)
    models = {encoder.model_id: f"{encoder.fingerprint}/{encoder.vision_fingerprint}" for encoder in (pocket, clip)}
    done = {line["image"] for line in read(args.records, models)}
    pairs = [Pair(pocket, clip, load_benchmark(args.data, name), args.cache) for name in args.sets]
    args.records.parent.mkdir(parents=True, exist_ok=True)
    with args.records.open("a", encoding="utf-8") as file:
        if not file.tell():
            print(json.dumps({"models": models, "views": 64, "seed": 0}), file=file, flush=True)
        for place in range(args.limit):
            for pair in pairs:
                if place < len(pair.order) and pair.key(place) not in done:
                    print(json.dumps(pair.answer(place), separators=(",", ":")), file=file, flush=True)
            print(f"{place + 1} of {args.limit} images of each set", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=data_folder, help="the folder of eval/; without it, --table only")
    parser.add_argument("--sets", nargs="+", default=list(MEASURED), choices=MEASURED)
    parser.add_argument("--limit", type=int, default=200, help="images of each set, in a fixed random order")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=Path("runs/real-clip"))
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--table", action="store_true", help="print what is recorded, and compute nothing")
    add_write(parser)
    args = parser.parse_args()
    if not args.table:
        if args.data is None:
            parser.error("--data DIR is needed to measure (or --table to print what is recorded)")
        run(args)
    show(read(args.records), write=args.write)


if __name__ == "__main__":
    main()
