"""Layouts of tables as data: which datasets, which averages, and which of the paper's tables stand beside ours."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from ..datasets import SUITES, use_cards
from ..datasets.schema import Key, check_table, one_of, text, text_or_texts, texts
from ..errors import UsageError
from ..reading import read_toml
from ..registry import unknown_name
from .paper import paper_tables

HOW = ("mean", "median")

_DATA = files("viewvote.report") / "data" / "layouts"
SHIPPED = tuple(sorted(file.name.removesuffix(".toml") for file in _DATA.iterdir()))


@dataclass(frozen=True)
class AverageOf:
    """A column that averages over datasets: all of the table, or those named."""

    name: str
    how: str = "mean"
    datasets: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Layout:
    """A table's columns; `datasets` None is those that the runs are on, `paper` names tables of the paper."""

    name: str
    datasets: tuple[str, ...] | None = None
    averages: tuple[AverageOf, ...] = ()
    paper: tuple[str, ...] = ()


_KEYS = {
    "name": text(),
    "datasets": text_or_texts("a suite's name or a list of datasets"),
    "paper": texts(),
    "averages": Key("a list of tables", lambda value: isinstance(value, list)),
}
_AVERAGE_KEYS = {"name": text(required=True), "how": one_of(HOW), "datasets": texts()}


def find_layout(given: str | Path) -> Layout:
    """The shipped layout of a name, or the one in a TOML file; users' own cards are added to the catalog first."""
    use_cards()
    if given in SHIPPED:
        return _shipped(str(given))
    path = Path(given)
    if path.suffix == ".toml" or path.is_file():
        return load_layout(path)
    raise unknown_name("layout", str(given), [*SHIPPED, "a file's path (.toml)"])


def load_layout(path: Path) -> Layout:
    """The layout in a TOML file; an error names the file, the key and what it expects.

    name = "birds"                        # by default the file's name
    datasets = ["cub200", "nabirds"]      # or a suite's name; by default the datasets of the runs
    paper = ["fc"]                        # tables of the paper whose rows stand beside ours; by default none

    [[averages]]                          # by default none
    name = "Mean"
    how = "mean"                          # or "median"
    datasets = ["cub200", "nabirds"]      # by default all
    """
    return _layout(
        check_table(read_toml(path, error=UsageError), _KEYS, where=str(path)), where=str(path), name=path.stem
    )


@cache
def _shipped(name: str) -> Layout:
    with as_file(_DATA / f"{name}.toml") as path:
        return load_layout(path)


def _layout(values: dict[str, Any], *, where: str, name: str) -> Layout:
    datasets = _datasets(values.get("datasets"), where=where)
    for table in values.get("paper", ()):
        if table not in paper_tables():
            raise unknown_name(f"table of the paper, named in {where}", table, paper_tables())
    averages = [
        _average(each, where=f"{where}, averages {number}", datasets=datasets)
        for number, each in enumerate(values.get("averages", ()), start=1)
    ]
    names = [average.name for average in averages]
    if len(set(names)) < len(names):
        raise UsageError(f"{where}: two averages have the same name; got {names!r}.")
    return Layout(values.get("name", name), datasets, tuple(averages), tuple(values.get("paper", ())))


def _datasets(given: str | list[str] | None, *, where: str) -> tuple[str, ...] | None:
    if isinstance(given, str):
        if given not in SUITES:
            raise unknown_name(f"suite, named in {where}", given, SUITES)
        return SUITES[given]
    if given is not None and len(set(given)) < len(given):
        raise UsageError(f"{where}: datasets names one of them twice; got {given!r}.")
    return None if given is None else tuple(given)


def _average(values: object, *, where: str, datasets: tuple[str, ...] | None) -> AverageOf:
    found = check_table(values, _AVERAGE_KEYS, where=where)
    over = tuple(found["datasets"]) if "datasets" in found else None
    for name in over or ():
        if datasets is not None and name not in datasets:
            raise unknown_name(f"dataset of the layout, named in {where}", name, datasets)
    return AverageOf(found["name"], found.get("how", "mean"), over)
