"""The options of `viewvote classify` for images by the million, and which commands mean those."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Protocol

import typer

from . import options as opt

EngineName = Literal["local", "ray"]
SOURCE = "Shards and tables"

ImageColumnOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Of Parquet and Arrow files: bytes, a path, or both.",
        show_default="image, or the only one",
        rich_help_panel=SOURCE,
    ),
]
PathColumnOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Of CSV and JSONL tables: paths or addresses.",
        show_default="path, url, image or file_name",
        rich_help_panel=SOURCE,
    ),
]
KeepColumnsOption = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Columns that go to the output too.", rich_help_panel=SOURCE)
]
PartImagesOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="Images of a part of --output DIR.parquet.", rich_help_panel=opt.OUTPUT)
]
EngineOption = Annotated[EngineName, typer.Option(help="Who classifies.", rich_help_panel=opt.CLUSTER)]
RayAddressOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="A Ray cluster.", show_default="Ray on this machine", rich_help_panel=opt.CLUSTER
    ),
]
ActorsOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="Models at work at a time.", rich_help_panel=opt.CLUSTER)
]
CpusOption = Annotated[float, typer.Option(min=0, metavar="N", help="Cores per actor.", rich_help_panel=opt.CLUSTER)]
GpusOption = Annotated[
    float, typer.Option(min=0, metavar="N", help="Share of a GPU per actor.", rich_help_panel=opt.CLUSTER)
]
WaitOption = Annotated[
    float,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="How long to wait for a node where none is left that has room for an actor.",
        rich_help_panel=opt.CLUSTER,
    ),
]


LISTED = ("explain", "features", "watch", "context")
"""Options for which all images are listed first; they do not go with images by the million."""


class Asked(Protocol):
    """What decides whether a command is about images by the million."""

    @property
    def images(self) -> list[str] | None:
        """The places."""
        ...

    @property
    def output(self) -> Path | None:
        """Where answers go."""
        ...

    @property
    def engine(self) -> EngineName:
        """Who classifies."""
        ...

    @property
    def image_column(self) -> str | None:
        """Of Parquet and Arrow."""
        ...

    @property
    def path_column(self) -> str | None:
        """Of CSV and JSONL."""
        ...

    @property
    def keep_columns(self) -> str | None:
        """What goes to the output too."""
        ...


def is_bulk(asked: Asked) -> bool:
    """Whether the command names shards, tables, addresses or a very large folder, a table of answers, or a cluster."""
    columns = asked.image_column or asked.path_column or asked.keep_columns
    if columns or asked.engine == "ray" or is_table(asked.output) or _names_more(asked.images or []):
        return True
    return all(getattr(asked, name) is None for name in LISTED) and _is_crowded(asked.images or [])


def is_table(output: Path | None) -> bool:
    """Whether the output is a folder of Parquet parts, or lies in a store."""
    return output is not None and (output.suffix.lower() == ".parquet" or "://" in place_of(output))


def place_of(output: Path) -> str:
    """The output as it was written: as a path an address has lost one of its slashes."""
    return re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+):(?:/+|$)", r"\1://", str(output))


def _names_more(places: Sequence[str]) -> bool:
    from ..sources.open import is_more_than_images

    return any(map(is_more_than_images, places))


def _is_crowded(places: Sequence[str]) -> bool:
    from ..sources import STDIN
    from ..sources.open import is_crowded

    return STDIN not in places and any(map(is_crowded, places))
