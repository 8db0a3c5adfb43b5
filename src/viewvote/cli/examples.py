"""`viewvote examples`: the shipped photographs and labels as files of one's own, to try commands on."""

import shlex
import shutil
from pathlib import Path
from typing import Annotated

import typer

from ..errors import UsageError
from .guard import guarded


@guarded
def examples(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to.")] = Path("examples"),
) -> None:
    """Write four photographs and their labels into a folder, and print a command to try on them."""
    from ..files import example_files, shipped

    found = {path: folder / path.relative_to(shipped("examples")) for path in example_files()}
    taken = [copy for source, copy in found.items() if copy.exists() and copy.read_bytes() != source.read_bytes()]
    if taken:
        raise UsageError(f"{taken[0]} is there and is another file: name another folder.")
    for source, copy in found.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists():  # in a checkout it may be the source itself
            shutil.copyfile(source, copy)
    photos, labels = folder / "photos", folder / "labels.txt"
    typer.echo(f"viewvote classify {shlex.quote(str(photos))} --labels-file {shlex.quote(str(labels))}")
