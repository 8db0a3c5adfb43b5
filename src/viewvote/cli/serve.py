"""`viewvote serve`: the HTTP service and its page."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ..errors import MissingExtraError, UsageError
from . import options as opt
from .completion import offer_methods, offer_models, offer_templates
from .guard import guarded
from .interrupts import leave_interrupts_alone
from .values import read_labels, read_views

ASKED = "Requests that leave it open"
ACCESS = "Address and access"
LIMITS = "Limits"
RUNNING = "Running"
NEEDED = ("fastapi", "uvicorn", "python_multipart", "prometheus_client")

HELP = """Answer over HTTP what `viewvote classify` answers: http://127.0.0.1:8008 has a page to try it with.

[bold]Examples[/bold]

  viewvote serve --labels "cat,dog,rocket"

  viewvote serve --views adaptive --port 9000

  viewvote serve --host 0.0.0.0 --api-key-file keys.txt
"""


@guarded
def serve(
    model: Annotated[
        str, typer.Option(help="Model id.", autocompletion=offer_models, rich_help_panel=opt.MODEL)
    ] = "pocket",
    labels: Annotated[
        str | None, typer.Option(help="Labels of requests that bring none, separated by commas.", rich_help_panel=ASKED)
    ] = None,
    labels_file: Annotated[
        Path | None,
        typer.Option(
            help="The same from a file: a label a line, a table, or JSON, also with texts of their own.",
            rich_help_panel=ASKED,
        ),
    ] = None,
    labels_column: Annotated[
        str | None, typer.Option(help="Of a table or of JSON objects the labels' column.", rich_help_panel=ASKED)
    ] = None,
    method: Annotated[
        str,
        typer.Option(help="Method of requests that name none.", autocompletion=offer_methods, rich_help_panel=ASKED),
    ] = "anchored",
    views: Annotated[
        str,
        typer.Option(help="Views of requests that name none: a number, adaptive or auto.", rich_help_panel=ASKED),
    ] = "auto",
    templates: Annotated[
        str | None,
        typer.Option(
            help="Template set of requests that name none.", autocompletion=offer_templates, rich_help_panel=ASKED
        ),
    ] = None,
    context: Annotated[
        Path | None,
        typer.Option(
            help="A file of `viewvote context`, for requests with its labels and templates.", rich_help_panel=ASKED
        ),
    ] = None,
    teacher: Annotated[
        str | None,
        typer.Option(
            help="A stronger model that votes on the kept views.",
            autocompletion=offer_models,
            rich_help_panel=opt.MODEL,
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address; any but loopback needs --api-key-file.", rich_help_panel=ACCESS)
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 is any free one.", rich_help_panel=ACCESS)
    ] = 8008,
    api_key_file: Annotated[
        Path | None, typer.Option(help="A file of API keys, one a line.", rich_help_panel=ACCESS)
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(help="A file of `viewvote calibrate`: how a probability is made.", rich_help_panel=ASKED),
    ] = None,
    device: opt.DeviceOption[str] = "auto",
    dtype: opt.DtypeOption[opt.Dtype] = "fp32",
    runtime: opt.RuntimeOption[opt.Runtime] = "auto",
    precision: opt.PrecisionOption[opt.Precision] = "auto",
    plugins: opt.PluginOption = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name under which a proxy calls this machine; may be repeated.", rich_help_panel=ACCESS),
    ] = None,
    max_queue: Annotated[int, typer.Option(help="Images accepted and not yet answered.", rich_help_panel=LIMITS)] = 256,
    timeout: Annotated[
        float, typer.Option(help="Seconds until an accepted request is given up.", rich_help_panel=LIMITS)
    ] = 30.0,
    max_bytes: Annotated[int, typer.Option(help="Bytes of a request.", rich_help_panel=LIMITS)] = 32_000_000,
    max_pixels: Annotated[int, typer.Option(help="Pixels of an image.", rich_help_panel=LIMITS)] = 40_000_000,
    decode_memory: Annotated[
        int, typer.Option(help="Bytes of memory for decoding images.", rich_help_panel=LIMITS)
    ] = 1_000_000_000,
    decode_seconds: Annotated[
        float, typer.Option(help="Seconds after which decoding an image is given up.", rich_help_panel=LIMITS)
    ] = 20.0,
    max_images: Annotated[int, typer.Option(help="Images of a request.", rich_help_panel=LIMITS)] = 32,
    max_labels: Annotated[int, typer.Option(help="Labels of a request.", rich_help_panel=LIMITS)] = 1000,
    max_views: Annotated[int, typer.Option(help="Views of an image.", rich_help_panel=LIMITS)] = 64,
    feature_cache: Annotated[
        int,
        typer.Option(
            min=0, help="Bytes for the features of the last photographs; 0 keeps none.", rich_help_panel=RUNNING
        ),
    ] = 64_000_000,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes, each with a model and a queue of its own.", rich_help_panel=RUNNING)
    ] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No line per request.")] = False,
) -> int:
    """Answer over HTTP what `viewvote classify` answers."""
    if not all(find_spec(name) for name in NEEDED):
        raise MissingExtraError.for_extra("serve", what="viewvote serve")
    if plugins and workers > 1:
        raise UsageError("--plugin is for one process; install the plugin as a package to use it with --workers.")
    opt.load_plugins(plugins)
    from ..server.access import read_keys
    from ..server.run import serve as run
    from ..server.settings import Limits, Settings

    n_views = read_views(views)
    if isinstance(n_views, int) and n_views > max_views:
        raise UsageError(f"--views {n_views} is more than --max-views {max_views}.")
    limits = Limits(
        bytes=max_bytes,
        pixels=max_pixels,
        decode_memory=decode_memory,
        decode_seconds=decode_seconds,
        images=max_images,
        labels=max_labels,
        views=max_views,
    )
    settings = Settings(
        model=model,
        teacher=teacher,
        labels=read_labels(labels, labels_file, labels_column) if any((labels, labels_file, labels_column)) else None,
        method=method,
        views=n_views,
        templates=templates,
        context=None if context is None else str(context.resolve()),
        calibration=None if calibration is None else str(calibration.resolve()),
        device=device,
        dtype=dtype,
        runtime=runtime,
        precision=precision,
        host=host,
        port=port,
        api_keys=() if api_key_file is None else read_keys(api_key_file),
        allow_hosts=tuple(allow_host or ()),
        max_queue=max_queue,
        timeout=timeout,
        feature_bytes=feature_cache,
        limits=limits,
    )
    leave_interrupts_alone()  # the service answers what it accepted, and then ends
    run(settings, workers=workers, verbose=not quiet)
    return 0
