"""Command lines: the exit code is 0, 1 or 2, mistakes are a line or a few, and nothing is unexpected."""

import json
import os
import random
import re
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TextIO

from PIL import Image
from typer.main import get_command

from viewvote import Classifier, cli
from viewvote.cli import commands, main
from viewvote.errors import UsageError

from ..worker import fresh, scratch

__all__ = ["MEGABYTES", "SECONDS", "mutate", "run", "seeds"]

SECONDS = 60.0
MEGABYTES = 2048  # a command loads what no command before it did
TOY = ["--model", "toy", "--views", "4"]
COMMANDS = (
    ["classify", "photos/a.png", "--labels", "red,green", *TOY, "--format", "jsonl"],
    ["classify", "photos/a.png", "-", "--labels-file", "labels.txt", *TOY, "--format", "csv", "--top", "1", "--trace"],
    ["classify", "photos/*.png", "--labels", "red,green", *TOY, "--format", "csv", "--output", "o.csv", "--resume"],
    ["classify", "photos", "--labels", "red", *TOY, "--output", "o.json", "--overwrite", "--explain", "why"],
    ["classify", "photos", "--labels", "red,green", *TOY, "--set", "keep=0.5", "--set", "tie=greedy", "--seed", "3"],
    ["classify", "photos", "--labels", "red,green", *TOY, "--method", "anchored", "--set", "weight=1"],
    ["classify", "photos", "--labels", "a,b", "--model", "toy", "--views", "adaptive", "--stop", "stop.json"],
    ["eval", "--dataset", "data", *TOY, "--out", "runs", "--limit", "2", "--seeds", "0,1", "--detail", "--quiet"],
    ["eval", "--spec", "spec.toml", "--out", "runs", "--format", "json", "--log-file", "log.txt", "--retry-errors"],
    ["eval", "--dataset", "table.csv", "--classes", "labels.txt", "--method", "zero,zero-shot", *TOY, "--out", "runs"],
    ["report", "runs", "--format", "csv", "--rescored", "zero-shot,keep=0.1", "--output", "table.csv"],
    ["report", "--layout", "layout.toml", "--compare", "runs/a", "runs/b"],
    ["rescore", "runs", "--keep", "0.1,0.3", "--views", "1,4", "--tie", "all", "--format", "json"],
    ["metrics", "runs", "--bins", "5", "--json"],
    ["calibrate", "runs", "--output", "c.json"],
    ["calibrate-stop", "runs", "--disagreement", "noise", "--keep", "0.3", "--budget", "4", "--output", "s.json"],
    ["study", "overconfidence", "runs", "--format", "json", "--bins", "3"],
    ["datasets", "--root", "data", "--output", "json"],
    ["datasets", "check", "data", "--classes", "labels.txt", "--sheet", "sheet.png"],
    ["text-head", "export", "toy", "--labels-file", "labels.txt", "--out", "head.npy", "--templates", "a {}."],
    ["methods"],
    ["templates"],
)
WORDS = (
    "",
    "-",
    "--",
    ".",
    "..",
    "/dev/zero",
    "/dev/null",
    "/dev/stdout",
    "runs",
    "a" * 300,
    "é\udcff",
    "9" * 5000,
    "-1",
    "0",
)
WORDS += (
    "100000000",
    "1e999",
    "nan",
    "None",
    "{}",
    "{[]:1}",
    "[" * 3000,
    "keep={[]:1}",
    "data",
    "photos",
    "labels.txt",
    "a\nb",
)
WORDS += (
    "pocket",
    "onnx:photos",
    "hf:x/y",
    "coop:labels.txt@toy",
    "anchored",
    "tpt",
    "--overwrite",
    "--resume",
    "--help",
    "pipe",
)
SERVED = ("serve", "export", "statistics", "reproduce", "doctor", "models")
"""Commands that serve until they are stopped, or load torch; they have tests of their own."""


def seeds(rng: random.Random) -> list[bytes]:
    """The commands, each with good options."""
    del rng
    return [json.dumps(command).encode() for command in COMMANDS]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Words replaced, added, dropped, swapped, or those of another command joined on."""
    try:
        words = [word for word in json.loads(data) if isinstance(word, str)]
    except (ValueError, TypeError):
        words = []
    match rng.randrange(6):
        case 0 if words:
            del words[rng.randrange(len(words))]
        case 1:
            words.insert(rng.randrange(len(words) + 1), rng.choice(WORDS))
        case 2 if len(words) > 1:
            words[1:] = rng.sample(words[1:], len(words) - 1)
        case 3:
            other = rng.choice(COMMANDS)
            words += other[rng.randrange(len(other)) :]
        case _ if words:
            words[rng.randrange(len(words))] = rng.choice(WORDS)
    return json.dumps([word for word in words if isinstance(word, str)]).encode()


@cache
def _prepared() -> None:
    """Files for the commands to find, and one parser for all of them: building it takes longer than most commands."""
    Classifier("pocket", labels=["cat", "dog"])  # ONNX Runtime's library is loaded before memory is limited
    group = get_command(commands.app)
    commands.app = group  # type: ignore[assignment]
    cli.answer_interrupts = lambda: None  # a thread and a pipe that last as long as the process
    folder = fresh("at/work/here/and/below")
    os.chdir(folder)
    for name, colour in (("photos/a.png", "red"), ("photos/b.png", "green"), ("data/red/a.png", "red")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (30, 20), colour).save(path)
    (folder / "data" / "green").mkdir()
    Image.new("RGB", (30, 20), "green").save(folder / "data" / "green" / "b.png")
    (folder / "photos" / "broken.png").write_bytes(b"no image")
    os.mkfifo(folder / "pipe")
    texts = {
        "labels.txt": "red\ngreen\n",
        "table.csv": "path,label\nphotos/a.png,red\nphotos/b.png,green\n",
        "spec.toml": 'dataset = "data"\nmodel = "toy"\nviews = 4\n',
        "layout.toml": 'datasets = ["data"]\n',
        "stop.json": json.dumps(
            {"calibrations": [{"budget": 64, "keep": 0.3, "disagreement": 0.04, "rounds": [4, 64], "thresholds": [1]}]}
        ),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)


def run(data: bytes) -> None:
    """Run the command in this process, with no standard input and its output in files."""
    try:
        words = json.loads(data)
        for word in words:
            os.fsencode(word)
    except (ValueError, TypeError, RecursionError):
        return
    _prepared()
    for old in ("o.csv", "o.json", "table.csv.new", "c.json", "s.json", "sheet.png", "head.npy", "head.json"):
        if Path(old).is_dir():  # an --out that was meant for a folder
            shutil.rmtree(old)
        Path(old).unlink(missing_ok=True)
    if any(word in SERVED or "\0" in word or word in ("ray", "/dev/stdout") for word in words):
        return
    code, printed, err = _call(words)
    assert code in (0, 1, 2), f"exit code {code}"
    foreign = re.search(r"viewvote: unexpected .*|Traceback", err)
    assert foreign is None, foreign[0] if foreign else ""
    assert code == 0 or err or printed or "--quiet" in words or "-q" in words, "a failure without a word"
    assert len(err) < 20_000, "more than a screen"
    if code:
        raise UsageError(err)  # so that another mistake is another outcome


def _call(words: list[str]) -> tuple[int, bool, str]:
    """The exit code of the command, whether it printed anything, and what on standard error."""
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr
    with _file() as out, _file() as err, Path(os.devnull).open() as nothing:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = ["viewvote", *words], nothing, out, err
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            sys.argv, sys.stdin, sys.stdout, sys.stderr = before
        err.flush()
        err.seek(0)
        out.flush()
        return code, os.fstat(out.fileno()).st_size > 0, err.read()


def _file() -> TextIO:
    return tempfile.TemporaryFile("w+", dir=scratch(), encoding="utf-8", errors="backslashreplace")
