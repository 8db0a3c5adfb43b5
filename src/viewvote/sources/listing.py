"""The files below a folder or behind a pattern, in an order that stays the same, never all in memory."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from heapq import nsmallest
from typing import Any

from .address import file_system, is_address
from .patience import persist

NAMES = 20_000
"""Names of one folder that are held at a time; a larger folder is gone through several times."""

PAGE = 1000
"""Names that S3 lists at a time."""


def list_files(place: str) -> Iterator[str]:
    """The paths or addresses of all files below a folder or prefix, or of those that a pattern matches.

    Raises OSError where the folder itself cannot be listed; folders inside that cannot are left out.
    """
    start, pattern = split_pattern(place)
    below = _list_remote(start) if is_address(place) else _list_local(start or ".")
    if not pattern:
        yield from below
        return
    wanted = re.compile(translate(pattern))
    skipped = len(start) if is_address(place) else len(os.path.join(start or ".", ""))  # noqa: PTH118
    for found in below:
        if wanted.fullmatch(found[skipped:].lstrip("/")):
            yield found if start or is_address(place) else found.removeprefix("./")


def split_pattern(place: str) -> tuple[str, str]:
    """The folder where a pattern starts and the pattern below it; the pattern is empty where there is none.

    >>> split_pattern("s3://bucket/photos/2*/*.jpg")
    ('s3://bucket/photos', '2*/*.jpg')
    """
    is_web = place.lower().startswith(("http:", "https:"))  # where ? begins a query
    magic = re.search(r"\*" if is_web else r"[*?\[]", place)
    if magic is None:
        return place, ""
    cut = place.rfind("/", 0, magic.start())
    return (place[: max(cut, 1)] if cut >= 0 else ""), place[cut + 1 :]


def translate(pattern: str) -> str:
    """The pattern as a regular expression: * and ? stay within a folder, ** goes through any number of them."""
    pieces = []
    for token in re.findall(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]|.", pattern, flags=re.DOTALL):
        if token == "**/":  # noqa: S105 - a pattern
            pieces.append("(?:.*/)?")
        elif token.startswith("[") and len(token) > 1:
            pieces.append("[" + token[1:-1].replace("\\", r"\\").replace("!", "^", 1) + "]")
        else:
            pieces.append({"**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token, re.escape(token)))
    return "(?s:" + "".join(pieces) + ")"


def _list_local(folder: str) -> Iterator[str]:
    """Files in the order of their names, folder by folder. Links are followed; each real folder is visited once."""
    os.scandir(folder).close()  # the folder itself must be there
    root, seen = os.path.realpath(folder), set[str]()

    def below(directory: str) -> Iterator[str]:
        real = os.path.realpath(directory)
        if real in seen:
            return
        seen.add(real)
        for name, is_folder, is_link in _entries(directory):
            path = os.path.join(directory, name)  # noqa: PTH118 - quick
            if not is_folder:
                yield path
            elif not is_link or not _is_inside(os.path.realpath(path), root):  # else it comes under its own name
                yield from below(path)

    return below(folder)


def holds_more(folder: str, than: int) -> bool:
    """Whether more than so many files lie below a folder of this machine; links are not followed."""
    waiting, found = [folder], 0
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for one in entries:
                if one.is_dir(follow_symlinks=False):
                    waiting.append(one.path)
                    continue
                found += 1
                if found > than:
                    return True
    return False


def _is_inside(path: str, root: str) -> bool:
    return path == root or path.startswith(os.path.join(root, ""))  # noqa: PTH118


def _entries(directory: str) -> Iterator[tuple[str, bool, bool]]:
    """Name, whether it is a folder and whether it is a link, in the order of the names."""
    last = ""
    while True:
        try:
            with os.scandir(directory) as entries:
                names = nsmallest(
                    NAMES, ((one.name, one.is_dir(), one.is_symlink()) for one in entries if one.name > last)
                )
        except OSError:
            return
        if not names:
            return
        last, is_end = names[-1][0], len(names) < NAMES
        names.reverse()
        while names:  # nothing of it is held when the folder is gone through again
            yield names.pop()
        if is_end:
            return


def _list_remote(address: str) -> Iterator[str]:
    system, path = file_system(address)
    protocol = system.protocol if isinstance(system.protocol, str) else system.protocol[0]
    names = _pages_of_s3(system, path) if protocol == "s3" else _walk(system, path, what=address)
    start, cut = address.rstrip("/"), len(path.rstrip("/"))
    return (start + name[cut:] for name in names)


def _walk(system: Any, path: str, *, what: str) -> Iterator[str]:
    """The names below a folder of any store, a folder's own at a time."""
    entries = persist(lambda: system.ls(path, detail=True), what=f"cannot list {what}")
    inside = path.rstrip("/") + "/"
    for entry in sorted(entries, key=lambda one: str(one["name"])):
        name = str(entry["name"])
        if not name.startswith(inside) or name == inside:  # a page's links lead anywhere
            continue
        if entry["type"] == "directory":
            yield from _walk(system, name, what=what)
        else:
            yield name


def _pages_of_s3(system: Any, path: str) -> Iterator[str]:
    """The names below a prefix of S3, a page at a time: `ls` would hold a folder of ten million whole."""
    bucket, prefix, _ = system.split_path(path)
    prefix = f"{prefix}/" if prefix and not prefix.endswith("/") else prefix
    last = ""
    while True:
        after = {"StartAfter": last} if last else {}
        page = persist(
            lambda after=after: system.call_s3(  # type: ignore[misc]
                "list_objects_v2", Bucket=bucket, Prefix=prefix, MaxKeys=PAGE, **after
            ),
            what=f"cannot list s3://{path}",
        )
        keys = [str(entry["Key"]) for entry in page.get("Contents", [])]
        yield from (f"{bucket}/{key}" for key in keys if not key.endswith("/"))
        if not keys or not page.get("IsTruncated"):
            return
        last = keys[-1]
