"""`viewvote report | metrics | rescore`: tables, metrics and other settings from records, without the model."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from . import options as opt
from .completion import offering
from .formats import format_of
from .guard import guarded
from .printing import put_text

if TYPE_CHECKING:
    from ..report.table import Table
    from ..runs.read import Run

LAYOUTS = ("nds", "fine-grained", "free")  # of report/layouts, which this module imports only when called
FORMATS = ("table", "markdown", "latex", "csv", "json", "html")
RESCORED = ("table", "json", "csv")
ENDINGS = {".md": "markdown", ".markdown": "markdown", ".tex": "latex", ".csv": "csv", ".json": "json"}
ENDINGS |= {".html": "html", ".htm": "html"}
RESCORED_ENDINGS = {".csv": "csv", ".json": "json"}
VOTES = ("zero", "anchored")
FILES = "Files"
TABLE = "Table"

N = TypeVar("N", int, float)

REPORT_HELP = """The paper's tables from runs: ours with intervals, the published numbers beside them.

[bold]Examples[/bold]

  viewvote report runs/ --layout nds

  viewvote report runs/imagenet-a-* --layout free --output report.html

  viewvote report --compare runs/pets-pocket-zero-1f... runs/pets-pocket-zero_shot-9c...
"""

Output = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write to this file instead of standard output.", rich_help_panel=FILES),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.", rich_help_panel=FILES)]


@guarded
def report(
    runs: Annotated[list[Path] | None, typer.Argument(metavar="[RUN...]", help=opt.RUNS)] = None,
    layout: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help=f"{' | '.join(LAYOUTS)}, or a TOML file of your own.",
            autocompletion=offering(LAYOUTS),
            rich_help_panel=TABLE,
        ),
    ] = "free",
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            help=" | ".join(FORMATS),
            metavar="NAME",
            show_default="by the ending of --output; table on a terminal, else markdown",
            autocompletion=offering(FORMATS),
            rich_help_panel=FILES,
        ),
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Whether the difference of two runs is real.", rich_help_panel=TABLE),
    ] = None,
    rescored: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Also rows scored from the runs of zero: zero-shot, keep=0.1.",
            rich_help_panel=TABLE,
        ),
    ] = None,
    output: Output = None,
    overwrite: Overwrite = False,
) -> None:
    """The paper's tables from runs."""
    from ..errors import UsageError
    from ..outputs import check_output
    from ..registry import unknown_name
    from ..report.compare import compare as compare_runs
    from ..report.derived import derived_runs
    from ..report.formats.render import render
    from ..report.formats.strict_json import strict_json
    from ..report.layouts import find_layout
    from ..report.table import build_table
    from ..runs.read import find_run, load_runs

    if format is not None and format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    default = "table" if output is None and sys.stdout.isatty() else "markdown"
    format = format_of(format, output, endings=ENDINGS, default=default)  # noqa: A001
    if output is not None:
        check_output(output, overwrite=overwrite)
    if compare is not None:
        if runs:
            raise UsageError("--compare takes its two runs itself; leave the others out.")
        compared = compare_runs(*map(find_run, compare))
        put_text(strict_json(compared.to_dict()) if format == "json" else f"{compared}\n", output)
        return
    if not runs:
        raise UsageError("name the runs to report on: folders that `viewvote eval` made, or a folder of them.")
    found = load_runs(runs)
    if rescored:
        found = [*found, *derived_runs(found, [part.strip() for part in rescored.split(",")])]
    table = build_table(found, layout=find_layout(layout))
    put_text(_page(table, found, output) if format == "html" else render(table, format), output)


def _page(table: "Table", runs: "Sequence[Run]", output: Path | None) -> str:
    """The HTML page, dated, with links to the runs from where it will lie."""
    import os
    from datetime import UTC, datetime

    from ..report.formats.render import html

    start = (Path() if output is None else output.parent).resolve()
    folders = list(dict.fromkeys(run.path for run in runs))  # rescored rows share their run's
    links = [(Path(os.path.relpath(path.resolve(), start)).as_posix() + "/", path.name) for path in folders]
    epoch = os.environ.get("SOURCE_DATE_EPOCH")  # who wants the same bytes again sets it
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now().astimezone()
    made = f"Made on {now:%d %B %Y, %H:%M %Z} of {len(folders)} run{'s' * (len(folders) > 1)}."
    return html(table, made=made, links=links)


@guarded
def metrics(
    run: Annotated[Path, typer.Argument(metavar="RUN", help=opt.ONE_RUN)],
    bins: Annotated[int, typer.Option(min=1, help="Bins of confidence.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
    classes: Annotated[
        bool, typer.Option("--classes", help="Print every class, not only those that are got right least.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw reliability and risk to this PNG, SVG or PDF.", rich_help_panel=FILES)
    ] = None,
    dark: Annotated[bool, typer.Option("--dark", help="Draw plots for a dark page.", rich_help_panel=FILES)] = False,
    confusion: Annotated[
        Path | None,
        typer.Option(
            help="Write what is taken for what: a picture (PNG, SVG, PDF) or the table (CSV).", rich_help_panel=FILES
        ),
    ] = None,
    mistakes: Annotated[
        Path | None,
        typer.Option(help="Write a contact sheet of the mistakes, the surest first.", rich_help_panel=FILES),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Accuracy, classes and what they are taken for, calibration, selective risk and cost of one run."""
    from ..outputs import check_output
    from ..report.classes import dataset_of_run, fill_classes
    from ..report.formats.strict_json import strict_json
    from ..report.sheet import fill_sheet
    from ..runs.read import find_run

    for path in (plot, confusion, mistakes):
        if path is not None:
            check_output(path, overwrite=overwrite)
    chosen = find_run(run)
    sheet, by_class = fill_sheet(chosen, bins=bins), fill_classes(chosen)
    if plot is not None:
        from ..pictures.plots import plot_sheet

        plot_sheet(sheet, plot, dark=dark)
    if confusion is not None and confusion.suffix.lower() == ".csv":
        put_text(by_class.csv(), confusion)
    elif confusion is not None:
        from ..pictures.confusion import plot_confusion

        title = f"{chosen.title}, {chosen.model}, {chosen.dataset}"
        plot_confusion(by_class, confusion, title=title, dark=dark)
    if mistakes is not None:
        from ..pictures.contact_sheet import save_sheet
        from ..pictures.mistakes import mistakes_sheet

        save_sheet(mistakes_sheet(chosen, dataset_of_run(chosen)), mistakes)
    if as_json:
        typer.echo(strict_json({**sheet.to_dict(), **by_class.to_dict()}), nl=False)
    else:
        typer.echo(f"{sheet}\n\n{by_class.text(every=classes)}")


@guarded
def rescore(
    run: Annotated[Path, typer.Argument(metavar="RUN", help=opt.ONE_RUN)],
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE,...", help="Shares of views that vote, separated by commas.", rich_help_panel=opt.VOTE
        ),
    ] = None,
    views: Annotated[
        str | None,
        typer.Option(metavar="N,...", help="Numbers of views, separated by commas.", rich_help_panel=opt.VOTE),
    ] = None,
    tie: Annotated[
        str,
        typer.Option(metavar="NAME,...", help='Tie rules, separated by commas, or "all".', rich_help_panel=opt.VOTE),
    ] = "greedy",
    method: Annotated[
        str,
        typer.Option(help=" | ".join(VOTES), autocompletion=offering(VOTES), metavar="NAME", rich_help_panel=opt.VOTE),
    ] = "zero",
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="W,...",
            help="Weights of the source view in the anchored vote, separated by commas.",
            show_default="the run's own",
            rich_help_panel=opt.VOTE,
        ),
    ] = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            metavar="NAME",
            help=" | ".join(RESCORED),
            rich_help_panel=FILES,
            show_default="by the ending of --output, else table",
            autocompletion=offering(RESCORED),
        ),
    ] = None,
    output: Output = None,
    overwrite: Overwrite = False,
) -> None:
    """Score other settings from one run's records: any keep, fewer views, other tie rules, zero-shot, anchored."""
    from ..errors import UsageError
    from ..outputs import check_output
    from ..registry import unknown_name
    from ..report.rescored import own_weight, rescored_rows, rescored_text, settings_of
    from ..runs.read import find_run
    from ..vote import TIE_RULES

    if format is not None and format not in RESCORED:
        raise unknown_name("format", format, RESCORED)
    format = format_of(format, output, endings=RESCORED_ENDINGS, default="table")  # noqa: A001
    if output is not None:
        check_output(output, overwrite=overwrite)
    if method not in VOTES:
        raise unknown_name("method to rescore", method, VOTES)
    if weight is not None and method != "anchored":
        raise UsageError("--weight belongs to --method anchored; give both.")
    chosen = find_run(run)
    weights: list[float | None] = [None]
    if method == "anchored":
        weights = [*_numbers(weight, float, "--weight takes numbers")] if weight else [own_weight(chosen)]
    settings = settings_of(
        chosen,
        keeps=_numbers(keep, float, "--keep takes numbers") if keep else (),
        views=_numbers(views, int, "--views takes whole numbers") if views else (),
        ties=TIE_RULES if tie == "all" else [rule.strip() for rule in tie.split(",")],
        weights=weights,
    )
    put_text(rescored_text(chosen, rescored_rows(chosen, settings), format), output)


def _numbers(text: str, kind: Callable[[str], N], rule: str) -> list[N]:
    """The numbers in a list separated by commas."""
    from ..errors import UsageError

    try:
        return [kind(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"{rule} separated by commas; got {text!r}.") from error
