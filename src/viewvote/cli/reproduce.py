"""`viewvote reproduce`: the paper's items, what is present of them, and ours beside the published."""

from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as opt
from .completion import offer_datasets, offer_models
from .guard import complain, guarded

HELP = """List the paper's tables and figures with what is present; with an ITEM, run what is missing and print it.

[bold]Examples[/bold]

  viewvote reproduce --root data

  viewvote reproduce nds --root data --model open_clip:ViT-B-16/openai --seeds 0,1,2

  viewvote reproduce jury --dataset photos/ --limit 100 --plot jury.pdf
"""


@guarded
def reproduce(
    item: Annotated[str | None, typer.Argument(metavar="[ITEM]", help="A table or figure; without one, all.")] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="ID,ID,...",
            help="The models to run: one that starts from words, and CoOp's and MaPLe's for their rows.",
            autocompletion=offer_models,
            rich_help_panel=opt.MODEL,
        ),
    ] = "pocket",
    teacher: Annotated[
        str | None,
        typer.Option(metavar="ID", help="A stronger model, for the rows that have one.", rich_help_panel=opt.MODEL),
    ] = None,
    statistics: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Source statistics, for PromptAlign (`viewvote statistics`).",
            rich_help_panel=opt.MODEL,
        ),
    ] = None,
    text_head: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Vectors of the labels.", rich_help_panel=opt.MODEL)
    ] = None,
    root: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder that holds the datasets.", rich_help_panel=opt.ASK)
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|DIR",
            help="Other data than the item's; may be repeated.",
            autocompletion=offer_datasets,
            rich_help_panel=opt.ASK,
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="Seeds of the views (default 0).", rich_help_panel=opt.VOTE)
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="So many samples of each dataset.", rich_help_panel=opt.ASK)
    ] = None,
    views: Annotated[
        int | None, typer.Option(metavar="N", help="Other than the paper's 64 views.", rich_help_panel=opt.VOTE)
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder of all runs.", rich_help_panel=opt.OUTPUT)
    ] = Path("runs"),
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw a study to this PNG, SVG or PDF.", rich_help_panel=opt.OUTPUT),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the drawing if it exists.", rich_help_panel=opt.OUTPUT)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """List the paper's tables and figures, or run one."""
    from ..encoders.head_file import read_head_file
    from ..outputs import check_output
    from ..runs.read import load_runs
    from ..studies.reproduce import find_item, in_words, list_items, plan_item
    from ..studies.rivals import Means
    from .values import read_seeds

    if plot is not None:
        check_output(plot, overwrite=overwrite)
    there = load_runs([out]) if any(out.glob("*/records.jsonl")) else []
    head = None if text_head is None else read_head_file(text_head)
    models = tuple(name for name in (part.strip() for part in model.split(",")) if name)
    means = Means(models, teacher, None if statistics is None else statistics.resolve(), head)
    listed = list_items(there, root=root, means=means)
    if item is None:
        _print_list(listed)
        return
    wanted = find_item(item)
    given: dict[str, Any] = {
        "text_head": None if text_head is None else str(text_head),
        "root": None if root is None else str(root.resolve()),
        "seeds": None if seeds is None else read_seeds(seeds),
        "limit": limit,
        "views": views,
    }
    present = next(one.present for one in listed if one.name == item)
    values = {name: value for name, value in given.items() if value is not None}
    planned = plan_item(wanted, datasets=dataset or present, values=values, means=means)
    if planned.missing:
        complain(f"left out: {in_words(planned.missing)}.")
    if missing := [name for name in wanted.datasets if not dataset and name not in present]:
        complain(f"not present, so left out: {', '.join(missing)}.")
    done = _run(planned.specs, out=out, quiet=quiet, head=head)
    _print_item(item, [out / spec for spec in _folders(done)], plot, images=limit if item == "cost" else None)


def _print_list(listed: Any) -> None:
    from ..studies.reproduce import Listed, in_words

    rows: list[Listed] = list(listed)
    typer.echo(f"{'item':24}{'data':>8}{'rows':>8}{'runs':>6}{'weights':>9}  what it is; the published numbers are of")
    for one in rows:
        data = f"{len(one.present)}/{len(one.item.datasets)}"
        weights = "no" if one.weights is None else "yes"
        can = f"{one.rows[0]}/{one.rows[1]}"
        typer.echo(f"{one.name:24}{data:>8}{can:>8}{one.runs:>6}{weights:>9}  {one.item.title}; {one.needs}")
    typer.echo(
        "data: datasets that are here. rows: rows, or runs of a study, that these models allow. runs: that are there. "
        "weights: no where the published numbers wait for those named last."
    )
    if missing := in_words(row for one in rows for row in one.missing):
        typer.echo(f"rows that this lacks something for: {missing}")
    for model in dict.fromkeys(one.weights for one in rows if one.weights):
        typer.echo(f"weights that are here: --model {model}")


def _run(specs: Any, *, out: Path, quiet: bool, head: Any = None) -> list[Any]:
    """Compute what is missing of the runs; returns those that are there. A rival that a model does not allow is named.

    Whether a model can be tuned in a method's way is known only when it is loaded.
    """
    import sys
    from contextlib import redirect_stdout

    from ..errors import UnsupportedEncoderError
    from ..runs import run
    from ..runs.plan import open_datasets
    from ..runs.together import run_together, shared_passes
    from .progress import watching

    datasets, done = open_datasets(specs), []
    for together in shared_passes(_fitting(specs, datasets, head)):
        opened = datasets[together[0].dataset]
        try:
            with watching(quiet=quiet) as watch, redirect_stdout(sys.stderr):
                if len(together) > 1:
                    run_together(together, out=out, watch=watch, dataset=opened)
                else:
                    run(together[0], out=out, watch=watch, dataset=opened)
        except UnsupportedEncoderError as error:
            complain(f"left out: {together[0].method} on {together[0].dataset}: {error}")
        else:
            done += together
    return done


def _fitting(specs: Any, datasets: Any, head: Any) -> list[Any]:
    """The specs of datasets whose labels the vectors are of; the others are named."""
    from ..errors import UsageError

    others = [name for name in datasets if head is not None and not head.is_of(datasets[name].class_names)]
    for name in others:
        complain(f"left out: {name}: the vectors of {head.path} are of other labels.")
    found = [spec for spec in specs if spec.dataset not in others]
    if not found:
        raise UsageError("there is nothing to run; name a dataset that the vectors are of with --dataset.")
    return found


def _folders(specs: Any) -> list[str]:
    from ..runs.job import open_job

    jobs = [open_job(spec) for spec in specs]
    return [job.spec.folder_name(job.dataset.name) for job in jobs]


def _print_item(name: str, folders: list[Path], plot: Path | None, *, images: int | None) -> None:
    """The item from its runs: a table with the published rows, or a study; of `images` images where it measures."""
    from dataclasses import replace

    from ..report.formats.render import render
    from ..report.layouts import find_layout
    from ..report.table import build_table
    from ..runs.read import load_runs
    from ..studies import STUDIES
    from ..studies.base import Options
    from ..studies.reproduce import find_item
    from ..studies.text import FORMATS

    item, runs = find_item(name), load_runs(folders)
    if item.study is None:
        known = any(run.dataset in item.datasets for run in runs)
        layout = find_layout(item.layout if item.layout and known else "free")
        typer.echo(render(build_table(runs, layout=layout), "markdown"), nl=False)
        return
    options = Options(**item.options)
    finding = STUDIES.get(item.study)(runs, options if images is None else replace(options, images=images))
    if plot is not None and finding.draw is not None:
        from ..pictures.plots import save_plot

        save_plot(finding.draw, plot, size=finding.size)
    typer.echo(FORMATS["md"](finding), nl=False)
