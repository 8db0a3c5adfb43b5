"""`viewvote context`: what a folder of unlabelled photos takes off the labels, as a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from . import options as opt

HELP = """Take unlabelled photos as context: what all of them attract is a model's bias, and taken off the labels.

One pass over the photos' source views; nothing is classified. The file is of these labels and this model.

[bold]Examples[/bold]

  viewvote context photos/ --labels "cat,dog,guitar" --out my.context.json

  viewvote classify new/ --labels "cat,dog,guitar" --context my.context.json

  viewvote classify photos/ --labels "cat,dog,guitar" --context self
"""

ContextMixOption = Annotated[
    str | None,
    typer.Option(
        metavar="varied|FILE",
        help="What the photos show: varied, where no label fills them; or a JSON file of the labels' shares.",
        rich_help_panel=opt.ASK,
    ),
]


@dataclass(frozen=True)
class ContextOptions:
    """What `viewvote context` is asked."""

    images: Annotated[list[str], typer.Argument(metavar="IMAGE|FOLDER|GLOB...", help="Unlabelled photos.")]
    out: Annotated[Path, typer.Option(metavar="FILE", help="The JSON file to write.", rich_help_panel=opt.OUTPUT)]
    labels: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Labels, separated by commas.", rich_help_panel=opt.ASK)
    ] = None
    labels_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with one label a line.", rich_help_panel=opt.ASK)
    ] = None
    templates: opt.TemplatesOption[str | None] = None
    context_mix: ContextMixOption = None
    model: opt.ModelOption[str] = "pocket"
    teacher: opt.TeacherOption = None
    text_head: opt.TextHeadOption = None
    device: opt.DeviceOption[str] = "auto"
    dtype: opt.DtypeOption[opt.Dtype] = "fp32"
    runtime: opt.RuntimeOption[opt.Runtime] = "auto"
    precision: opt.PrecisionOption[opt.Precision] = "auto"
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out.", rich_help_panel=opt.OUTPUT)] = False
    plugins: opt.PluginOption = None
    quiet: opt.QuietOption = False


@opt.takes(ContextOptions)
def context(asked: ContextOptions) -> int:
    """Take unlabelled photos as context."""
    from .surroundings import write_context_of

    opt.load_plugins(asked.plugins)
    return write_context_of(asked)
