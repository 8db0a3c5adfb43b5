"""Docstrings as they are written here, with names in columns and in single backticks, as reStructuredText."""

import re
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

ROW = re.compile(r"\S+(?:, \S+)* {2,}(?=\S)")


def setup(app: Sphinx) -> dict[str, bool]:
    """Read by Sphinx."""
    app.connect("autodoc-process-docstring", rewrite)
    return {"parallel_read_safe": True}


def rewrite(_app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Replace the lines by what Sphinx reads."""
    blocks = re.split(r"\n\s*\n", "\n".join(lines).strip("\n"))
    lines[:] = [line for block in blocks for line in [*rendered(block.strip("\n").splitlines()), ""]]


def rendered(block: list[str]) -> Iterator[str]:
    """One paragraph, example, or table."""
    if not block:
        return
    if block[0].lstrip().startswith(">>>"):
        yield from block
    elif is_table(block):
        yield from table(block)
    elif any(line.startswith(" ") for line in block):
        yield from ["::", "", *(f"    {line}" for line in block)]
    else:
        yield from map(inline, block)


def is_table(block: list[str]) -> bool:
    """Whether names stand in a column, and what they mean in the next."""
    starts = {len(line) - len(line.lstrip()) for line in block[1:] if line.startswith(" ")}
    return column_of(block) > 0 and starts <= {column_of(block)}


def column_of(block: list[str]) -> int:
    """Where the second column starts; 0 where there is none."""
    return next((match.end() for line in block if (match := ROW.match(line))), 0)


def table(block: list[str]) -> Iterator[str]:
    """The rows as a definition list."""
    column = column_of(block)
    for line in block:
        if not line.startswith(" "):
            yield f"``{line[:column].strip()}``"
        yield f"    {inline(line[column:].strip())}"


def inline(line: str) -> str:
    """Names in single backticks are literals; what reStructuredText would mark up is itself."""
    parts = re.split(r"(`+[^`]+`+)", line)
    return "".join(f"``{p.strip('`')}``" if p.startswith("`") else re.sub(r"([*|\\]|_\b)", r"\\\1", p) for p in parts)
