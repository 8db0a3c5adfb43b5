"""The folder of a run: its records, spec, summary and environment, read by every command that reads runs."""

import random
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from viewvote.errors import UsageError, ViewvoteError
from viewvote.metrics.fit_probability import read_answers
from viewvote.metrics.replay import replay
from viewvote.records.columns import column_pieces
from viewvote.records.detail import read_details
from viewvote.report.formats.render import FORMATS
from viewvote.report.layouts import find_layout
from viewvote.report.rescored import rescored_rows, rescored_text, settings_of
from viewvote.report.sheet import fill_sheet
from viewvote.report.table import build_table
from viewvote.runs import RunSpec
from viewvote.runs import run as compute
from viewvote.runs.calibrate import calibrate_runs
from viewvote.runs.log import recover
from viewvote.runs.read import Run, load_run
from viewvote.vote import TIE_RULES

from ..mutators import join_files, split_files
from ..mutators import mutated_files as mutate
from ..worker import fresh

__all__ = ["mutate", "run", "seeds"]

NAMES = ("spec.toml", "environment.json", "records.jsonl", "summary.json")
KEPT = 6


@cache
def _computed() -> tuple[bytes, ...]:
    """Runs of the toy model on a few pictures: of a vote with all detail, and of zero-shot."""
    found = []
    with TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        for i in range(KEPT):
            path = Path(folder) / "data" / ("red", "green")[i % 2] / f"{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(rng.integers(0, 255, (20, 30, 3), dtype=np.uint8)).save(path)
        (Path(folder) / "data" / "red" / "broken.png").write_bytes(b"no image")
        for method, detail in (("zero", True), ("zero-shot", False)):
            spec = RunSpec(str(Path(folder) / "data"), model="toy", method=method, views=8, detail=detail)
            out = Path(folder) / method
            compute(spec, out=out)
            (made,) = out.iterdir()
            found.append(join_files({name: (made / name).read_bytes() for name in NAMES}))
    return tuple(found)


def seeds(rng: random.Random) -> list[bytes]:
    """The computed runs."""
    del rng
    return list(_computed())


def run(data: bytes) -> None:
    """Read the folder in every way there is; the first refusal is the outcome, and the others are tried as well."""
    folder = fresh("run")
    for name, content in split_files(data).items():
        (folder / name).write_bytes(content)
    with suppress(ViewvoteError):
        recover(folder / "records.jsonl", [f"{i}" for i in range(KEPT)])
    found = load_run(folder)
    refusal: ViewvoteError | None = None
    for read in _READERS:
        try:
            read(found)
        except ViewvoteError as error:
            refusal = refusal or error
    if refusal is not None:
        raise refusal


def _tables(found: Run) -> None:
    table = build_table([found], layout=find_layout("free"))
    for render in FORMATS.values():
        render(table)


def _sheet(found: Run) -> None:
    assert str(fill_sheet(found, bins=10))


def _rescored(found: Run) -> None:
    settings = settings_of(found, keeps=[0.1, 1.0], ties=TIE_RULES)
    if found.method == "zero":
        settings += settings_of(found, views=[1, 4], weights=[None, 1.0])
    for form in ("table", "json", "csv"):
        rescored_text(found, rescored_rows(found, settings), form)


def _details(found: Run) -> None:
    for _ in read_details(found.records, ["source", "boxes"]):
        pass


def _columns(found: Run) -> None:
    for piece in column_pieces(found.records, size=2):
        for evidence in piece.evidence:
            evidence.logits()


def _calibration(found: Run) -> None:
    read_answers(found.records, votes=found.method == "zero")
    with suppress(UsageError):  # too few records for a fit
        calibrate_runs([found.path])


_READERS: tuple[Callable[[Run], object], ...] = (
    _tables,
    _sheet,
    _rescored,
    _details,
    _columns,
    lambda found: replay(found.records, budget=8, keep=0.5),
    _calibration,
)
