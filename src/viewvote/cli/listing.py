"""`viewvote methods | templates`: what there is, one line each."""

from typing import Annotated

import typer

from .guard import guarded
from .options import PluginOption, load_plugins
from .printing import print_rows

Json = Annotated[bool, typer.Option("--json", help="Machine-readable.")]


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
