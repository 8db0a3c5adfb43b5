"""Labels as names of folders, on any system."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

LONGEST = 120
"""Bytes of a folder's name: file systems take 255, some synchronising services fewer."""

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


def safe_name(text: str) -> str:
    """The text as a name that every common file system takes: no separators, devices, hidden or overlong names."""
    name = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", text)).strip(" .")
    name = name.encode()[:LONGEST].decode(errors="ignore").rstrip(" .")
    if not name:
        return "_"
    return f"_{name}" if _RESERVED.fullmatch(name) else name


def folder_names(labels: Sequence[str], *, reserved: Iterable[str] = ()) -> tuple[str, ...]:
    """A folder for each label, all different where large and small letters are the same; `reserved` are taken."""
    taken = {same(name) for name in reserved}
    return tuple(unused(safe_name(label), taken) for label in labels)


def unused(name: str, taken: set[str], *, ending: str = "") -> str:
    """The name with its ending, numbered from 2 where it is taken already; it is then taken."""
    found, number = name + ending, 1
    while same(found) in taken:
        number += 1
        found = f"{name}-{number}{ending}"
    taken.add(same(found))
    return found


def same(name: str) -> str:
    """What is equal for names that some file system takes for one."""
    return unicodedata.normalize("NFC", name).casefold()
