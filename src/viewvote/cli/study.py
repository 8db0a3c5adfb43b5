"""`viewvote study`: the paper's analyses from runs."""

from pathlib import Path
from typing import Annotated

import typer

from . import options as opt
from .completion import offering
from .formats import format_of
from .guard import guarded
from .printing import put_text

NAMES = (
    "jury",
    "overconfidence",
    "invariance",
    "risk",
    "ties",
    "failure",
    "error-gap",
    "independence",
    "context",
    "cost",
)
ANALYSIS = "Analysis"
FORMATS = ("md", "latex", "csv", "json")
ENDINGS = {".md": "md", ".markdown": "md", ".tex": "latex", ".csv": "csv", ".json": "json"}

HELP = """The paper's analyses from runs: a table with n, seeds and intervals, and a plot.

[bold]Examples[/bold]

  viewvote study overconfidence runs/ --plot figure-1b.pdf

  viewvote study jury runs/pets-* --format latex

  viewvote study invariance runs/imagenet-a-*-tpt-* --by entropy

Overconfidence, ties, failure and error-gap read any run of zero with all its views. Jury, risk, independence and
context need `viewvote eval --detail`; invariance needs `--method tpt --set record_marginal=True`; cost runs the specs
again.
"""


@guarded
def study(
    name: Annotated[str, typer.Argument(metavar="NAME", help=" | ".join(NAMES), autocompletion=offering(NAMES))],
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help=opt.RUNS)],
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            metavar="NAME",
            help=" | ".join(FORMATS),
            show_default="by the ending of --output, else md",
            autocompletion=offering(FORMATS),
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw to this PNG, SVG or PDF.", rich_help_panel=opt.OUTPUT)
    ] = None,
    dark: Annotated[
        bool, typer.Option("--dark", help="Draw the plot for a dark page.", rich_help_panel=opt.OUTPUT)
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write to this file instead of standard output.", rich_help_panel=opt.OUTPUT),
    ] = None,
    keep: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of views in the augmented dataset.",
            show_default="0.1, the paper's and TPT's",
            rich_help_panel=ANALYSIS,
        ),
    ] = None,
    bins: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=100,
            help="Bins of confidence, entropy or overlap.",
            show_default="the paper's",
            rich_help_panel=ANALYSIS,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="entropy|class",
            help="A finer table: invariance by entropy, jury by class.",
            rich_help_panel=ANALYSIS,
        ),
    ] = None,
    images: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="failure: images shown; cost: images measured.",
            show_default="3",
            rich_help_panel=ANALYSIS,
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files that exist.", rich_help_panel=opt.OUTPUT)
    ] = False,
) -> None:
    """The paper's analyses from runs."""
    from ..outputs import check_output
    from ..registry import unknown_name
    from ..runs.read import load_runs
    from ..studies import STUDIES, checked_options
    from ..studies.text import FORMATS as TEXTS

    if format is not None and format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    format = format_of(format, output, endings=ENDINGS, default="md")  # noqa: A001
    for path in (plot, output):
        if path is not None:
            check_output(path, overwrite=overwrite)
    asked = {"keep": keep, "bins": bins, "by": by, "images": images}
    find = STUDIES.get(name)  # a wrong name is the first thing to be told
    options = checked_options(name, {key: value for key, value in asked.items() if value is not None})
    finding = find(load_runs(runs), options)
    if plot is not None and finding.draw is not None:
        from ..pictures.plots import save_plot

        save_plot(finding.draw, plot, size=finding.size, dark=dark)
    put_text(TEXTS[format](finding), output)
