"""A table for a paper: LaTeX with booktabs, never wider than the page."""

from collections.abc import Sequence
from math import ceil
from textwrap import wrap

from ..table import Table
from .grid import Lines, counts, grid, heading

COLUMNS = 7
"""Columns beside the method in one block; more are set below, as they would be too small to read."""

WIDTH = 26
"""Characters on a line of the method's column."""

# Shrinks what is wider than the line, and leaves what is narrower as it is.
_FIT = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"


def latex(table: Table) -> str:
    """A table over the whole width of the page; it needs the packages booktabs and graphicx."""
    shared = _shared(table)
    head, rows = [(text,) for text in heading(table)], grid(table, stated=shared)
    notes = [*table.notes, *([f"All cells: {', '.join(shared)}."] if shared else [])]
    across = len(head) - 1
    step = ceil(across / ceil(across / COLUMNS))
    blocks = [_block(head, rows, range(start, min(start + step, len(head)))) for start in range(1, len(head), step)]
    lines = [
        "% needs \\usepackage{booktabs,graphicx}",
        "\\begin{table*}",
        "\\centering",
        "\\footnotesize",
        "\\setlength{\\tabcolsep}{4pt}",
        "\n\\medskip\n\n".join(blocks),
        f"\\caption{{{' '.join(map(latex_safe, notes))}}}",
        "\\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _shared(table: Table) -> Lines:
    """What n, split and seeds are in all cells alike."""
    stated = [counts(cell) for row in table.rows for cell in row.cells.values()]
    return tuple(word for word in stated[0] if all(word in words for words in stated))


def _block(head: Sequence[Lines], rows: Sequence[Sequence[Lines]], columns: Sequence[int]) -> str:
    """The method and these columns."""
    lines = [
        _FIT,
        f"\\begin{{tabular}}{{l{'c' * len(columns)}}}",
        "\\toprule",
        _row([head[0], *(head[i] for i in columns)]),
        "\\midrule",
        "\n\\addlinespace\n".join(_row([_narrow(row[0]), *(row[i] for i in columns)]) for row in rows),
        "\\bottomrule",
        "\\end{tabular}}",
    ]
    return "\n".join(lines)


def _narrow(lines: Lines) -> Lines:
    return tuple(part for line in lines for part in wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False))


def _row(cells: Sequence[Lines]) -> str:
    return " & ".join(_stacked(cell, "c" if i else "l") for i, cell in enumerate(cells)) + " \\\\"


def _stacked(lines: Lines, align: str) -> str:
    """The lines of a cell below each other, the first level with those of the other cells."""
    inside = " \\\\ ".join(map(latex_safe, lines))
    return inside if len(lines) == 1 else f"\\begin{{tabular}}[t]{{@{{}}{align}@{{}}}}{inside}\\end{{tabular}}"


_LATEX = {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "±": "$\\pm$",
    "†": "$\\dagger$",
    ">": "$>$",
    "<": "$<$",
    "[": "{[}",  # after a line break LaTeX would take it for an option
} | {mark: f"\\{mark}" for mark in "&%$#_{}"}


def latex_safe(text: str) -> str:
    """The text with LaTeX's own characters escaped."""
    return "".join(_LATEX.get(mark, mark) for mark in text)
