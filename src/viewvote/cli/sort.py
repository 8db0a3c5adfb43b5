"""`viewvote sort`: images into folders of their labels."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options as opt

if TYPE_CHECKING:
    from ..classify.classifier import Classifier
    from ..sorting.sorter import Sorter

HELP = """Copy the images of a folder into folders of their labels, or move them there. What was done can be undone.

[bold]Examples[/bold]

  viewvote sort photos/ sorted/ --labels "cat,dog,rocket" --dry-run

  viewvote sort photos/ sorted/ --labels "cat,dog,rocket" --move --unsure review --below 0.6

  viewvote sort --undo sorted/viewvote-sort.jsonl
"""

SORT = "How to sort"
UNSURE, BELOW = "review", 0.5
"""Where doubtful images go, and below which probability, where only one of both is given."""


@dataclass(frozen=True)
class SortOptions:
    """What `viewvote sort` is asked."""

    source: Annotated[str | None, typer.Argument(metavar="SRC", help="A folder of images, or a pattern.")] = None
    destination: Annotated[Path | None, typer.Argument(metavar="DEST", help="Where the folders go.")] = None
    move: Annotated[bool, typer.Option("--move", help="Move the images; else copy them.", rich_help_panel=SORT)] = False
    unsure: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="A folder in DEST for images that are less likely than --below.",
            show_default="review, with --below",
            rich_help_panel=SORT,
        ),
    ] = None
    below: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            min=0,
            max=1,
            help="The probability below which an image is unsure.",
            show_default="0.5, with --unsure",
            rich_help_panel=SORT,
        ),
    ] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, and do nothing.", rich_help_panel=SORT)
    ] = False
    undo: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG", help="Undo what the log viewvote-sort.jsonl in a DEST tells.", rich_help_panel=SORT
        ),
    ] = None
    labels: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Labels, separated by commas.", rich_help_panel=opt.ASK)
    ] = None
    labels_file: opt.LabelsFileOption = None
    labels_column: opt.LabelsColumnOption = None
    templates: opt.TemplatesOption[str | None] = None
    max_pixels: opt.MaxPixelsOption = None
    max_bytes: opt.MaxBytesOption = None
    model: opt.ModelOption[str] = "pocket"
    teacher: opt.TeacherOption = None
    device: opt.DeviceOption[str] = "auto"
    method: opt.MethodOption[str] = "auto"
    settings: opt.SettingsOption = None
    views: opt.ViewsOption[str] = "auto"
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the views.", rich_help_panel=opt.VOTE)] = 0
    plugins: opt.PluginOption = None
    quiet: opt.QuietOption = False


@opt.takes(SortOptions)
def sort(asked: SortOptions) -> int:
    """Sort images into folders of their labels."""
    from ..errors import UsageError
    from ..sorting.lock import hold_folder

    if asked.undo is not None:
        if asked.source is not None:
            raise UsageError("--undo takes the log alone; leave SRC and DEST out.")
        with hold_folder(asked.undo.parent):
            return _undo(asked.undo, quiet=asked.quiet)
    if asked.source is None or asked.destination is None:
        raise UsageError("name the folder to sort and the one to sort into: viewvote sort SRC DEST --labels ...")
    opt.load_plugins(asked.plugins)
    with hold_folder(asked.destination):
        return _sort(asked, asked.source, asked.destination)


def _sort(asked: SortOptions, source: str, destination: Path) -> int:
    from ..errors import UsageError
    from ..sorting.folders import folder_names, safe_name
    from ..sorting.sorter import Sorter
    from .guard import complain

    unsure, below = _unsure(asked)
    if unsure is not None and unsure != safe_name(unsure):
        raise UsageError(f"--unsure is the name of a folder in DEST; got {asked.unsure!r}. Try {safe_name(unsure)!r}.")
    if destination.exists() and not destination.is_dir():
        raise UsageError(f"{destination} is a file; expected a folder, or a name that is not there yet.")
    paths = _images(source, destination, quiet=asked.quiet)
    classifier = _classifier(asked)
    reserved = () if unsure is None else (unsure,)
    folders = folder_names(classifier.labels, reserved=reserved)
    settings = {
        "labels": list(classifier.labels),
        "model": classifier.encoder.model_id,
        "method": classifier.method.name,
        "unsure": unsure,
        "below": below,
    }
    sorter = Sorter(destination, move=asked.move, settings=settings, dry_run=asked.dry_run)
    try:
        counts, failed = _put_each(sorter, classifier, paths, folders, unsure=unsure, below=below, quiet=asked.quiet)
    finally:
        sorter.close()
    if not asked.quiet:
        done = "would be " if asked.dry_run else ""
        done += "moved" if asked.move else "copied"
        told = ", ".join(f"{name} {n}" for name, n in counts.most_common()) or "nothing"
        complain(f"{counts.total()} {done}, {failed} failed: {told}.")
        if counts and not asked.dry_run:
            complain(f"To undo: viewvote sort --undo {sorter.log_path}")
    return 1 if failed else 0


def _put_each(
    sorter: "Sorter",
    classifier: "Classifier",
    paths: list[str],
    folders: tuple[str, ...],
    *,
    unsure: str | None,
    below: float,
    quiet: bool,
) -> tuple[Counter[str], int]:
    """Put every image into its folder and print where it went; returns how many went where, and how many failed."""
    from ..errors import ImageError, ViewvoteError
    from .guard import complain
    from .printing import print_line
    from .progress import progress

    todo, counts, failed = sorter.left(paths), Counter[str](), 0
    with progress(len(todo), quiet=quiet) as step:
        for path, answer in zip(todo, classifier.predict_many(todo, on_error="return"), strict=True):
            if isinstance(answer, ViewvoteError):
                complain(str(answer))
                failed += 1
                step()
                continue
            label, likely = answer.labels[answer.index], answer.probability
            folder = unsure if unsure is not None and likely < below else folders[answer.index]
            try:
                target = sorter.put(path, folder=folder, label=label, probability=likely)
            except ImageError as error:
                complain(str(error))
                failed += 1
            else:
                counts[folder] += 1
                print_line(f"{target}  {likely:.0%}  {path}")
            step()
    return counts, failed


def _undo(log: Path, *, quiet: bool) -> int:
    from ..sorting.undo import undo
    from .guard import complain

    undone = undo(log, report=complain)
    if not quiet:
        complain(f"{undone.restored} undone, {undone.kept} left where they are.")
    return 1 if undone.kept else 0


def _unsure(asked: SortOptions) -> tuple[str | None, float]:
    """The folder of doubtful images, None for no such folder, and the probability below which they are."""
    if asked.unsure is None and asked.below is None:
        return None, 0.0
    name = UNSURE if asked.unsure is None else asked.unsure.rstrip("/\\") or asked.unsure
    return name, BELOW if asked.below is None else asked.below


def _images(source: str, destination: Path, *, quiet: bool) -> list[str]:
    """The images of the source; what lies in the destination already is none of them, unless both are one folder."""
    from ..errors import UsageError
    from ..sources import STDIN, Skipped, find_images
    from .guard import complain

    if source == STDIN:
        raise UsageError("SRC is a folder or a pattern; an image on standard input has no place to sort it from.")
    skipped = Skipped()
    paths = find_images([source], report=complain, skipped=skipped)
    if skipped and not quiet:
        complain(str(skipped))
    inside, here = destination.resolve(), Path(source).resolve()
    return paths if inside == here else [path for path in paths if not Path(path).resolve().is_relative_to(inside)]


def _classifier(asked: SortOptions) -> "Classifier":
    from .answers import classifier_of
    from .classify import ClassifyOptions

    return classifier_of(
        ClassifyOptions(
            images=[],
            labels=asked.labels,
            labels_file=asked.labels_file,
            labels_column=asked.labels_column,
            templates=asked.templates,
            max_pixels=asked.max_pixels,
            max_bytes=asked.max_bytes,
            model=asked.model,
            teacher=asked.teacher,
            device=asked.device,
            method=asked.method,
            settings=asked.settings,
            views=asked.views,
            seed=asked.seed,
        )
    )
