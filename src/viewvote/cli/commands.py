"""The commands and their names."""

from typing import Annotated

import typer

from . import calibrate_stop, classify, datasets, doctor, evaluate, export, listing, report, statistics

app = typer.Typer(
    name="viewvote",
    help="Zero-shot image classification that augments, predicts, keeps the confident views and votes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(help=classify.HELP)(classify.classify)
app.command("eval", help=evaluate.HELP)(evaluate.evaluate)
app.command()(listing.models)
app.command()(listing.methods)
app.command()(listing.templates)
app.add_typer(datasets.app, name="datasets")
app.command(help=export.HELP)(export.export)
app.command()(statistics.statistics)
app.command(help=report.REPORT_HELP)(report.report)
app.command()(report.metrics)
app.command()(report.rescore)
app.command(name="calibrate-stop", help=calibrate_stop.HELP)(calibrate_stop.calibrate_stop)
app.command()(doctor.doctor)


def _version(value: bool) -> None:
    if value:
        from .. import __version__

        typer.echo(f"viewvote {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version
