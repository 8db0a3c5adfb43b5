"""Where a catalog dataset lies below the data root: CoOp's, ZERO's and TPT's layouts."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import DatasetNotFoundError, UsageError
from .catalog import Card
from .classes import ClassList
from .readers.folders import folders_in

ROOT_VARIABLE = "VIEWVOTE_DATA"


@dataclass(frozen=True)
class Place:
    """A dataset's own folder, and the split file that lists the images of its test split."""

    folder: Path
    split: Path | None = None


def known_root(root: Path | None) -> Path | None:
    """The folder that holds the datasets: the one given, or that of the environment variable, or None."""
    if root is None:
        variable = os.environ.get(ROOT_VARIABLE)
        root = Path(variable) if variable else None
    if root is not None and not root.is_dir():
        raise UsageError(f"the data root {root} is not a folder.")
    return root


def data_root(root: Path | None) -> Path:
    """The folder that holds the datasets, or an error with how to name it."""
    found = known_root(root)
    if found is None:
        raise UsageError(f"where are the datasets? Name the folder with root=DIR, or set {ROOT_VARIABLE}.")
    return found


def root_of(card: Card, root: Path | None) -> Path | None:
    """The folder that the card's folders lie in: the data root, or for a user's card without one its file's folder."""
    return known_root(root) or (Path(card.file).parent if card.file else None)


def locate(card: Card, root: Path) -> Place:
    """The place of the dataset below `root`, or an error that lists where it was looked for."""
    present = [root / folder for folder in card.folders if (root / folder).is_dir()]
    if card.reader == "folders":
        return Place(_with_classes(card, root, present))
    for folder in present:
        for split in _split_files(card, folder, root):
            if os.path.isfile(split):  # noqa: PTH113 - never raises, Path.is_file may
                return Place(folder, split)
    if present:
        expected = _either(_split_files(card, present[0], root))
        raise DatasetNotFoundError(
            f"{card.title} has no split file: expected {expected}. It is described at {card.described_at}."
        )
    raise _absent(card, root)


def no_images(card: Card, folder: Path, example: str) -> DatasetNotFoundError:
    """The error for a split none of whose images is there."""
    tried = _either(folder / inner / example for inner in card.inside)
    return DatasetNotFoundError(
        f"{card.title} has no images: expected {tried}, and so on. It is described at {card.described_at}."
    )


def _with_classes(card: Card, root: Path, present: Sequence[Path]) -> Path:
    """The first folder that holds class folders of this dataset."""
    classes = card.class_list
    for folder in present:
        if any(classes.index_of(name) is not None for name in folders_in(folder)):
            return folder
    if present:
        raise DatasetNotFoundError(
            f"{present[0]} holds none of the {len(classes.names)} class folders of {card.title}: expected a folder per "
            f"class, named by {_named_by(classes)} or label (0). It is described at {card.described_at}."
        )
    raise _absent(card, root)


def _named_by(classes: ClassList) -> str:
    return f"WordNet id ({classes.wnids[0]})" if classes.wnids else f"name ({classes.names[0]})"


def _split_files(card: Card, folder: Path, root: Path) -> list[Path]:
    """Where the split file may lie: beside the images (CoOp, ZERO), with the others (TPT), or as ZERO's own table."""
    places = [folder / card.split, folder / "data_splits" / card.split, root / "data_splits" / card.split]
    return [*places, folder / card.annotations] if card.annotations else places


def _absent(card: Card, root: Path) -> DatasetNotFoundError:
    tried = _either(root / folder for folder in card.folders)
    return DatasetNotFoundError(f"{card.title} is not here: expected {tried}. It is described at {card.described_at}.")


def _either(paths: Iterable[Path]) -> str:
    return " or ".join(map(str, paths))
