"""RunSpec: everything that decides a run's records, as a TOML file and as a hash."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from math import isnan
from typing import Any, Literal, get_args

import tomli_w

from ..checks import MOST_VIEWS, checked_whole
from ..encoders import LoadOptions
from ..errors import UsageError
from ..fields import is_number, is_text, shown
from ..reading import parse_toml
from ..registry import unknown_name
from ..stopping.options import asked_views
from ..views.sample import Augment

Order = Literal["dataset", "shuffled"]

_OPTIONS = {option.name: get_args(option.type) for option in fields(LoadOptions)}
_CHOICES = {name: _OPTIONS[name] for name in ("dtype", "runtime", "precision")} | {
    "order": get_args(Order),
    "augment": get_args(Augment),
}
_HEX = 12
_LATER = ("stop_fingerprint", "text_head", "text_head_fingerprint", "text_head_model", "detail")
"""Fields that are younger than others, and count only where they are set."""


@dataclass(frozen=True)
class RunSpec:
    """One dataset, one seed, one model and method. Where and how it is computed (engine, workers, folder) is not here.

    dataset      a catalog name, or the absolute path of a folder or file
    classes      what the labels of your own data mean: a catalog name, or a file with one name a line
    root         where the catalog's datasets lie; None is the catalog's own default
    settings     the method's hyper-parameters other than `keep`
    views        a number, or "adaptive": as many as an image needs, up to 64
    stop         "exact", or a file of `viewvote calibrate-stop`; None is what ships
    disagreement the rate that adaptive views accept, or its level ("noise", "strict"); None is their default
    templates    a template set, a template, a list of them, "dataset" for the dataset's own; None is the method's
    order        "dataset", or "shuffled" by the seed; None is "shuffled" for streaming methods, whose answers depend
                 on the order, and "dataset" for all others
    limit        so many samples, evenly spaced over the dataset's order; None is all
    fingerprint  of the dataset, filled in when it is opened; a spec that has one fits no other dataset
    stop_fingerprint  of the file that `stop` names (12 hex of its sha256), filled in likewise
    text_head    a file of class vectors in place of a text tower (`viewvote text-head export`)
    text_head_fingerprint  of that file, filled in when it is opened
    text_head_model  whose text tower made that file, as far as it is written beside it, filled in likewise
    detail       also record class probabilities and boxes of views, which some studies need
    """

    dataset: str
    classes: str | None = None
    root: str | None = None
    model: str = "pocket"
    method: str = "zero"
    settings: Mapping[str, Any] = field(default_factory=dict)
    views: int | str = 64
    stop: str | None = None
    disagreement: float | str | None = None
    keep: float | None = None
    templates: str | tuple[str, ...] | None = None
    teacher: str | None = None
    augment: Augment = "crops"
    seed: int = 0
    order: Order | None = None
    limit: int | None = None
    device: str = "auto"
    dtype: Literal["fp32", "fp16", "bf16"] = "fp32"
    runtime: Literal["auto", "onnxruntime", "openvino"] = "auto"
    precision: Literal["auto", "fp32", "int8"] = "auto"
    fingerprint: str | None = None
    stop_fingerprint: str | None = None
    text_head: str | None = None
    text_head_fingerprint: str | None = None
    text_head_model: str | None = None
    detail: bool = False

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise unknown_name(f"value for {name}", str(value), choices)
        asked_views(self.views, stop=self.stop, disagreement=self.disagreement)
        for name, most in (("views", MOST_VIEWS), ("limit", None)):
            value = getattr(self, name)
            if isinstance(value, int):
                checked_whole(value, name=name, least=1, most=most)
        if self.keep is not None and not 0 < self.keep <= 1:
            raise UsageError(f"keep must be above 0 and at most 1 (the share of views that vote); got {self.keep}.")
        for name, value in self.settings.items():
            if not _is_plain(value):
                raise UsageError(f"setting {name!r} must be a number, a string or a list of them; got {shown(value)}.")
        # As a file gives them back, so that a spec equals itself after a round trip.
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in self.settings.items()}
        object.__setattr__(self, "settings", plain)
        for value in vars(self).values():
            if isinstance(value, str) and not is_text(value):
                raise UsageError(f"a spec is UTF-8 text and cannot hold the name {value!r}: rename it, or link to it.")

    @property
    def digest(self) -> str:
        """The sha256 of all fields, in hex: equal for equal specs, whatever file or flags they came from."""
        values = asdict(self)
        for name in _LATER:  # runs without them are as old as the other fields
            if not values[name]:
                del values[name]
        return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    def folder_name(self, dataset_name: str) -> str:
        """<dataset>-<model>-<method>-<12 hex of the digest>, safe on every file system."""
        words = (re.sub(r"[^A-Za-z0-9._]+", "_", text).strip("._")[-40:] for text in (dataset_name, self.model))
        return "-".join([*words, self.method, self.digest[:_HEX]])

    def to_values(self) -> dict[str, Any]:
        """The fields as a file holds them: lists instead of tuples; what is None, False or empty settings left out."""
        given = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {name: value for name, value in given.items() if value not in (None, {}) and value is not False}

    def to_toml(self) -> str:
        """The spec as a TOML file; what is None is left out."""
        values = self.to_values()
        settings = values.pop("settings", {})
        text = _toml(values)
        if settings:
            text += "\n" + re.sub(r"^([\w-]+) =", r'"\1" =', _toml({"settings": settings}), flags=re.M | re.A)
        return text

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> "RunSpec":
        """The spec with these fields; an unknown one, or one of the wrong type, is an error that names it."""
        check_keys(values, KEYS)
        if "dataset" not in values:
            raise UsageError(NO_DATASET)
        return cls(**{name: _checked(name, value) for name, value in values.items()})

    @classmethod
    def from_stored(cls, values: Mapping[str, Any], *, dataset: str) -> tuple["RunSpec", dict[str, Any]]:
        """The spec of a run of any version, and what is under keys that this one does not know.

        `dataset` stands in where none is named.
        """
        known = {name: value for name, value in values.items() if name in KEYS}
        other = {name: value for name, value in values.items() if name not in KEYS}
        return cls.from_values({"dataset": dataset, **known}), other

    @classmethod
    def from_toml(cls, text: str) -> "RunSpec":
        """The spec that `to_toml` wrote."""
        return cls.from_values(parse_toml(text, source="the spec", error=UsageError))


_TYPES: dict[str, Any] = {
    each.name: (str if each.name in _CHOICES else each.type) for each in fields(RunSpec) if each.name != "settings"
} | {"settings": dict, "templates": str | list | tuple}


KEYS = tuple(_TYPES)
NO_DATASET = "no dataset is named; expected, e.g., imagenet-a, a suite such as nds, or a folder's path."


def check_keys(values: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise UnknownNameError for the first key that is not known."""
    for name in values:
        if name not in known:
            raise unknown_name("key", name, known, of="a run spec")


def _checked(name: str, value: object) -> Any:
    """The value as the field holds it, or an error."""
    expected = _TYPES[name]
    if isinstance(value, int) and is_number(value) and name in ("keep", "disagreement"):
        value = float(value)
    if isinstance(value, bool) is not (expected is bool) or not isinstance(value, expected):
        wanted = getattr(expected, "__name__", str(expected)).replace(" | None", "")
        raise UsageError(f"{name} must be of type {wanted}; got {shown(value)}.")
    if isinstance(value, list):
        if not all(isinstance(one, str) for one in value):
            raise UsageError(f"{name} must be strings; got {shown(value)}.")
        return tuple(value)
    return value


def _is_plain(value: object) -> bool:
    """Whether a spec can hold the value: its file, and its hash. NaN is unlike itself, and so would the spec be."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return isinstance(value, int | float | str) and not (isinstance(value, float) and isnan(value))


def _toml(values: Mapping[str, Any]) -> str:
    """The values as TOML, lists on one line and tabs escaped, as all versions wrote it: equal specs are equal files."""
    text = tomli_w.dumps(values, indent=0)  # a line break outside of a value's end is inside a list, never in a string
    return text.replace("[\n", "[").replace(",\n]", "]").replace(",\n", ", ").replace("\t", "\\t")
