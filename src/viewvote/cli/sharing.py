"""What `viewvote doctor` found, as a block to paste into an issue: without the paths of whoever pastes it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PRIVATE = {"executable"}


def block(report: Mapping[str, Mapping[str, Any]]) -> str:
    """The report in a fence of Markdown; of a cache only whether it can be written is shown."""
    return "\n".join(["```text", *_lines(report), "```"])


def _lines(report: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for title, rows in report.items():
        yield title
        for key, value in rows.items():
            if key not in PRIVATE:
                shown = _state(str(value)) if title == "caches" else str(value)
                yield f"  {key:16} {shown.replace(str(Path.home()), '~')}".rstrip()


def _state(cache: str) -> str:
    """What stands in brackets after a folder."""
    return cache.rpartition(" (")[2].rstrip(")")
