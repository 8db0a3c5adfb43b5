"""`viewvote eval`: runs over datasets that can be killed and continued."""

import json
import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .completion import offer_datasets, offer_methods, offer_models, offer_templates, offering
from .guard import complain, guarded
from .progress import watching
from .values import read_seeds, read_settings, read_views

if TYPE_CHECKING:
    from ..datasets import Dataset
    from ..runs.engines.base import Engine
    from ..runs.summary import Summary

FORMATS = ("table", "json")
ENGINES = ("local", "ray")

HELP = """Evaluate a model and a method on datasets. Killed at any moment, the same command continues.

[bold]Examples[/bold]

  viewvote eval --dataset photos/ --views 16

  viewvote eval --dataset imagenet-a --model open_clip:ViT-B-16/openai --seeds 0,1,2

  viewvote eval --dataset fine-grained --method zero --limit 500 --format json

  viewvote eval --spec run.toml --engine ray --actors 8 --gpus-per-actor 0.5
"""


@guarded
def evaluate(
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|SUITE|DIR", help="What to evaluate on; may be repeated.", autocompletion=offer_datasets
        ),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="What the labels of your own data mean: a catalog name, or a file of names.")
    ] = None,
    spec: Annotated[Path | None, typer.Option(help="A TOML file of these settings; flags override it.")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Model id; `viewvote models` lists them (default pocket).", autocompletion=offer_models),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="Method; `viewvote methods` lists them (default zero).", autocompletion=offer_methods),
    ] = None,
    views: Annotated[
        str | None, typer.Option(metavar="N|adaptive", help="Views per image (default 64), or as many as it needs.")
    ] = None,
    stop: Annotated[
        str | None, typer.Option(metavar="exact|FILE", help="exact, or thresholds of `viewvote calibrate-stop`.")
    ] = None,
    disagreement: Annotated[
        float | None, typer.Option(help="Adaptive: accepted rate of answers that differ from those of all views.")
    ] = None,
    keep: Annotated[float | None, typer.Option(help="Share of most confident views that decide.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A hyper-parameter of the method, KEY=VALUE; may be repeated.")
    ] = None,
    templates: Annotated[
        str | None,
        typer.Option(
            help="Template set, a template with {}, or 'dataset' for the dataset's own.", autocompletion=offer_templates
        ),
    ] = None,
    teacher: Annotated[
        str | None, typer.Option(help="A stronger model that votes on the kept views.", autocompletion=offer_models)
    ] = None,
    augment: Annotated[
        str | None, typer.Option(help="Views: crops (default) | augmix.", autocompletion=offering(("crops", "augmix")))
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="Seeds of the views, one run each, such as 0,1,2 (default 0).")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="So many samples, evenly spaced over the dataset.")] = None,
    order: Annotated[str | None, typer.Option(help="dataset | shuffled (default for streaming methods).")] = None,
    root: Annotated[Path | None, typer.Option(help="The folder that holds the datasets; else VIEWVOTE_DATA.")] = None,
    engine: Annotated[str, typer.Option(help=" | ".join(ENGINES), autocompletion=offering(ENGINES))] = "local",
    ray_address: Annotated[str | None, typer.Option(help="A Ray cluster; without one, Ray on this machine.")] = None,
    actors: Annotated[int, typer.Option(min=1, help="Ray: models at work at a time.")] = 2,
    gpus_per_actor: Annotated[float, typer.Option(min=0, help="Ray: share of a GPU per actor.")] = 0.0,
    cpus_per_actor: Annotated[float, typer.Option(min=0, help="Ray: cores per actor.")] = 1.0,
    out: Annotated[Path, typer.Option(help="The folder of all runs.")] = Path("runs"),
    retry_errors: Annotated[bool, typer.Option("--retry-errors", help="Try unreadable images again.")] = False,
    format: Annotated[str, typer.Option(help=" | ".join(FORMATS), autocompletion=offering(FORMATS))] = "table",  # noqa: A002
    device: Annotated[str | None, typer.Option(help="auto | cpu | cuda | mps, for torch models.")] = None,
    dtype: Annotated[str | None, typer.Option(help="fp32 | fp16 | bf16, for torch models.")] = None,
    runtime: Annotated[str | None, typer.Option(help="auto | onnxruntime | openvino, for packs.")] = None,
    precision: Annotated[str | None, typer.Option(help="auto | fp32 | int8, for packs.")] = None,
    threads: Annotated[int, typer.Option(min=0, help="CPU threads of packs; 0 is one per core.")] = 0,
    log_file: Annotated[Path | None, typer.Option(help="Write the log of all runs here too.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> int:
    """Evaluate a model and a method on datasets."""
    from ..registry import unknown_name
    from ..runs import plan_runs, run
    from ..runs.plan import open_datasets, read_plan

    for what, value, known in (("format", format, FORMATS), ("engine", engine, ENGINES)):
        if value not in known:
            raise unknown_name(what, value, known)
    given = {
        "dataset": dataset,
        "classes": classes,
        "root": None if root is None else str(root.resolve()),
        "model": model,
        "method": method,
        "views": None if views is None else read_views(views),
        "stop": stop,
        "disagreement": disagreement,
        "keep": keep,
        "settings": read_settings(settings) if settings else None,
        "templates": templates,
        "teacher": teacher,
        "augment": augment,
        "seeds": None if seeds is None else read_seeds(seeds),
        "limit": limit,
        "order": order,
        "device": device,
        "dtype": dtype,
        "runtime": runtime,
        "precision": precision,
    }
    values = {name: value for name, value in given.items() if value is not None}
    specs = plan_runs(_over({} if spec is None else read_plan(spec), values))
    datasets = open_datasets(specs)  # all of them before the first run: a missing one must not show up hours later
    if not quiet:
        _tell_notes(datasets.values())
    chosen = _local(threads) if engine == "local" else _ray(ray_address, actors, gpus_per_actor, cpus_per_actor)
    done = []
    for one in specs:
        with watching(quiet=quiet) as watch, redirect_stdout(sys.stderr):  # where Ray and hubs say something
            opened = datasets[one.dataset]
            summary = run(
                one, out=out, engine=chosen, retry_errors=retry_errors, watch=watch, log_file=log_file, dataset=opened
            )
        done.append(summary)
        _tell(summary, table=format == "table", quiet=quiet)
    if format == "json":
        typer.echo(json.dumps([summary.to_dict() for summary in done], indent=1, ensure_ascii=False))
    return 1 if any(summary.errors for summary in done) else 0


def _tell_notes(datasets: Iterable["Dataset"]) -> None:
    """One line for each thing that a reader of the numbers should know, before hours are spent on them."""
    for dataset in datasets:
        for note in dataset.notes:
            complain(f"{dataset.name}: {note}")


def _tell(summary: "Summary", *, table: bool, quiet: bool) -> None:
    """One line for a complete run, and one for the images it could not use."""
    if table:
        typer.echo(str(summary))
    if summary.errors and not quiet:
        complain(
            f"{summary.errors} of {summary.n} images could not be used; {summary.path}/run.log names them. "
            "Try them again with --retry-errors."
        )


def _over(file: dict[str, Any], flags: dict[str, Any]) -> dict[str, Any]:
    """The file's values, replaced by those of the flags."""
    from ..runs import RunSpec

    merged = file | flags
    if "seeds" in flags:
        merged.pop("seed", None)
    if "dataset" in flags:
        merged.pop("fingerprint", None)
    if "order" not in flags and merged.get("method", RunSpec.method) != file.get("method", RunSpec.method):
        merged.pop("order", None)  # each method has its own; a run's spec names that of the method it was run with
    if "stop" in flags:
        merged.pop("stop_fingerprint", None)
    return merged


def _local(threads: int) -> "Engine":
    from ..runs.engines.local import LocalEngine

    return LocalEngine(threads=threads)


def _ray(address: str | None, actors: int, gpus: float, cpus: float) -> "Engine":
    from ..runs.engines.ray.engine import RayEngine

    return RayEngine(address=address, actors=actors, gpus_per_actor=gpus, cpus_per_actor=cpus)
