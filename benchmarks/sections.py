"""Tables of the pages in docs, each between two marks of which the first names the command that writes it:

    <!-- python -m benchmarks.votes --write: pocket -->
    <!-- written -->

A command with --write replaces what is between them by what it prints, and leaves the rest of the page alone.
"""

import argparse
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BEGIN = re.compile(r"<!-- python -m (\S+) --write(?:: (.+?))? -->")
END = "<!-- written -->"


@dataclass(frozen=True)
class Section:
    """What is between two marks of a page; without a page it is only printed."""

    mark: str
    page: Path | None

    def show(self, lines: Iterable[str]) -> None:
        """Print the lines as they come, and put all of them in their place."""
        told = []
        for line in lines:
            print(line, flush=True)
            told.append(line)
        if self.page is not None:
            before, rest = self.page.read_text(encoding="utf-8").split(self.mark)
            after = rest.split(END, 1)[1]
            text = "\n".join(told).strip("\n")
            self.page.write_text(f"{before}{self.mark}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def add_write(parser: argparse.ArgumentParser) -> None:
    """The option that all commands of this kind share."""
    parser.add_argument("--write", action="store_true", help="put the tables into the pages of docs, where they belong")


def section(command: str, part: str = "", *, write: bool) -> Section:
    """The section of a command, and of one model or table; looked for at once, so that nothing is measured in vain."""
    mark = f"<!-- python -m {command} --write{part and f': {part}'} -->"
    if not write:
        return Section(mark, None)
    pages = [page for page in sorted(DOCS.rglob("*.md")) if mark in page.read_text(encoding="utf-8")]
    if len(pages) != 1:
        found = ", ".join(page.name for page in pages) or "none"
        sys.exit(f"--write expects one page of {DOCS} with the line {mark} and after it {END}; found: {found}.")
    return Section(mark, pages[0])
