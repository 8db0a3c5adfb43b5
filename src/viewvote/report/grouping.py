"""Which runs make up a table's rows and cells, and which stay out."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import UsageError
from ..runs.read import Run


@dataclass(frozen=True)
class Groups:
    """Per row of a table, its runs by dataset: those of one cell differ by seed only. `trials` are not shown."""

    rows: tuple[Mapping[str, Sequence[Run]], ...]
    trials: tuple[Run, ...]


def group_runs(runs: Sequence[Run]) -> Groups:
    """The runs by settings and dataset; of a cell's runs only those over the most samples are shown."""
    rows: dict[str, dict[str, list[Run]]] = {}
    heads = _text_heads(runs)
    for run in runs:
        settings = _row_of(run)
        if len(heads[settings, run.dataset]) > 1:
            settings += str(run.spec.text_head_fingerprint)
        rows.setdefault(settings, {}).setdefault(run.dataset, []).append(run)
    shown = tuple({name: _largest(cell) for name, cell in row.items()} for row in rows.values())
    chosen = {(run.path, run.title) for row in shown for cell in row.values() for run in cell}
    return Groups(shown, tuple(run for run in runs if (run.path, run.title) not in chosen))


def _row_of(run: Run) -> str:
    return repr(sorted((run.settings | {"model": shared_model(run)}).items(), key=str))


def _text_heads(runs: Sequence[Run]) -> Mapping[tuple[str, str], set[str | None]]:
    """The text heads by row and dataset. Each dataset of a row has its own; where one has several, they are rows."""
    found: dict[tuple[str, str], set[str | None]] = {}
    for run in runs:
        found.setdefault((_row_of(run), run.dataset), set()).add(run.spec.text_head_fingerprint)
    return found


def shared_model(run: Run) -> str:
    """The run's model without the file of MaPLe's weights: the paper counts the three that were released as seeds."""
    scheme, _, rest = run.model.partition(":")
    return f"maple:*@{rest.partition('@')[2]}" if scheme == "maple" else run.model


def _largest(runs: Sequence[Run]) -> list[Run]:
    """Those of one dataset's runs that are over the same samples, the most there are; rather without a limit."""
    if len({run.spec.dataset for run in runs}) > 1 and len({run.spec.fingerprint for run in runs}) > 1:
        raise UsageError(
            f"different datasets are called {runs[0].dataset!r}; name runs over one of them: {_paths(runs)}."
        )
    by_samples: dict[Hashable, list[Run]] = {}
    for run in runs:
        by_samples.setdefault((run.spec.limit, run.spec.fingerprint), []).append(run)
    found = max(by_samples.values(), key=lambda same: (max(run.n for run in same), same[0].spec.limit is None))
    if len({(run.seed, _weights(run)) for run in found}) < len(found):
        raise UsageError(f"these runs are for the same cell and seed; name one of them: {_paths(found)}.")
    return found


def _weights(run: Run) -> str:
    """What distinguishes weights that stand in a row as seeds: what is in the file, whatever it is called."""
    return run.weights if run.weights and shared_model(run) != run.model else run.model


def _paths(runs: Sequence[Run]) -> str:
    return ", ".join(str(run.path) for run in runs)
