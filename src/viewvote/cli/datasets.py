"""`viewvote datasets`: which of the catalog's datasets are here, and whether one of them, or your own, is in order."""

from pathlib import Path
from typing import Annotated

import typer

from .completion import offer_datasets, offering
from .guard import complain, guarded
from .options import PluginOption, load_plugins
from .printing import print_json, print_rows

app = typer.Typer(no_args_is_help=False, rich_markup_mode="rich")
FORMATS = ("table", "json")

CardFiles = Annotated[
    Path | None,
    typer.Option("--dataset-cards", metavar="FILE|DIR", help="Cards of your own; also the variable VIEWVOTE_DATASETS."),
]
Root = Annotated[Path | None, typer.Option(help="The folder that holds the datasets; else the variable VIEWVOTE_DATA.")]
Format = Annotated[str, typer.Option("--format", help=" | ".join(FORMATS), autocompletion=offering(FORMATS))]


@app.callback(invoke_without_command=True)
@guarded
def datasets(
    context: typer.Context,
    root: Root = None,
    cards: CardFiles = None,
    plugins: PluginOption = None,
    output: Format = "table",
) -> None:
    """List the datasets of the catalog and which are present; `check` verifies one of them, or your own."""
    from ..datasets import use_cards

    context.obj = root
    load_plugins(plugins)
    use_cards(cards)
    if context.invoked_subcommand is not None:
        return
    from ..datasets.check import survey
    from ..datasets.locate import known_root

    rows = survey(known_root(root))
    if _checked_format(output) == "json":
        from dataclasses import asdict

        print_json([asdict(row) for row in rows], ascii_only=True)
        return
    table = [
        {
            "dataset": row.name,
            "suite": next(iter(row.suites), ""),
            "images": f"{row.images:>6,}",
            "classes": f"{row.classes:>5,}",
            "state": row.folder or row.state,
            "title": row.title,
        }
        for row in rows
    ]
    print_rows(table)
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
    cards: CardFiles = None,
    plugins: PluginOption = None,
    classes: Annotated[
        str | None,
        typer.Option(
            help="What your labels mean: a catalog name, or a file with one name a line.", autocompletion=offer_datasets
        ),
    ] = None,
    sheet: Annotated[Path | None, typer.Option(help="Write a contact sheet here: an image per class.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the contact sheet if it exists.")] = False,
    output: Format = "table",
) -> int:
    """Verify a dataset: its files, counts and labels; exit code 1 where something is wrong or missing."""
    from dataclasses import asdict

    from ..datasets import open_dataset, use_cards
    from ..datasets.check import check as check_dataset
    from ..outputs import check_output

    if sheet is not None:
        check_output(sheet, overwrite=overwrite)
    load_plugins(plugins)
    use_cards(cards)
    _checked_format(output)
    opened = open_dataset(dataset, root=root or context.obj, classes=classes)
    found = check_dataset(opened)
    if output == "json":
        print_json({"ok": found.ok, **asdict(found)})
    else:
        typer.echo(str(found))
    if sheet is not None:
        from ..pictures.contact_sheet import save_contact_sheet

        save_contact_sheet(opened, sheet)
    return 0 if found.ok else 1


def _checked_format(output: str) -> str:
    if output not in FORMATS:
        from ..registry import unknown_name

        raise unknown_name("format", output, FORMATS)
    return output
