"""From what the user asks, one spec per run: suites become their datasets, lists of seeds one run each."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..datasets import SUITES, Dataset, use_cards
from ..errors import UsageError
from .job import dataset_of, place_of
from .spec import KEYS, NO_DATASET, RunSpec, check_keys, parse_toml


def read_plan(path: Path) -> dict[str, Any]:
    """The values in a TOML file, for `plan_runs`."""
    try:
        return parse_toml(path.read_text(encoding="utf-8"), what=str(path))
    except OSError as error:
        raise UsageError(f"cannot read the spec {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the spec {path} is not UTF-8 text: {error}.") from error


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
    """The runs that a RunSpec's values ask for; here `dataset` may be a suite or a list, and `seeds` a list."""
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
    return [
        RunSpec.from_values({**rest, "dataset": name, "seed": seed}) for name in names for seed in dict.fromkeys(seeds)
    ]


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
