"""What a dataset is to the rest: labelled images in a fixed order, the names of their classes, and who it is."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Protocol

from ..images.photo import ImageSource

PHOTO = ("a photo of a {}.",)
"""The template of a dataset that brings none."""


@dataclass(frozen=True)
class Item:
    """One labelled image. `key` is its posix path below the image folder, or its row; the views follow from it."""

    key: str
    image: ImageSource
    target: int


class Dataset(Protocol):
    """Labelled images, read lazily and in the same order each time."""

    @property
    def name(self) -> str:
        """The catalog's name, or the folder's."""

    @property
    def class_names(self) -> tuple[str, ...]:
        """What the targets count through; names may repeat (ImageNet has "missile" twice)."""

    @property
    def templates(self) -> tuple[str, ...]:
        """The dataset's own prompts (CoOp's); the paper uses "a photo of a {}." for all."""

    @property
    def card(self) -> str | None:
        """The catalog card whose classes these are, if any."""

    @property
    def complete(self) -> bool:
        """Whether this is the full official test split, counted."""

    @property
    def problems(self) -> tuple[str, ...]:
        """What is not as it should be: missing images, other counts than the card's. Also among the notes."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers should know: the problems, names that repeat, empty folders."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Every item's key, without reading the images."""

    @property
    def targets(self) -> tuple[int, ...]:
        """Every item's target, without reading the images."""

    @property
    def fingerprint(self) -> str:
        """The sha256 over name, class names, keys and targets."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Item]: ...
    def __getitem__(self, position: int, /) -> Item:
        """The item at a position; those before it are not read."""


@dataclass(frozen=True)
class Labelled(ABC):
    """What every reader finds out: the keys in their order, each one's target, and what these mean."""

    name: str
    _: KW_ONLY
    keys: tuple[str, ...]
    targets: tuple[int, ...]
    class_names: tuple[str, ...]
    templates: tuple[str, ...] = PHOTO
    card: str | None = None
    complete: bool = False
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @abstractmethod
    def __getitem__(self, position: int, /) -> Item:
        """The item at a position; those before it are not read."""

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Item]:
        return map(self.__getitem__, range(len(self)))

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 over name, class names, keys and targets; where the files lie does not enter."""
        digest = sha256()
        rows = ((key, str(target)) for key, target in zip(self.keys, self.targets, strict=True))
        for text in chain([self.name, str(len(self.class_names)), *self.class_names], chain.from_iterable(rows)):
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "little") + encoded)  # length first: ("ab", "c") is not ("a", "bc")
        return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class ImageFiles(Labelled):
    """A dataset of image files: `keys[i]` is at `folder / paths[i]`; the paths are the keys unless a layout differs."""

    folder: Path
    paths: tuple[str, ...] | None = None

    def __getitem__(self, position: int, /) -> Item:
        """The item at a position; its file is opened by whoever looks at it."""
        path = (self.paths or self.keys)[position]
        return Item(self.keys[position], self.folder / path, self.targets[position])
