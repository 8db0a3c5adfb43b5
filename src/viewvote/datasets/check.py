"""What is present below a root, and whether a dataset is what it should be."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ..errors import DatasetError
from .base import Dataset
from .cards import use_cards
from .catalog import CATALOG, SUITES, Card
from .locate import locate, root_of


@dataclass(frozen=True)
class Presence:
    """A catalog dataset: whether it was found, where, or what is missing."""

    name: str
    title: str
    suites: tuple[str, ...]
    images: int
    classes: int
    source: str
    state: str  # "found", "missing", "incomplete" (its folder lacks something), "not looked for" (without a root)
    folder: str | None = None
    missing: str | None = None


@dataclass(frozen=True)
class Check:
    """What a dataset holds; `expected_images` is the full test split of its card. It is `ok` without problems."""

    name: str
    card: str | None
    images: int
    expected_images: int | None
    classes: int
    classes_with_images: int
    images_per_class: tuple[int, float, int]  # least, median, most, of the classes with images
    complete: bool
    fingerprint: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong or missing."""
        return not self.problems

    def __str__(self) -> str:
        least, middle, most = self.images_per_class
        full = "" if self.expected_images is None else f" (the full test split has {self.expected_images:,})"
        lines = [
            (
                "dataset",
                self.name + (f", with the classes of {self.card}" if self.card not in (None, self.name) else ""),
            ),
            ("images", f"{self.images:,}{full}"),
            ("classes", f"{self.classes:,}, of which {self.classes_with_images:,} with images"),
            ("per class", f"{least:,} to {most:,} images, median {middle:g}"),
            ("fingerprint", self.fingerprint),
            *(("problem" if note in self.problems else "note", note) for note in self.notes),
            ("result", "the full test split" if self.complete else "in order" if self.ok else "NOT in order"),
        ]
        return "\n".join(f"{name:12} {value}" for name, value in lines)


def survey(root: Path | None) -> list[Presence]:
    """Every catalog dataset with where it lies below `root`; images are not counted."""
    use_cards()
    return [_presence(card, root_of(card, root)) for card in CATALOG.values()]


def check(dataset: Dataset) -> Check:
    """The counts of an opened dataset, whose labels were checked when it was opened."""
    counts = sorted(Counter(dataset.targets).values())
    return Check(
        name=dataset.name,
        card=dataset.card,
        images=len(dataset),
        expected_images=CATALOG[dataset.card].images if dataset.card else None,
        classes=len(dataset.class_names),
        classes_with_images=len(counts),
        images_per_class=(counts[0], median(counts), counts[-1]),
        complete=dataset.complete,
        fingerprint=dataset.fingerprint,
        problems=dataset.problems,
        notes=dataset.notes,
    )


def _presence(card: Card, root: Path | None) -> Presence:
    state, folder, missing = "not looked for", None, None
    if root is not None:
        try:
            state, folder = "found", str(locate(card, root).folder)
        except DatasetError as error:
            started = any((root / folder).is_dir() for folder in card.folders)
            state, missing = "incomplete" if started else "missing", str(error)
    return Presence(
        name=card.name,
        title=card.title,
        suites=tuple(suite for suite, members in SUITES.items() if card.name in members),
        images=card.images,
        classes=len(card.class_list.names),
        source=card.source,
        state=state,
        folder=folder,
        missing=missing,
    )
