"""`viewvote encode`: photos in, features out, to be asked about with `viewvote classify --features`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from . import options as opt

HELP = """Encode images once, to ask about them many times. Killed at any moment, --resume continues.

[bold]Example[/bold]

  viewvote encode photos/ --out features

  viewvote classify --features features --labels "cat,dog,rocket"

  viewvote classify --features features --labels "indoors,outdoors" --method anchored
"""


@dataclass(frozen=True)
class EncodeOptions:
    """What `viewvote encode` is asked."""

    images: Annotated[list[str], typer.Argument(metavar="IMAGE|FOLDER|GLOB...", help="What to encode.")]
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder to write the features into.", rich_help_panel=opt.OUTPUT)
    ]
    model: opt.ModelOption[str] = "pocket"
    device: opt.DeviceOption[str] = "auto"
    dtype: opt.DtypeOption[opt.Dtype] = "fp32"
    runtime: opt.RuntimeOption[opt.Runtime] = "auto"
    precision: opt.PrecisionOption[opt.Precision] = "auto"
    batch_views: opt.BatchViewsOption = None
    views: Annotated[
        int, typer.Option(min=1, metavar="N", help="Views per image, at most to be asked.", rich_help_panel=opt.VOTE)
    ] = 64
    augment: opt.AugmentOption[opt.Augment] = "crops"
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the views.", rich_help_panel=opt.VOTE)] = 0
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue --out where it stopped.", rich_help_panel=opt.OUTPUT)
    ] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out.", rich_help_panel=opt.OUTPUT)] = False
    plugins: opt.PluginOption = None
    quiet: opt.QuietOption = False


@opt.takes(EncodeOptions)
def encode(asked: EncodeOptions) -> int:
    """Encode images once, to ask about them many times."""
    from .encodings import write_features

    opt.load_plugins(asked.plugins)
    return write_features(asked)
