"""The commands, their names, and their groups in `--help`."""

from typing import Annotated

import typer

from . import (
    calibrate,
    calibrate_stop,
    classify,
    context,
    datasets,
    doctor,
    encode,
    evaluate,
    examples,
    export,
    listing,
    models,
    report,
    reproduce,
    serve,
    sort,
    statistics,
    study,
    text_head,
)

app = typer.Typer(
    name="viewvote",
    help="Zero-shot image classification that augments, predicts, keeps the confident views and votes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
CLASSIFY = "Classify"
EXPERIMENTS = "Experiments"
MODELS = "Models of your own"

app.command(help=classify.HELP, rich_help_panel=CLASSIFY)(classify.classify)
app.command(help=sort.HELP, rich_help_panel=CLASSIFY)(sort.sort)
app.command(help=context.HELP, rich_help_panel=CLASSIFY)(context.context)
app.command(help=encode.HELP, rich_help_panel=CLASSIFY)(encode.encode)
app.command(help=serve.HELP, rich_help_panel=CLASSIFY)(serve.serve)
app.add_typer(models.app, name="models", rich_help_panel=CLASSIFY)
app.command(rich_help_panel=CLASSIFY)(listing.methods)
app.command(rich_help_panel=CLASSIFY)(listing.templates)
app.command(rich_help_panel=CLASSIFY)(examples.examples)
app.command(rich_help_panel=CLASSIFY)(doctor.doctor)
app.command("eval", help=evaluate.HELP, rich_help_panel=EXPERIMENTS)(evaluate.evaluate)
app.add_typer(datasets.app, name="datasets", rich_help_panel=EXPERIMENTS)
app.command(help=report.REPORT_HELP, rich_help_panel=EXPERIMENTS)(report.report)
app.command(rich_help_panel=EXPERIMENTS)(report.metrics)
app.command(rich_help_panel=EXPERIMENTS)(report.rescore)
app.command(help=study.HELP, rich_help_panel=EXPERIMENTS)(study.study)
app.command(help=reproduce.HELP, rich_help_panel=EXPERIMENTS)(reproduce.reproduce)
app.command(help=calibrate.HELP, rich_help_panel=EXPERIMENTS)(calibrate.calibrate)
app.command(name="calibrate-stop", help=calibrate_stop.HELP, rich_help_panel=EXPERIMENTS)(calibrate_stop.calibrate_stop)
app.command(help=export.HELP, rich_help_panel=MODELS)(export.export)
app.command(rich_help_panel=MODELS)(statistics.statistics)
app.add_typer(text_head.app, name="text-head", rich_help_panel=MODELS)


def _version(value: bool) -> None:
    if value:
        from .. import __version__
        from ..encoders.revisions import shipped_revisions

        typer.echo(f"viewvote {__version__}")
        for model, revision in shipped_revisions().items():
            typer.echo(f"{model} {revision}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Show the version and those of the shipped models.",
        ),
    ] = False,
) -> None:
    del version
