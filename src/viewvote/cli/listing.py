"""`viewvote models | methods | templates`: what there is, one line each."""

import json
from typing import Annotated

import typer

from .guard import guarded
from .options import PluginOption, load_plugins

Json = Annotated[bool, typer.Option("--json", help="Machine-readable.")]


def show(rows: list[dict[str, str]], *, as_json: bool) -> None:
    """Prints the rows as aligned columns, or as JSON."""
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    columns = list(rows[0])
    widths = {c: max(len(row[c]) for row in rows) for c in columns}
    for row in rows:
        typer.echo("  ".join(row[c].ljust(widths[c]) for c in columns).rstrip())


@guarded
def models(as_json: Json = False, plugins: PluginOption = None) -> None:
    """List the models: usable now, waiting for an extra, or already downloaded."""
    from dataclasses import asdict

    from ..encoders.catalog import list_models

    load_plugins(plugins)
    rows = list_models()
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1))
        return
    table = []
    for row in rows:
        state = f'needs pip install "viewvote[{row.extra}]"' if row.state == "needs extra" else row.state
        size = f"{row.bytes_on_disk / 1e6:.0f} MB" if row.bytes_on_disk else ""
        table.append({"model": row.model, "state": " ".join([state, size]).strip(), "summary": row.summary})
    show(table, as_json=False)


@guarded
def methods(as_json: Json = False, plugins: PluginOption = None) -> None:
    """List the methods."""
    from ..methods import METHODS

    load_plugins(plugins)
    show([{"method": name, "summary": METHODS.entry(name).summary} for name in METHODS], as_json=as_json)


@guarded
def templates(as_json: Json = False) -> None:
    """List the template sets."""
    from ..labels.templates import template_sets

    rows = [
        {"templates": name, "summary": summary, "first": found[0] + (f" (+{len(found) - 1})" if len(found) > 1 else "")}
        for name, (summary, found) in template_sets().items()
    ]
    show(rows, as_json=as_json)
