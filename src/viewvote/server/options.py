"""The options of a request: their types, how text spells them, and the classifier they ask for."""

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from ..errors import UsageError
from ..methods import METHODS, Method, VotingMethod, method_entry
from ..methods.settings import build_method, settings_of
from ..registry import unknown_name
from .settings import Limits

WHOLE = 2**63 - 1
MOST_SETTINGS = 10

Word = Annotated[str, StringConstraints(max_length=40)]
SettingValue = bool | int | Annotated[float, Field(allow_inf_nan=False)] | Word


class Options(BaseModel):
    """How to classify; what is left out is the service's default, and then that of `viewvote classify`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    labels: list[str] | dict[str, str | list[str]] | None = Field(
        default=None, description="The answers to choose from, in words; or an object from each answer to its texts."
    )
    templates: str | list[str] | None = Field(default=None, description="A template set's name, or templates with {}.")
    views: Annotated[int, Field(ge=1)] | Literal["adaptive", "auto"] | None = Field(
        default=None, description="Views per image; auto: adaptive for methods that vote."
    )
    stop: Literal["exact"] | None = Field(default=None, description="Leave out views that cannot change the answer.")
    disagreement: Annotated[float, Field(gt=0, lt=1)] | Literal["noise", "strict"] | None = Field(
        default=None, description="With adaptive views: accepted rate of other answers than with all."
    )
    keep: float | None = Field(default=None, gt=0, le=1, description="Share of most confident views that decide.")
    method: str | None = Field(default=None, description="A training-free method; /info lists them.")
    settings: dict[Word, SettingValue] | None = Field(
        default=None, max_length=MOST_SETTINGS, description="Hyper-parameters of the method; /info lists them."
    )
    augment: Literal["crops", "augmix"] = Field(default="crops", description="Kind of views.")
    teacher: bool | str | None = Field(default=None, description="Whether the loaded teacher votes, or its id.")
    none: bool = Field(default=False, description="Also answer 'none of these' where no label is shown.")
    multi_label: bool = Field(default=False, description="Also answer yes or no for each label alone.")
    abstain_below: float = Field(default=0.0, ge=0, le=1, description="No label below this probability.")
    seed: int = Field(default=0, ge=-WHOLE - 1, le=WHOLE, description="Seed of the views.")
    top: int | None = Field(default=None, ge=1, description="Labels listed in scores and votes; all by default.")
    trace: bool = Field(default=False, description="Add every view.")
    timeout: float | None = Field(default=None, gt=0, description="Give up after this many seconds.")


LISTS = frozenset(["labels", "templates"])
NUMBERS = frozenset(["views", "disagreement", "keep", "abstain_below", "seed", "top", "timeout"])
TRUTHS = frozenset(["trace", "teacher", "none", "multi_label"])
OBJECTS = frozenset(["settings"])


def read_options(values: Mapping[str, Any], limits: Limits) -> Options:
    """The options of JSON values, or a UsageError that names the first one that is wrong."""
    try:
        options = Options.model_validate(dict(values))
    except ValidationError as error:
        raise UsageError(_first_mistake(error)) from error
    _check_limits(options, limits)
    return options


def from_text(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """JSON values of the text of form fields or query parameters.

    Lists are separated by commas, may be given in several fields, and are JSON where they start with "[". Labels with
    texts of their own are a JSON object.
    """
    values: dict[str, Any] = {}
    for name, text in pairs:
        if name == "labels" and text.lstrip().startswith("{"):
            if name in values:
                raise UsageError("labels with texts of their own are one JSON object; give 'labels' once.")
            values[name] = _object(name, text, example='{"cat": ["a cat", "a kitten"]}')
        elif name in LISTS and isinstance(values.get(name), Mapping):
            raise UsageError("labels with texts of their own are one JSON object; give 'labels' once.")
        elif name in LISTS:
            values.setdefault(name, []).extend(_list(name, text))
        elif name in values:
            raise UsageError(f"option {name!r} is given twice; give it once.")
        else:
            values[name] = _scalar(name, text)
    templates = values.get("templates")
    if templates is not None and len(templates) == 1:
        values["templates"] = templates[0]  # perhaps the name of a set
    return values


def _list(name: str, text: str) -> list[str]:
    if not text.lstrip().startswith("["):
        return [text] if name == "templates" else [part.strip() for part in text.split(",") if part.strip()]
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"option {name!r} starts like a JSON list but is none: {error}.") from error
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise UsageError(f"option {name!r} must be a list of texts.")
    return found


def _scalar(name: str, text: str) -> Any:
    if name in TRUTHS and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if name in OBJECTS:
        return _object(name, text)
    if name in NUMBERS:
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def _object(name: str, text: str, *, example: str = '{"tie": "first"}') -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"option {name!r} must be a JSON object, e.g. {example}: {error}.") from error


def _first_mistake(error: ValidationError) -> str:
    """One line about the first thing that is wrong; of an option with several forms, about the form that fits best."""
    found = error.errors(include_url=False, include_context=False)
    same = [each for each in found if each["loc"][:1] == found[0]["loc"][:1]]
    first = max(same, key=lambda each: len(each["loc"]))
    name = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        return str(unknown_name("option", name[:100], Options.model_fields))
    shown = repr(first["input"])
    shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
    return f"option {name!r}: {first['msg'][:1].lower()}{first['msg'][1:]}; got {shown}."


def _check_limits(options: Options, limits: Limits) -> None:
    labels = options.labels or []
    own = [[own] if isinstance(own, str) else own for own in labels.values()] if isinstance(labels, Mapping) else []
    templates = [options.templates] if isinstance(options.templates, str) else options.templates or []
    if len(labels) > limits.labels:
        raise UsageError(f"{len(labels):,} labels are too many; the limit is {limits.labels:,}.")
    if len(templates) > limits.templates:
        raise UsageError(f"{len(templates):,} templates are too many; the limit is {limits.templates:,}.")
    for text in (*labels, *chain.from_iterable(own), *templates):
        if len(text) > limits.label_chars:
            raise UsageError(f"{text[:40]!r}... has {len(text):,} characters; the limit is {limits.label_chars:,}.")
    if isinstance(options.views, int) and options.views > limits.views:
        raise UsageError(f"{options.views} views are too many; the limit is {limits.views}.")


def served_methods() -> dict[str, str]:
    """The methods that a service offers, each with one line: those whose answer depends on the image alone."""
    served = {}
    for name in METHODS:
        entry = method_entry(name)
        if entry.extra is None and not entry.streams:
            served[name] = entry.summary
    return served


def served_settings(name: str) -> tuple[str, ...]:
    """The hyper-parameters of a method that a request may choose, besides `keep`, which is an option.

    They are those of votes, which check their values and cost the same with any. MTA's iterations, for one, could keep
    the service busy.
    """
    if not isinstance(build_method(name, {}), VotingMethod):
        return ()
    return tuple(setting for setting in settings_of(name) if setting != "keep")


def asked_method(name: str, options: Options) -> str | Method:
    """The method with the hyper-parameters that a request asks for; its name where it asks for none."""
    name, settings = checked_method_name(name), dict(options.settings or {})
    if not settings:
        return name
    for setting in settings:
        if setting not in served_settings(name):
            raise unknown_name(f"setting of method {name!r}", setting, served_settings(name) or ["none"])
    return build_method(name, settings if options.keep is None else {**settings, "keep": options.keep})


def checked_method_name(name: str) -> str:
    """The method's name, or an error that says which are served."""
    served = served_methods()
    if name in METHODS and name not in served:
        raise UsageError(
            f"method {name!r} tunes or learns from earlier images, and a service answers each image alone. "
            f"Served: {', '.join(sorted(served))}."
        )
    if name not in served:
        raise unknown_name("method", name, served)
    return name
