"""`viewvote datasets`: which of the catalog's datasets are here, and whether one of them, or your own, is in order."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .completion import offer_datasets, offering
from .guard import complain, guarded
from .listing import show

if TYPE_CHECKING:
    from ..datasets.check import Check

app = typer.Typer(no_args_is_help=False, rich_markup_mode="rich")
FORMATS = ("table", "json")

Root = Annotated[Path | None, typer.Option(help="The folder that holds the datasets; else the variable VIEWVOTE_DATA.")]
Format = Annotated[str, typer.Option("--format", help=" | ".join(FORMATS), autocompletion=offering(FORMATS))]


@app.callback(invoke_without_command=True)
@guarded
def datasets(context: typer.Context, root: Root = None, output: Format = "table") -> None:
    """List the datasets of the catalog and which are present; `check` verifies one of them, or your own."""
    context.obj = root
    if context.invoked_subcommand is not None:
        return
    from ..datasets.check import survey
    from ..datasets.locate import known_root

    rows = survey(known_root(root))
    if _checked_format(output) == "json":
        from dataclasses import asdict

        typer.echo(json.dumps([asdict(row) for row in rows], indent=1))
        return
    table = [
        {
            "dataset": row.name,
            "suite": row.suites[0],
            "images": f"{row.images:>6,}",
            "classes": f"{row.classes:>5,}",
            "state": row.folder or row.state,
            "title": row.title,
        }
        for row in rows
    ]
    show(table, as_json=False)
    for row in rows:
        if row.state == "incomplete":
            complain(str(row.missing))
    if rows[0].state == "not looked for":
        complain("say where the datasets are with --root DIR or VIEWVOTE_DATA to see which are present.")


@app.command()
@guarded
def check(
    context: typer.Context,
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FOLDER|FILE|hf:NAME", help="The dataset to look at.", autocompletion=offer_datasets
        ),
    ],
    root: Root = None,
    classes: Annotated[
        str | None,
        typer.Option(
            help="What your labels mean: a catalog name, or a file with one name a line.", autocompletion=offer_datasets
        ),
    ] = None,
    sheet: Annotated[Path | None, typer.Option(help="Write a contact sheet here: an image per class.")] = None,
    output: Format = "table",
) -> int:
    """Verify a dataset: its files, counts and labels; exit code 1 where something is wrong or missing."""
    from dataclasses import asdict

    from ..datasets import open_dataset
    from ..datasets.check import check as check_dataset

    _checked_format(output)
    opened = open_dataset(dataset, root=root or context.obj, classes=classes)
    found = check_dataset(opened)
    if output == "json":
        typer.echo(json.dumps({"ok": found.ok, **asdict(found)}, indent=1, ensure_ascii=False))
    else:
        _print(found)
    if sheet is not None:
        from ..errors import UsageError
        from ..pictures.contact_sheet import contact_sheet

        try:
            contact_sheet(opened).save(sheet)
        except (OSError, ValueError) as error:  # Pillow raises ValueError for an unknown ending
            raise UsageError(f"cannot write the contact sheet {sheet}: {error}.") from error
    return 0 if found.ok else 1


def _print(found: "Check") -> None:
    least, middle, most = found.images_per_class
    full = "" if found.expected_images is None else f" (the full test split has {found.expected_images:,})"
    rows = {
        "dataset": found.name + (f", with the classes of {found.card}" if found.card not in (None, found.name) else ""),
        "images": f"{found.images:,}{full}",
        "classes": f"{found.classes:,}, of which {found.classes_with_images:,} with images",
        "per class": f"{least:,} to {most:,} images, median {middle:g}",
        "fingerprint": found.fingerprint,
    }
    for key, value in rows.items():
        typer.echo(f"{key:12} {value}")
    for note in found.notes:
        typer.echo(f"{'problem' if note in found.problems else 'note':12} {note}")
    verdict = "the full test split" if found.complete else "in order" if found.ok else "NOT in order"
    typer.echo(f"{'result':12} {verdict}")


def _checked_format(output: str) -> str:
    if output not in FORMATS:
        from ..registry import unknown_name

        raise unknown_name("format", output, FORMATS)
    return output
