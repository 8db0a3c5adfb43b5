"""The paper's tables and figures as items to reproduce: what each needs, what is present, and the runs it takes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..datasets import SUITES
from ..datasets.check import survey
from ..encoders.catalog import downloaded
from ..errors import UsageError
from ..methods import method_entry
from ..registry import unknown_name
from ..report.experiments import B16, REPOSITORIES, TOWERS, weights_of
from ..report.paper import paper_rows
from ..report.presets import needs, with_preset
from ..runs.plan import plan_runs
from ..runs.read import Run
from ..runs.spec import RunSpec
from .rivals import SCRATCH, Means, choices, tuned

Values = Mapping[str, Any]
Missing = tuple[tuple[str, str], ...]
"""Rows that cannot be run, each with what it lacks."""

COOP = "coop"
"""What RLCF's authors start its prompts from."""

VOTE: tuple[Values, ...] = ({"method": "zero"},)
DETAIL: tuple[Values, ...] = ({"method": "zero", "detail": True},)
INHERITED: tuple[Values, ...] = ({"method": "zero", "keep": 0.1},)
TUNED: tuple[Values, ...] = ({"method": "tpt", "settings": {"record_marginal": True}},)
TAUGHT: tuple[Values, ...] = (
    {"method": "zero"},
    {"method": "rlcf", "settings": {"tune": "prompt"}},
    {"method": "rlcf", "settings": {"tune": "image"}},
)
"""Table 3's rows with a teacher."""


@dataclass(frozen=True)
class Item:
    """A table or figure: its labels in the paper, the datasets it is over, and what to run with the user's models.

    asks        what a study reads; a table's rows are the paper's own (`rivals`)
    taught      the same with a teacher, where there is one
    layout      of `viewvote report`, for tables of accuracies; `study` names the study of everything else
    model       whose numbers the paper prints; rows of other models are made with --model, --teacher
    """

    labels: tuple[str, ...]
    title: str
    datasets: tuple[str, ...]
    asks: tuple[Values, ...] = ()
    taught: tuple[Values, ...] = ()
    layout: str | None = None
    study: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    model: str = "CLIP-ViT-B-16"


NDS, FINE = tuple(SUITES["nds"]), tuple(SUITES["fine-grained"])
ITEMS: Mapping[str, Item] = {
    "nds": Item(("tab:nds",), "Table 1, natural distribution shifts", NDS, layout="nds"),
    "fine-grained": Item(("tab:fc", "tab:std"), "Table 2, with deviations", FINE, layout="fine-grained"),
    "cost": Item(("tab:perf",), "Table 3, cost", NDS[:1], (*VOTE, *TUNED), TAUGHT, study="cost"),
    "jury": Item(("fig:preliminary",), "Fig. 1a, error of p-bar over a class", NDS, DETAIL, study="jury"),
    "overconfidence": Item(
        ("fig:preliminary", "fig:ece", "fig:rpAll", "fig:rp_laion"),
        "Fig. 1b and app. C, calibration",
        NDS,
        VOTE,
        study="overconfidence",
    ),
    "invariance": Item(("tab:invariance",), "App. A, invariance to MEM", NDS, TUNED, study="invariance"),
    "invariance-by-entropy": Item(
        ("fig:entInv",), "App. A, by entropy", NDS[:1], TUNED, study="invariance", options={"by": "entropy"}
    ),
    "nds-laion": Item(("tab:nds_laion",), "App. B, LAION-2B", NDS, layout="nds", model="CLIP-ViT-B-16 (LAION2B)"),
    "nds-coop": Item(("tab:nds_coop",), "App. B, CoOp", NDS, layout="nds", model="CoOp"),
    "fine-grained-laion": Item(
        ("tab:fc_laion",), "App. B, LAION-2B", FINE, layout="fine-grained", model="CLIP-ViT-B-16 (LAION2B)"
    ),
    "nds-inherited": Item(("tab:nds-inherited",), "App. B, keep 0.1", NDS, layout="nds"),
    "fine-grained-inherited": Item(("tab:fc-inherited",), "App. B, keep 0.1", FINE, layout="fine-grained"),
    "risk": Item(("app:risk",), "App. D, expected risk", NDS, DETAIL, study="risk"),
    "ties": Item(("tie breaking",), "App. E, tie rules", (*NDS, *FINE), VOTE, study="ties"),
    "failure": Item(
        ("fig:rpEsat", "fig:esat", "app:eurosat"), "App. F, satellite images", ("eurosat",), VOTE, study="failure"
    ),
    "error-gap": Item(("tab:error_gap",), "App. G, error gap", FINE[:-1], INHERITED, study="error-gap"),
    "independence": Item(("app:independence",), "App. H, dependence of views", NDS, DETAIL, study="independence"),
}


@dataclass(frozen=True)
class Planned:
    """The runs of an item that can be computed with what is there, and what each of the others lacks, in words."""

    specs: tuple[RunSpec, ...]
    missing: Missing = ()


@dataclass(frozen=True)
class Listed:
    """An item as it stands: which datasets are present, and how many of its runs are there for some model.

    weights   the model whose numbers the paper prints, downloaded or as a tower with text vectors; None without
    rows      of how many rows (or runs of a study), and how many of these the user's models allow
    missing   what the others lack
    """

    name: str
    item: Item
    present: tuple[str, ...]
    runs: int
    weights: str | None = None
    rows: tuple[int, int] = (0, 0)
    missing: Missing = ()

    @property
    def needs(self) -> str:
        """The weights behind the published numbers, besides those of the model itself."""
        rows = [row for row in paper_rows() if f"tab:{row.table}" in self.item.labels]
        files = dict.fromkeys(one for row in rows for one in needs(row))
        return ", ".join(files) or self.item.model


def find_item(name: str) -> Item:
    """The item of this name, or an error that suggests one."""
    if name not in ITEMS:
        raise unknown_name("item of the paper", name, ITEMS)
    return ITEMS[name]


def list_items(
    runs: Sequence[Run], *, root: Path | None, cache_dir: Path | None = None, means: Means | None = None
) -> list[Listed]:
    """Every item with what is present: datasets below the data root, weights in the hub's cache, and of these runs."""
    found = {one.name for one in survey(root) if one.state == "found"}
    models = [row.model for row in downloaded(cache_dir=cache_dir)]
    listed = []
    for name, item in ITEMS.items():
        asks, missing = asks_of(item, means or Means())
        listed.append(
            Listed(
                name,
                item,
                present=tuple(d for d in item.datasets if d in found),
                runs=len(runs_of(item, runs)),
                weights=_downloaded_weights(item.model, models) or _tower(item.model, means or Means()),
                rows=(len(asks), len(asks) + len(missing)),
                missing=missing,
            )
        )
    return listed


def _downloaded_weights(name: str, models: Sequence[str]) -> str | None:
    """The model id of the weights that the paper calls `name`, if they are among the downloaded models."""
    repositories = REPOSITORIES.get(name, REPOSITORIES[B16])  # learned prompts stand on CLIP's B/16
    return next((model for model in models if model.endswith(tuple(f":{one}" for one in repositories))), None)


def _tower(name: str, means: Means) -> str | None:
    """The one of the user's models that is the tower of those weights, where its text vectors stand beside it."""
    head = means.text_head
    if head is None or (head.model is not None and weights_of(head.model)[0] != name):
        return None
    return next((model for model in means.models if TOWERS.get(model) == name), None)


def runs_of(item: Item, runs: Sequence[Run]) -> list[Run]:
    """Those of the runs that an item can be made from: its methods, with what it needs recorded."""
    rows = [row for row in paper_rows() if item.layout and f"tab:{row.table}" in item.labels]
    asks: list[Values] = [{"method": row.method} for row in rows]
    asks += [*item.asks, *item.taught]
    return [run for run in runs if run.n and any(_answers(run, ask) for ask in asks)]


def _answers(run: Run, ask: Values) -> bool:
    """Whether a run is by the method that is asked, and recorded what is asked for."""
    settings = ask.get("settings", {}).items()
    recorded = all(run.spec.settings.get(name) == value for name, value in settings if name == "record_marginal")
    return run.method == ask["method"] and recorded and (run.spec.detail or not ask.get("detail"))


def asks_of(item: Item, means: Means) -> tuple[list[Values], Missing]:
    """What to run of an item, each with its model, and what the rest of it lacks."""
    if item.layout is not None:
        found = choices(item.labels, means)
        asks = [one.values for one in found if one.values is not None]
        return _different(asks), tuple((one.title, one.missing) for one in found if one.missing)
    asks, missing = [], []
    for ask, with_teacher in [*((ask, False) for ask in item.asks), *((ask, True) for ask in item.taught)]:
        settings = ask.get("settings", {})
        initialisation = COOP if settings.get("tune") == "prompt" and means.model_for(COOP) else SCRATCH
        lacking = tuned(ask, means, initialisation=initialisation)
        model = means.model_for(initialisation) or means.models[0]
        if with_teacher and means.teacher is None:
            lacking = "needs --teacher, such as open_clip:ViT-L-14/openai"
        if lacking:
            name = " ".join([str(ask["method"]), *([settings["tune"]] if "tune" in settings else [])])
            missing.append((f"{name} with a teacher" if with_teacher else name, lacking))
        else:
            asks.append({**ask, "model": model, **({"teacher": means.teacher} if with_teacher else {})})
    return asks, tuple(missing)


def in_words(missing: Iterable[tuple[str, str]]) -> str:
    """The rows by what they lack."""
    by_reason: dict[str, list[str]] = {}
    for row, reason in dict.fromkeys(missing):
        by_reason.setdefault(reason, []).append(row)
    return "; ".join(f"{', '.join(rows)} ({reason})" for reason, rows in by_reason.items())


def _different(asks: Sequence[Values]) -> list[Values]:
    """The values without repetitions, those that can share a pass over the images next to each other."""
    known = list({repr(sorted(ask.items())): ask for ask in asks}.values())
    return sorted(known, key=lambda ask: (str(ask["model"]), "teacher" in ask, method_entry(ask["method"]).extra or ""))


def plan_item(item: Item, *, datasets: Sequence[str], values: Values, means: Means | None = None) -> Planned:
    """The runs of an item on these datasets, as the authors ran them; `values` are the user's, such as the seeds."""
    if not datasets:
        raise UsageError(
            f"none of its datasets is present ({', '.join(item.datasets)}). Name their folder with --root, or data of "
            "your own with --dataset."
        )
    asks, missing = asks_of(item, means or Means())
    if not asks:
        raise UsageError(f"nothing of it can be run with these models: {in_words(missing)}.")
    specs = [
        spec
        for ask in asks
        for spec in with_preset(plan_runs({**ask, **values, "dataset": list(datasets)}), given=values)
    ]
    return Planned(tuple(specs), missing)
