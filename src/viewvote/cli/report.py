"""`viewvote report | metrics | rescore`: tables, metrics and other settings from records, without the model."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from .completion import offering
from .guard import guarded

LAYOUTS = ("nds", "fine-grained", "free")  # of report/layouts, which this module imports only when called
FORMATS = ("markdown", "latex", "csv", "json", "html")
RESCORED = ("table", "json", "csv")
VOTES = ("zero", "anchored")

N = TypeVar("N", int, float)

REPORT_HELP = """The paper's tables from runs: ours with intervals, the published numbers beside them.

[bold]Examples[/bold]

  viewvote report runs/ --layout nds

  viewvote report runs/imagenet-a-* --layout free --format html --output report.html

  viewvote report --compare runs/pets-pocket-zero-1f... runs/pets-pocket-zero_shot-9c...
"""

Output = Annotated[Path | None, typer.Option(help="Write to this file instead of standard output.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")]


@guarded
def report(
    runs: Annotated[list[Path] | None, typer.Argument(metavar="[RUN...]", help="Runs, or folders of runs.")] = None,
    layout: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help=f"{' | '.join(LAYOUTS)}, or a TOML file of your own.",
            autocompletion=offering(LAYOUTS),
        ),
    ] = "free",
    format: Annotated[  # noqa: A002
        str, typer.Option(help=" | ".join(FORMATS), autocompletion=offering(FORMATS))
    ] = "markdown",
    compare: Annotated[
        tuple[Path, Path] | None, typer.Option(metavar="A B", help="Whether the difference of two runs is real.")
    ] = None,
    rescored: Annotated[
        str | None, typer.Option(help="Also rows scored from the runs of zero: zero-shot, keep=0.1 (commas).")
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
    from ..runs.read import load_run, load_runs

    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    if output is not None:
        check_output(output, overwrite=overwrite)
    if compare is not None:
        if runs:
            raise UsageError("--compare takes its two runs itself; leave the others out.")
        compared = compare_runs(*map(load_run, compare))
        put_text(strict_json(compared.to_dict()) if format == "json" else f"{compared}\n", output)
        return
    if not runs:
        raise UsageError("name the runs to report on: folders that `viewvote eval` made, or a folder of them.")
    found = load_runs(runs)
    if rescored:
        found = [*found, *derived_runs(found, [part.strip() for part in rescored.split(",")])]
    put_text(render(build_table(found, layout=find_layout(layout)), format), output)


@guarded
def metrics(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    bins: Annotated[int, typer.Option(min=1, help="Bins of confidence.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw reliability and risk to this PNG, SVG or PDF.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Accuracy, calibration, selective risk and cost of one run."""
    from ..outputs import check_output
    from ..report.formats.strict_json import strict_json
    from ..report.sheet import fill_sheet
    from ..runs.read import load_run

    if plot is not None:
        check_output(plot, overwrite=overwrite)
    sheet = fill_sheet(load_run(run), bins=bins)
    if plot is not None:
        from ..pictures.plots import plot_sheet

        plot_sheet(sheet, plot)
    typer.echo(strict_json(sheet.to_dict()) if as_json else f"{sheet}\n", nl=False)


@guarded
def rescore(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    keep: Annotated[str | None, typer.Option(help="Shares of views that vote, separated by commas.")] = None,
    views: Annotated[str | None, typer.Option(help="Numbers of views, separated by commas.")] = None,
    tie: Annotated[str, typer.Option(help='Tie rules, separated by commas, or "all".')] = "greedy",
    method: Annotated[
        str, typer.Option(help=" | ".join(VOTES), autocompletion=offering(VOTES), metavar="NAME")
    ] = "zero",
    weight: Annotated[
        str | None,
        typer.Option(
            help="Weights of the whole image in the anchored vote, separated by commas; the run's own if left out."
        ),
    ] = None,
    format: Annotated[  # noqa: A002
        str, typer.Option(help=" | ".join(RESCORED), autocompletion=offering(RESCORED))
    ] = "table",
    output: Output = None,
    overwrite: Overwrite = False,
) -> None:
    """Score other settings from one run's records: any keep, fewer views, other tie rules, zero-shot, anchored."""
    from ..errors import UsageError
    from ..outputs import check_output
    from ..registry import unknown_name
    from ..report.rescored import own_weight, rescored_rows, rescored_text, settings_of
    from ..runs.read import load_run
    from ..vote import TIE_RULES

    if format not in RESCORED:
        raise unknown_name("format", format, RESCORED)
    if output is not None:
        check_output(output, overwrite=overwrite)
    if method not in VOTES:
        raise unknown_name("method to rescore", method, VOTES)
    if weight is not None and method != "anchored":
        raise UsageError("--weight belongs to --method anchored; give both.")
    chosen = load_run(run)
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


def put_text(text: str, output: Path | None) -> None:
    """The text on standard output, or in a file that `check_output` admitted."""
    from ..outputs import put_output

    if output is None:
        typer.echo(text, nl=False)
    else:
        put_output(output, text)
