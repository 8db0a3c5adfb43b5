"""What a number was measured with, as data: of the paper's rows as their authors ran them, and of our runs."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any

from ..datasets import SUITES
from ..labels.templates import resolve_templates
from ..methods import method_entry
from ..runs.spec import RunSpec
from .paper import PaperRow

VIEWS = 64
B16, L14, LAION = "CLIP-ViT-B-16", "CLIP-ViT-L-14", "CLIP-ViT-B-16 (LAION2B)"
CASCADE = "CLIP-ViT-B-16 + CLIP-ViT-L-14"
WEIGHTS: Mapping[str, tuple[str, ...]] = {
    B16: ("open_clip:ViT-B-16/openai", "hf:openai/clip-vit-base-patch16"),
    L14: ("open_clip:ViT-L-14/openai", "hf:openai/clip-vit-large-patch14"),
    LAION: ("open_clip:ViT-B-16/laion2b_s34b_b88k", "hf:laion/CLIP-ViT-B-16-laion2B-s34B-b88K"),
}
"""Our ids of the weights that the paper names."""

REPOSITORIES: Mapping[str, tuple[str, ...]] = {
    B16: ("timm/vit_base_patch16_clip_224.openai", "openai/clip-vit-base-patch16"),
    L14: ("timm/vit_large_patch14_clip_224.openai", "openai/clip-vit-large-patch14"),
    LAION: ("laion/CLIP-ViT-B-16-laion2B-s34B-b88K",),
}
"""The hub's repositories that hold them, for open_clip and for transformers."""

TOWERS: Mapping[str, str] = {"clip-b16": B16}
"""Models of ours with the vision tower of one of them; with its text vectors (`text_head`) they are that model."""

LEARNED = ("coop", "maple")
"""Schemes of learned prompts, which a model starts from in place of words."""

CONSTANTS: Mapping[str, Mapping[str, Any]] = {
    "zero": {"tie": "greedy"},
    "zero-shot": {},
    "tpt": {"lr": None, "weight_decay": 0.01, "steps": 1, "words": "a photo of a"},
    "promptalign": {
        "compat": "code",
        "lr": 4e-2,
        "weight_decay": 0.01,
        "steps": 1,
        "align_weight": 100.0,
        "layers": 3,
    },
    "rlcf": {
        "tune": "prompt",
        "candidates": 3,
        "lr": None,
        "weight_decay": 5e-4,
        "steps": 3,
        "prefix": "a photo of a",
        "momentum": None,
    },
}
"""The hyper-parameters that decide the answers of the paper's methods, and our defaults; importing some needs torch."""

COMPUTING: Mapping[str, tuple[str, ...]] = {
    "zero": ("compat", "zero_temperature"),
    "tpt": ("chunk", "record_marginal"),
    "promptalign": ("chunk", "record_marginal", "statistics"),
    "rlcf": ("chunk", "record_marginal"),
}
"""Settings that are no part of the experiment: how it is computed, what is recorded, where a file lies."""

ONE_VIEW = ("zero-shot",)


@dataclass(frozen=True)
class Experiment:
    """All that a published number depends on besides the dataset; two are the same where every field is equal.

    model, teacher    the paper's names of weights, or our id where it has none
    initialisation    what prompts start from: "words", "coop" or "maple"
    constants         the method's hyper-parameters, sorted
    augment, views    of methods that look at several views; views is a text where a rule may stop early
    precision         "float" is fp32, or fp16 as the authors ran it
    texts             the templates; None where prompts are learned
    """

    model: str
    initialisation: str
    teacher: str | None
    method: str
    constants: tuple[tuple[str, Any], ...]
    augment: str | None
    precision: str
    views: int | str | None
    keep: float | None
    texts: tuple[str, ...] | None

    def differences(self, other: "Experiment") -> tuple[str, ...]:
        """What is different in the other, in words, with its values."""
        return tuple(
            f"{_WORDS[field.name]} ({_shown(getattr(other, field.name), getattr(self, field.name))})"
            for field in fields(self)
            if getattr(self, field.name) != getattr(other, field.name)
        )


_WORDS = {
    "model": "the model",
    "initialisation": "what prompts start from",
    "teacher": "the teacher",
    "method": "the method",
    "constants": "the method's settings",
    "augment": "the augmentation",
    "precision": "the precision",
    "views": "the number of views",
    "keep": "keep",
    "texts": "the templates",
}


def _shown(value: Any, expected: Any) -> str:
    """A field's value; of settings those that differ."""
    if isinstance(value, tuple) and isinstance(expected, tuple) and value and isinstance(value[0], tuple):
        return ", ".join(f"{name} {each}" for name, each in value if (name, each) not in expected)
    return " | ".join(value) if isinstance(value, tuple) else str(value)


def suite_of(dataset: str) -> str | None:
    """The paper's suite that a dataset belongs to."""
    return next((name for name in ("nds", "fine-grained") if dataset in SUITES[name]), None)


def experiment_of(spec: RunSpec) -> Experiment:
    """The experiment of a run."""
    model, initialisation = _model_of(spec)
    method, keep = spec.method, spec.keep or method_entry(spec.method).keep
    templates: str | tuple[str, ...] | None = spec.templates
    if method == "ensemble":
        method, templates = "zero-shot", templates or "ensemble"  # the same thing by another name
    several = method not in ONE_VIEW
    settings = {k: v for k, v in spec.settings.items() if k not in COMPUTING.get(method, ())}
    stopped = spec.stop is not None and spec.stop != "exact"  # the exact rule never changes an answer
    views: int | str = spec.views if not stopped else f"{spec.views}, stopped early by {spec.stop}"
    return Experiment(
        model=model,
        initialisation=initialisation,
        teacher=None if spec.teacher is None else weights_of(spec.teacher)[0],
        method=method,
        constants=_constants(method, settings, initialisation),
        augment=spec.augment if several else None,
        precision=_precision(spec),
        views=views if several else None,
        keep=keep,
        texts=_texts(method, templates, initialisation),
    )


def published_experiment(row: PaperRow) -> Experiment:
    """The experiment of a row, as its authors ran it on the suite of its table."""
    model, initialisation, teacher = _models_of(row)
    method = "zero-shot" if row.method == "ensemble" else row.method
    several = method not in ONE_VIEW
    given = dict(row.settings) | authors_settings(row)
    return Experiment(
        model=model,
        initialisation=initialisation,
        teacher=teacher,
        method=method,
        constants=_constants(method, given, initialisation),
        augment=authors_augment(row) if several else None,
        precision="float",
        views=VIEWS if several else None,
        keep=row.keep if method == "zero" else method_entry(method).keep,
        texts=_texts(method, row.templates, initialisation),
    )


def authors_settings(row: PaperRow) -> dict[str, Any]:
    """The hyper-parameters of a row's authors that are not our defaults (methods.md of each author's scripts).

    PromptAlign and TPT on MaPLe: lr 4e-2 on shifts, 5e-4 on fine-grained sets. RLCF's image tuning forgot to replace
    the underscores of its prefix.
    """
    fine = table_suite(row.table) == "fine-grained"
    if row.method == "promptalign" or (row.method == "tpt" and row.model == "MaPLe"):
        return {"lr": 5e-4 if fine else 4e-2}
    if row.method == "rlcf" and row.settings.get("tune") == "image":
        return {"prefix": "a_photo_of_a"}
    return {}


def authors_augment(row: PaperRow) -> str:
    """AugMix for TPT and RLCF on fine-grained sets, except on MaPLe; crops otherwise."""
    fine = table_suite(row.table) == "fine-grained"
    return "augmix" if fine and row.method in ("tpt", "rlcf") and row.model != "MaPLe" else "crops"


def table_suite(table: str) -> str:
    """The suite of one of the paper's tables."""
    return "nds" if table.startswith("nds") else "fine-grained"


def _models_of(row: PaperRow) -> tuple[str, str, str | None]:
    """Weights, initialisation and teacher of a row."""
    if row.model == CASCADE:
        if row.method == "zero-shot":
            return L14, "words", None  # the teacher alone
        prompts = row.method == "rlcf" and row.settings.get("tune") == "prompt"
        return B16, "coop" if prompts else "words", L14  # RLCF's scripts start its prompts from CoOp's
    if row.model in ("CoOp", "MaPLe"):
        return B16, row.model.lower(), None
    return row.model, "words", None


def _model_of(spec: RunSpec) -> tuple[str, str]:
    """The paper's name of a run's model, and what its prompts start from.

    A tower of ours with text vectors is the paper's model, unless another model is known to have made them: where a
    file of vectors has no name beside it, that they are the model's own is the user's word.
    """
    if spec.text_head is None:
        return weights_of(spec.model)
    maker = None if spec.text_head_model is None else weights_of(spec.text_head_model)[0]
    own = TOWERS.get(spec.model, weights_of(spec.model)[0])
    return (own, "words") if maker in (None, own) else (f"{spec.model} with the texts of {maker}", "words")


def weights_of(model: str) -> tuple[str, str]:
    """The paper's name of a model, and what its prompts start from."""
    scheme, _, rest = model.partition(":")
    base, initialisation = (rest.partition("@")[2], scheme) if scheme in LEARNED else (model, "words")
    known = (name for name, ids in WEIGHTS.items() if any(fnmatchcase(base, one) for one in ids))
    return next(known, base), initialisation


def _constants(method: str, settings: Mapping[str, Any], initialisation: str) -> tuple[tuple[str, Any], ...]:
    """The hyper-parameters with what None stands for filled in."""
    values = {**CONSTANTS.get(method, {}), **settings}
    if method == "tpt" and values["lr"] is None:
        values["lr"] = 4e-2 if initialisation == "maple" else 5e-3
    if method == "rlcf" and values["lr"] is None:
        values["lr"] = 1e-5 if values["tune"] == "image" else 7e-3
    if method == "tpt" and initialisation != "words":
        values.pop("words", None)  # the prompts that were learned stand there
    return tuple(sorted(values.items()))


def _precision(spec: RunSpec) -> str:
    if spec.model in TOWERS:
        return "int8 tower"  # its packaged weights are, also where they are multiplied in float32
    if spec.precision == "int8":
        return "int8"
    return "bf16" if spec.dtype == "bf16" else "float"


def _texts(method: str, templates: str | tuple[str, ...] | None, initialisation: str) -> tuple[str, ...] | None:
    """The templates; prompts that were learned, or are tuned, have none."""
    if initialisation != "words" or method == "tpt":
        return None
    if templates == "dataset":
        return ("dataset",)
    return resolve_templates(templates or "photo")
