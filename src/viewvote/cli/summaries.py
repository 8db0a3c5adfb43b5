"""The summaries of `viewvote eval`: a run after the other, each printed when it is complete."""

import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from ..datasets import Dataset, use_cards
from ..outputs import check_output
from ..runs import plan_runs, run
from ..runs.engines.base import Engine
from ..runs.engines.local import LocalEngine
from ..runs.plan import open_datasets, override_plan, read_plan
from ..runs.spec import KEYS, RunSpec
from ..runs.summary import Summary
from ..runs.together import run_together, shared_passes
from ..stopping.options import read_disagreement
from .evaluate import EvalOptions
from .guard import complain
from .printing import print_json
from .progress import watching
from .values import read_names, read_seeds, read_settings, read_views


def write_summaries(asked: EvalOptions) -> int:
    """Run what is asked and print the summaries; returns the exit code, 1 where an image could not be used."""
    if asked.log_file is not None:
        check_output(asked.log_file, overwrite=True)  # it is added to
    use_cards(asked.dataset_cards)
    specs = _planned(asked)
    datasets = open_datasets(specs)  # all of them before the first run: a missing one must not show up hours later
    if not asked.quiet:
        _print_notes(datasets.values())
    engine = _engine(asked)
    done = []
    for together in shared_passes(specs) if asked.engine == "local" else [[spec] for spec in specs]:
        with watching(quiet=asked.quiet) as watch, redirect_stdout(sys.stderr):  # where Ray and hubs print something
            same: Any = {
                "out": asked.out,
                "retry_errors": asked.retry_errors,
                "watch": watch,
                "log_file": asked.log_file,
                "dataset": datasets[together[0].dataset],
            }
            try:
                if len(together) > 1:
                    summaries = run_together(together, threads=asked.threads, **same)
                else:
                    summaries = [run(together[0], engine=engine, **same)]
            except KeyboardInterrupt as error:
                raise KeyboardInterrupt("The same command goes on from here.") from error
        for summary in summaries:
            done.append(summary)
            _print_summary(summary, asked.out / summary.run, table=asked.format == "table", quiet=asked.quiet)
    if asked.format == "json":
        print_json([summary.to_dict() for summary in done])
    return 1 if any(summary.errors for summary in done) else 0


def _planned(asked: EvalOptions) -> list[RunSpec]:
    """The runs that are asked for; a preset fills in what neither the options nor the spec file give."""
    values = override_plan({} if asked.spec is None else read_plan(asked.spec), given_values(asked))
    if asked.preset is None:
        return plan_runs(values)
    from ..report.presets import preset_values, with_preset

    row = preset_values(asked.preset)
    settings = {**row.get("settings", {}), **values.get("settings", {})}
    return with_preset(plan_runs({**row, **values, "settings": settings}), given=values)


def given_values(asked: EvalOptions) -> dict[str, Any]:
    """The values that were given for fields of a RunSpec, and the seeds."""
    values = {field.name: getattr(asked, field.name) for field in fields(asked) if field.name in KEYS} | {
        "root": None if asked.root is None else str(asked.root.resolve()),
        "text_head": None if asked.text_head is None else str(asked.text_head),
        "views": None if asked.views is None else read_views(asked.views),
        "settings": read_settings(asked.settings) if asked.settings else None,
        "disagreement": None if asked.disagreement is None else read_disagreement(asked.disagreement),
        "seeds": None if asked.seeds is None else read_seeds(asked.seeds),
        "model": None if asked.model is None else read_names(asked.model),
        "method": None if asked.method is None else read_names(asked.method),
    }
    return {name: value for name, value in values.items() if value is not None}


def _engine(asked: EvalOptions) -> Engine:
    if asked.engine == "local":
        return LocalEngine(threads=asked.threads)
    from ..runs.engines.ray.engine import RayEngine

    return RayEngine(
        address=asked.ray_address,
        actors=asked.actors,
        gpus_per_actor=asked.gpus_per_actor,
        cpus_per_actor=asked.cpus_per_actor,
    )


def _print_notes(datasets: Iterable[Dataset]) -> None:
    """Print what a reader of the numbers should know, before hours are spent on them."""
    for dataset in datasets:
        for note in dataset.notes:
            complain(f"{dataset.name}: {note}")


def _print_summary(summary: Summary, folder: Path, *, table: bool, quiet: bool) -> None:
    """Print a line for a complete run, where it lies, and a line for the images it could not use."""
    if table:
        typer.echo(str(summary))
    if not quiet:
        complain(f"the run is in {folder}")
    if summary.errors and not quiet:
        complain(
            f"{summary.errors} of {summary.n} images could not be used; {folder / 'run.log'} names them. "
            "Try them again with --retry-errors."
        )
