"""`viewvote models | methods | templates`: what there is, one line each."""

from typing import Annotated

import typer

from .guard import guarded
from .options import PluginOption, load_plugins
from .printing import print_json, print_rows

Json = Annotated[bool, typer.Option("--json", help="Machine-readable.")]


@guarded
def models(as_json: Json = False, plugins: PluginOption = None) -> None:
    """List the models: usable now, waiting for an extra, or already downloaded."""
    from dataclasses import asdict

    from ..encoders.catalog import list_models

    load_plugins(plugins)
    rows = list_models()
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    table = []
    for row in rows:
        state = f'needs pip install "viewvote[{row.extra}]"' if row.state == "needs extra" else row.state
        size = f"{row.bytes_on_disk / 1e6:.0f} MB" if row.bytes_on_disk else ""
        table.append({"model": row.model, "state": " ".join([state, size]).strip(), "summary": row.summary})
    print_rows(table)


@guarded
def methods(as_json: Json = False, plugins: PluginOption = None) -> None:
    """List the methods."""
    from ..methods import METHODS

    load_plugins(plugins)
    print_rows([{"method": name, "summary": METHODS.entry(name).summary} for name in METHODS], as_json=as_json)


@guarded
def templates(as_json: Json = False) -> None:
    """List the template sets."""
    from ..labels.templates import template_sets

    rows = [
        {"templates": name, "summary": summary, "first": found[0] + (f" (+{len(found) - 1})" if len(found) > 1 else "")}
        for name, (summary, found) in template_sets().items()
    ]
    print_rows(rows, as_json=as_json)
