"""Class names in label order, and which class a folder's name means."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

_WNID = re.compile(r"n\d{8}")
_NUMBERED = re.compile(r"(\d{1,9})_(.+)")


@dataclass(frozen=True)
class ClassList:
    """The classes of a dataset in label order; the ImageNet family has a WordNet id for each."""

    names: tuple[str, ...]
    wnids: tuple[str, ...] = ()

    def index_of(self, folder: str) -> int | None:
        """The class a folder is named for: by WordNet id, label, "<label>_<name>" or name. None: by none of them.

        The name is read, never ranked among the other folders: a missing folder, or "10" sorting before "2", would
        shift every later label.
        """
        if is_wnid(folder) and self.wnids:
            return self._by_wnid.get(folder)
        if folder.isdecimal() and len(folder) < 10:
            return int(folder) if int(folder) < len(self.names) else None
        numbered = _NUMBERED.fullmatch(folder)
        if numbered and int(numbered[1]) < len(self.names):
            label = int(numbered[1])
            if plain(numbered[2]) == plain(self.names[label]):
                return label
        return self._by_name.get(plain(folder))

    @cached_property
    def _by_wnid(self) -> dict[str, int]:
        return {wnid: i for i, wnid in enumerate(self.wnids)}

    @cached_property
    def _by_name(self) -> dict[str, int]:
        """Only names that mean one class: two ImageNet classes are "missile"."""
        counts = Counter(map(plain, self.names))
        return {plain(name): i for i, name in enumerate(self.names) if counts[plain(name)] == 1}


def classes_of_folders(folders: Sequence[str]) -> tuple[ClassList, dict[str, int]]:
    """The classes that folders name themselves, and each folder's label.

    "000_red_fox", "001_..." are labels with names where they count from 0 or 1 without a gap; other folders are
    labelled in the order of their names. Underscores stand for spaces.
    """
    numbered = [_NUMBERED.fullmatch(folder) for folder in folders]
    labels = sorted(int(match[1]) for match in numbered if match)
    if labels and labels in (list(range(len(folders))), list(range(1, len(folders) + 1))):
        order = sorted(folders, key=lambda folder: int(folder.partition("_")[0]))
        names = [folder.partition("_")[2] for folder in order]
    else:
        names = order = sorted(folders)
    return ClassList(tuple(name.replace("_", " ") for name in names)), {folder: i for i, folder in enumerate(order)}


def is_wnid(folder: str) -> bool:
    """Whether the name is a WordNet id such as n01440764."""
    return bool(_WNID.fullmatch(folder))


def plain(name: str) -> str:
    """A name by its letters and digits alone: folders cannot hold every character, and spaces become underscores."""
    return "".join(c for c in name.casefold() if c.isalnum())


def name_notes(names: Sequence[str]) -> list[str]:
    """A note on the names that several classes share, if any do."""
    same = [name for name, count in Counter(names).items() if count > 1]
    return [f"class names that repeat: {listed(same)}. Answers count by label, not by name."] if same else []


def listed(names: Sequence[str], *, most: int = 5) -> str:
    """The first few names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
