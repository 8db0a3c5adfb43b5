"""The paper's own numbers, and which of them a run may be held against."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from ..runs.read import Run
from .layouts import Layout
from .paper import PaperRow, paper_rows

VIEWS = 64
KEEP = 0.3
_NUMERICS = ("compat", "zero_temperature", "chunk", "record_marginal")  # how the same experiment is computed

_B16 = ("open_clip:ViT-B-16/openai", "hf:openai/clip-vit-base-patch16")
_L14 = ("open_clip:ViT-L-14/openai", "hf:openai/clip-vit-large-patch14")
_LAION = ("open_clip:ViT-B-16/laion2b_s34b_b88k", "hf:laion/CLIP-ViT-B-16-laion2B-s34B-b88K")
_CASCADE = "CLIP-ViT-B-16 + CLIP-ViT-L-14"
# Our ids of the weights that the paper names, and of their teachers.
_MODELS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "CLIP-ViT-B-16": (_B16, ()),
    "CLIP-ViT-L-14": (_L14, ()),
    _CASCADE: (_B16, _L14),
    "MaPLe": (tuple(f"maple:*@{model}" for model in _B16), ()),
    "CoOp": (tuple(f"coop:*@{model}" for model in _B16), ()),
    "CLIP-ViT-B-16 (LAION2B)": (_LAION, ()),
}


@dataclass(frozen=True)
class Match:
    """The published row nearest to a run, and what is different in the run; nothing: it is the same experiment."""

    row: PaperRow
    differences: tuple[str, ...]

    @property
    def title(self) -> str:
        """Row and model as the paper names them."""
        keep = f", keep {self.row.keep}" if self.row.method == "zero" and self.row.keep != KEEP else ""
        return f"{self.row.row}, {_model(self.row)}{keep}"


@cache
def published_rows(layout: Layout) -> tuple[PaperRow, ...]:
    """The rows of the paper's tables that a layout names; rivals in the tables for keep 0.1 are only repeated."""
    rows = [row for row in paper_rows() if row.table in layout.paper]
    return tuple(row for row in rows if row.method == "zero" or row.keep == KEEP)


def match(run: Run, *, layout: Layout) -> Match | None:
    """The published row with the run's method that differs least from it, or None where the paper has none."""
    method = run.method
    if method == "zero-shot" and run.spec.templates == "ensemble":
        method = "ensemble"  # the same thing by another name
    rows = [row for row in published_rows(layout) if row.method == method]
    matches = [Match(row, _differences(run, row)) for row in rows]
    return min(matches, key=lambda found: len(found.differences), default=None)


def _differences(run: Run, row: PaperRow) -> tuple[str, ...]:
    spec, wrong = run.spec, []
    if not _is_model(run, _model(row)):
        wrong.append(f"the model ({run.model})")
    templates = list(spec.templates) if isinstance(spec.templates, tuple) else spec.templates or row.templates
    if row.method != "ensemble" and templates != row.templates:
        wrong.append(f"the templates ({templates})")
    keep = spec.keep or KEEP
    if row.method == "zero" and keep != row.keep:
        wrong.append(f"keep ({keep})")
    if row.method not in ("zero-shot", "ensemble") and spec.views != VIEWS:
        wrong.append(f"the number of views ({spec.views})")
    defaults = {"tune": "prompt", "steps": 3} if row.method == "rlcf" else {}
    given = {name: value for name, value in spec.settings.items() if name not in _NUMERICS}
    if {**defaults, **given} != {**defaults, **row.settings}:
        wrong.append(f"the method's settings ({given or 'its defaults'})")
    if spec.augment != "crops" and row.method == "zero":
        wrong.append(f"the views ({spec.augment})")
    if spec.precision == "int8":
        wrong.append("the precision (int8)")
    return tuple(wrong)


def _model(row: PaperRow) -> str:
    """The model of a row; zero-shot "of" the cascade is the teacher alone."""
    return "CLIP-ViT-L-14" if (row.model, row.method) == (_CASCADE, "zero-shot") else row.model


def _is_model(run: Run, name: str) -> bool:
    """Whether the run's model (and teacher) are those that the paper names."""
    students, teachers = _MODELS[name]
    teacher = run.spec.teacher
    if not any(fnmatchcase(run.spec.model, one) for one in students):
        return False
    return any(fnmatchcase(teacher, one) for one in teachers) if teacher else not teachers
