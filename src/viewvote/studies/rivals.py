"""The rows of the paper's tables with what a user has: which can be run, and what the others lack."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..encoders import scheme_entry, split_model_id
from ..encoders.head_file import HeadFile
from ..labels.templates import resolve_templates
from ..methods import method_entry
from ..report.experiments import LEARNED, Experiment, published_experiment
from ..report.paper import PaperRow, paper_rows, paper_tables
from ..report.published import KEEP

SCRATCH = "words"


@dataclass(frozen=True)
class Means:
    """What a user brings: models, of which rows take the first that starts from what they start from.

    teacher      the id of a stronger model
    statistics   PromptAlign's source statistics
    text_head    vectors that stand in for the text tower, which tuning needs
    """

    models: tuple[str, ...] = ("pocket",)
    teacher: str | None = None
    statistics: Path | None = None
    text_head: HeadFile | None = None

    def model_for(self, initialisation: str) -> str | None:
        """The first model that starts from words, CoOp's or MaPLe's prompts."""
        return next((model for model in self.models if _initialisation(model) == initialisation), None)


@dataclass(frozen=True)
class Choice:
    """A row of a table and how to run it: the values of a spec, or what is missing."""

    row: PaperRow
    values: Mapping[str, Any] | None
    missing: str | None = None

    @property
    def title(self) -> str:
        """The row as the paper names it."""
        return f"{self.row.row} on {self.row.model}"


def choices(labels: Sequence[str], means: Means) -> list[Choice]:
    """The rows of the tables with these labels; those that another table repeats for its own keep are left out."""
    tables = [name for name in paper_tables() if f"tab:{name}" in labels]
    rows = [row for table in tables for row in paper_rows(table=table) if row.method == "zero" or row.keep == KEEP]
    return [_choice(row, means) for row in rows if row.method != "augmented"]


def tuned(values: Mapping[str, Any], means: Means, *, initialisation: str = SCRATCH) -> str | None:
    """What a run of these values lacks because its method tunes, or None."""
    if method_entry(str(values["method"])).extra != "torch":
        return None
    if find_spec("torch") is None:
        return 'tuning needs torch: pip install "viewvote[torch]"'
    if means.text_head:
        return "tuning needs a text tower, not --text-head"
    model = means.model_for(initialisation)
    if model is None or scheme_entry(split_model_id(model)[0]).extra != "torch":
        return "tuning needs a model in torch, such as --model pocket-torch or open_clip:ViT-B-16/openai"
    if values["method"] == "promptalign" and means.statistics is None:
        return "needs --statistics, a file of `viewvote statistics`"
    return None


def _choice(row: PaperRow, means: Means) -> Choice:
    theirs = published_experiment(row)
    values: dict[str, Any] = {"method": row.method, "settings": dict(row.settings)}
    if row.method == "zero":
        values |= {} if row.templates == "photo" else {"templates": row.templates}
        values |= {} if row.keep == KEEP else {"keep": row.keep}
    if row.method == "promptalign":
        values["settings"]["statistics"] = str(means.statistics)
    return _with_models(row, values, theirs, means)


def _with_models(row: PaperRow, values: dict[str, Any], theirs: Experiment, means: Means) -> Choice:
    """The choice with its model and teacher, or with what is missing."""
    alone = _is_teacher_alone(row, theirs)
    if other := _of_other_texts(theirs, means):
        return Choice(row, None, other)
    if (theirs.teacher is not None or alone) and means.teacher is None:
        return Choice(row, None, "needs --teacher, such as open_clip:ViT-L-14/openai")
    if alone:
        own = "the vectors of --text-head are not the teacher's" if means.text_head else None
        return Choice(row, None if own else values | {"model": means.teacher}, own)
    model = means.model_for(theirs.initialisation)
    if model is None:
        asked = {scheme: f"--model {scheme}:FILE@MODEL" for scheme in LEARNED}
        needed = asked.get(theirs.initialisation, "a --model that starts from words")
        return Choice(row, None, f"needs {needed}")
    if lacking := tuned(values, means, initialisation=theirs.initialisation):
        return Choice(row, None, lacking)
    values["model"] = model
    if theirs.teacher is not None:
        values["teacher"] = means.teacher
    return Choice(row, values)


def _is_teacher_alone(row: PaperRow, theirs: Experiment) -> bool:
    """Whether the row is zero-shot with the model that teaches in the rows around it."""
    return theirs.teacher is None and "+" in row.model


def _of_other_texts(theirs: Experiment, means: Means) -> str | None:
    """What is wrong with the vectors of --text-head for a row: they are made of one set of texts."""
    if means.text_head is None or theirs.texts is None:
        return None
    texts = means.text_head.templates or resolve_templates("photo")
    return None if texts == theirs.texts else "the vectors of --text-head are of other texts"


def _initialisation(model: str) -> str:
    scheme = model.partition(":")[0]
    return scheme if scheme in LEARNED else SCRATCH
