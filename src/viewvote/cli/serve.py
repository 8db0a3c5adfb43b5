"""`viewvote serve`: the HTTP service and its page."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ..errors import MissingExtraError, UsageError
from .completion import offer_methods, offer_models, offer_templates
from .guard import guarded
from .interrupts import leave_interrupts_alone
from .values import read_labels, read_views

NEEDED = ("fastapi", "uvicorn", "python_multipart", "prometheus_client")

HELP = """Answer over HTTP what `viewvote classify` answers: http://127.0.0.1:8008 has a page to try it with.

[bold]Examples[/bold]

  viewvote serve --labels "cat,dog,rocket"

  viewvote serve --views adaptive --port 9000

  viewvote serve --host 0.0.0.0 --api-key-file keys.txt
"""


@guarded
def serve(
    model: Annotated[str, typer.Option(help="Model id.", autocompletion=offer_models)] = "pocket",
    labels: Annotated[str | None, typer.Option(help="Labels of requests that bring none, separated by commas.")] = None,
    labels_file: Annotated[Path | None, typer.Option(help="The same from a file of labels.")] = None,
    method: Annotated[
        str, typer.Option(help="Method of requests that name none.", autocompletion=offer_methods)
    ] = "anchored",
    views: Annotated[str, typer.Option(help="Views of requests that name none: a number, adaptive or auto.")] = "auto",
    templates: Annotated[
        str | None, typer.Option(help="Template set of requests that name none.", autocompletion=offer_templates)
    ] = None,
    teacher: Annotated[
        str | None, typer.Option(help="A stronger model that votes on the kept views.", autocompletion=offer_models)
    ] = None,
    host: Annotated[str, typer.Option(help="Address; any but loopback needs --api-key-file.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 is any free one.")] = 8008,
    api_key_file: Annotated[Path | None, typer.Option(help="A file of API keys, one a line.")] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name under which a proxy calls this machine; may be repeated.")
    ] = None,
    max_queue: Annotated[int, typer.Option(help="Images accepted and not yet answered.")] = 256,
    timeout: Annotated[float, typer.Option(help="Seconds until an accepted request is given up.")] = 30.0,
    max_bytes: Annotated[int, typer.Option(help="Bytes of a request.")] = 32_000_000,
    max_pixels: Annotated[int, typer.Option(help="Pixels of an image.")] = 40_000_000,
    decode_memory: Annotated[int, typer.Option(help="Bytes of memory for decoding images.")] = 1_000_000_000,
    decode_seconds: Annotated[float, typer.Option(help="Seconds after which decoding an image is given up.")] = 20.0,
    max_images: Annotated[int, typer.Option(help="Images of a request.")] = 32,
    max_labels: Annotated[int, typer.Option(help="Labels of a request.")] = 1000,
    max_views: Annotated[int, typer.Option(help="Views of an image.")] = 64,
    feature_cache: Annotated[
        int, typer.Option(min=0, help="Bytes for the features of the last photographs; 0 keeps none.")
    ] = 64_000_000,
    workers: Annotated[int, typer.Option(min=1, help="Processes, each with a model and a queue of its own.")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No line per request.")] = False,
) -> int:
    """Answer over HTTP what `viewvote classify` answers."""
    if not all(find_spec(name) for name in NEEDED):
        raise MissingExtraError.for_extra("serve", what="viewvote serve")
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
        labels=None if labels is None and labels_file is None else _plain_labels(labels, labels_file),
        method=method,
        views=n_views,
        templates=templates,
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


def _plain_labels(labels: str | None, labels_file: Path | None) -> tuple[str, ...]:
    """The labels as a list: requests bring labels in words, and so does the default for them."""
    found = read_labels(labels, labels_file)
    if isinstance(found, Mapping):
        raise UsageError(
            f"{labels_file} gives texts to its labels, which the service does not take; give a plain list."
        )
    return tuple(found)
