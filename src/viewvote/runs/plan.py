"""From what the user asks, one spec per run: suites become their datasets; seeds, models and methods one run each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from ..datasets import SUITES, Dataset, use_cards
from ..errors import UsageError
from ..methods import METHODS
from ..reading import read_toml
from .job import dataset_of, place_of
from .spec import KEYS, NO_DATASET, RunSpec, check_keys


def read_plan(path: Path) -> dict[str, Any]:
    """The values in a TOML file, for `plan_runs`."""
    return read_toml(path, error=UsageError, what="the spec")


def override_plan(file: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a file, replaced by those given beside it; what followed from replaced ones is dropped."""
    merged = {**file, **given}
    if "seeds" in given:
        merged.pop("seed", None)
    if "dataset" in given:
        merged.pop("fingerprint", None)
    if "order" not in given and merged.get("method", RunSpec.method) != file.get("method", RunSpec.method):
        merged.pop("order", None)  # each method has its own; a run's spec names that of the method it was run with
    if "stop" in given:
        merged.pop("stop_fingerprint", None)
    return merged


def plan_runs(values: Mapping[str, Any]) -> list[RunSpec]:
    """The runs that a RunSpec's values ask for; here `dataset` may be a suite or a list, and `seeds` a list.

    `model` and `method` may be lists too. Of several methods each takes those settings that it knows.
    """
    use_cards()
    check_keys(values, [*KEYS, "seeds"])
    rest = dict(values)
    if "seeds" in rest and "seed" in rest:
        raise UsageError("give seed or seeds, not both.")
    seeds = rest.pop("seeds") if "seeds" in rest else [rest.pop("seed", 0)]
    if not isinstance(seeds, list) or not seeds or any(type(seed) is not int for seed in seeds):
        raise UsageError(f"seeds must be a list of whole numbers, such as [0, 1, 2]; got {seeds!r}.")
    named = rest.pop("dataset", [])
    given = [named] if isinstance(named, str) else named
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise UsageError(f"dataset must be a name, or a list of names; got {named!r}.")
    if not given:
        raise UsageError(NO_DATASET)
    names = dict.fromkeys(dataset for name in given for dataset in _datasets(name))
    if isinstance(rest.get("classes"), str):
        rest["classes"] = place_of(rest["classes"])
    models, methods = _several(rest, "model"), _several(rest, "method")
    asked = [_for_method(rest, method, methods) for method in methods]
    return [
        RunSpec.from_values({**values, "dataset": name, "seed": seed, **({"model": model} if model else {})})
        for name in names
        for model in models
        for seed in dict.fromkeys(seeds)
        for values in asked
    ]


def _several(values: dict[str, Any], key: str) -> list[str | None]:
    """The names under a key that may be one or a list, taken out of the values; [None] where there is none."""
    given = values.pop(key, None)
    names = given if isinstance(given, list) else [given]
    if not names or not all(name is None or (isinstance(name, str) and name) for name in names):
        raise UsageError(f"{key} must be a name, or a list of names; got {given!r}.")
    return list(dict.fromkeys(names))


def _for_method(values: Mapping[str, Any], method: str | None, methods: Sequence[str | None]) -> dict[str, Any]:
    """The values for one of the methods; where there are several, without the settings that only others know."""
    out = {**values, **({"method": method} if method else {})}
    if method is None or len(methods) == 1:
        return out
    known = {name: {field.name for field in fields(cast("Any", METHODS.get(name)))} for name in methods if name}
    for key in [*values.get("settings", {}), *(["keep"] if "keep" in values else [])]:
        if not any(key in names for names in known.values()):
            raise UsageError(f"none of the methods {', '.join(known)} has a setting {key!r}.")
    out["settings"] = {key: value for key, value in values.get("settings", {}).items() if key in known[method]}
    if "keep" not in known[method]:
        out.pop("keep", None)
    return out


def open_datasets(specs: Iterable[RunSpec]) -> dict[str, Dataset]:
    """The datasets of the specs, each opened once; what is missing is an error before any run starts."""
    found: dict[str, Dataset] = {}
    for spec in specs:
        if spec.dataset not in found:
            found[spec.dataset] = dataset_of(spec)
    return found


def _datasets(name: str) -> Iterable[str]:
    """The datasets of a suite, or the one of that name or place."""
    return SUITES[name] if name in SUITES else [place_of(name)]
