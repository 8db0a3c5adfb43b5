"""What the authors ran, for `viewvote eval --preset`: by method, model and dataset, or by a published row's name."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..context.published import PUBLISHED
from ..registry import unknown_name
from ..runs.spec import RunSpec
from .experiments import (
    LEARNED,
    VIEWS,
    authors_augment,
    authors_settings,
    experiment_of,
    published_experiment,
    suite_of,
    table_suite,
)
from .paper import PaperRow, paper_rows

PAPER = "paper"
DOTA = {"eta": 0.2, "rho": 0.005}
"""DOTA's authors' values for ImageNet; ours for every dataset are those of a third party's benchmark."""

CONTEXTS = {name: {"pull": name, "vote": "zero-shot"} for name in PUBLISHED}
"""Corrections by other images as their authors ran them: of zero-shot, whatever the mix, here as a stream."""


def row_name(row: PaperRow) -> str:
    """The name of a row in one word: "rlcf-t3-image"."""
    return row.row.lower().replace("=", "").replace(" ", "-")


def presets() -> list[str]:
    """The names of presets: "paper", every row of the paper's tables of accuracies, and corrections by other images."""
    names = dict.fromkeys(row_name(row) for row in paper_rows() if row.method != "augmented")
    return [PAPER, *names, *CONTEXTS]


def preset_values(name: str) -> dict[str, Any]:
    """What a preset's name sets before runs are planned: the method of a row, its templates and settings."""
    if name not in presets():
        raise unknown_name("preset", name, presets())
    if name == PAPER:
        return {}
    if name in CONTEXTS:
        return {"method": "context", "settings": dict(CONTEXTS[name])}
    row = next(row for row in paper_rows() if row_name(row) == name)
    values = {"method": row.method, "settings": dict(row.settings)}
    return values | ({"templates": row.templates} if row.templates != "photo" else {})


def with_preset(specs: Iterable[RunSpec], *, given: Mapping[str, Any]) -> list[RunSpec]:
    """The specs as the authors of each method ran it on the dataset's suite; what the user gave stays."""
    return [_as_run_by_the_authors(spec, given=given) for spec in specs]


def _as_run_by_the_authors(spec: RunSpec, *, given: Mapping[str, Any]) -> RunSpec:
    if spec.method == "dota":
        return replace(spec, settings={**DOTA, **spec.settings})
    row = _nearest(spec)
    if row is None:
        return spec
    settings = {**authors_settings(row), **spec.settings}
    changes: dict[str, Any] = {"settings": settings}
    if "augment" not in given:
        changes["augment"] = authors_augment(row)
    if "views" not in given and published_experiment(row).views is not None:
        changes["views"] = VIEWS
    return replace(spec, **changes)


def _nearest(spec: RunSpec) -> PaperRow | None:
    """The published row of the spec's method, kind of model and suite: where several are, of the same tuned part."""
    ours, suite = experiment_of(spec), suite_of(spec.dataset) or "nds"
    rows = [
        row
        for row in paper_rows()
        if row.method == spec.method
        and table_suite(row.table) == suite
        and _tunes(row.settings) == _tunes(spec.settings)
    ]
    learned = ours.initialisation in LEARNED and spec.method != "rlcf"
    alike = [row for row in rows if not learned or row.model.lower() == ours.initialisation]
    return next(iter(alike or rows), None)


def _tunes(settings: Mapping[str, Any]) -> str:
    return str(settings.get("tune", "prompt"))


def needs(row: PaperRow) -> Collection[str]:
    """What a row's experiment needs besides the dataset, in words."""
    theirs = published_experiment(row)
    files = {"coop": "CoOp's released prompts", "maple": "MaPLe's released prompts"}
    return [
        theirs.model,
        *([theirs.teacher] if theirs.teacher else []),
        *([files[theirs.initialisation]] if theirs.initialisation in files else []),
        *(["source statistics of ImageNet"] if theirs.method == "promptalign" else []),
    ]
