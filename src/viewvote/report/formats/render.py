"""A table in one of several formats."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from math import isnan

from ...outputs import csv_line
from ..table import Cell, Table
from .chart import interval_chart
from .grid import grid, heading
from .html import html_page
from .latex import latex
from .strict_json import strict_json


def render(table: Table, fmt: str) -> str:
    """The table in one of FORMATS."""
    return FORMATS[fmt](table)


def markdown(table: Table) -> str:
    """A GitHub table with the notes below."""
    columns = [markdown_safe(text) for text in heading(table)]
    rows = [columns, ["---"] + ["---:"] * (len(columns) - 1)]
    rows += [["<br>".join(markdown_safe(line) for line in cell) for cell in row] for row in grid(table)]
    body = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return body + "\n\n" + "\n".join(f"- {markdown_safe(note)}" for note in table.notes) + "\n"


def markdown_safe(text: str) -> str:
    """The text with Markdown's own characters escaped."""
    for mark in "\\|*_<`":
        text = text.replace(mark, "\\" + mark)
    return text


def terminal(table: Table) -> str:
    """Aligned columns for a terminal, with the notes below; numbers to the right."""
    rows = [tuple((text,) for text in heading(table)), *grid(table)]
    widths = [max(len(line) for row in rows for line in row[column]) for column in range(len(rows[0]))]
    lines: list[str] = []
    for n, row in enumerate(rows):
        for level in range(max(len(cell) for cell in row)):
            words = [cell[level] if level < len(cell) else "" for cell in row]
            columns = [word.rjust(width) for word, width in zip(words, widths, strict=True)]
            lines.append("  ".join([words[0].ljust(widths[0]), *columns[1:]]).rstrip())
        lines.append("-" * (sum(widths) + 2 * len(widths) - 2) if n == 0 else "")
    return "\n".join([*lines, *(f"* {note}" for note in table.notes)]) + "\n"


def long_csv(table: Table) -> str:
    """One line per row and dataset; rates are shares, published numbers percent as printed."""
    lines = [
        {"method": row.title, "model": row.model, "dataset": name, **_flat(row.cells[name])}
        for row in table.rows
        for name in table.datasets
        if name in row.cells
    ]
    return csv_text(lines)


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    """The rows as CSV, columns named by the first row's keys; NaN is left empty."""
    names = list(rows[0])
    lines = [csv_line(names), *(csv_line(_filled(row[name]) for name in names) for row in rows)]
    return "".join(f"{line}\n" for line in lines)


def _filled(cell: object) -> object:
    return "" if isinstance(cell, float) and isnan(cell) else cell


def _flat(cell: Cell) -> dict[str, object]:
    return {
        "top1": cell.rate.value,
        "low": cell.rate.low,
        "high": cell.rate.high,
        "std": cell.seeds.std,
        "seeds": cell.seeds.seeds,
        "n": cell.rate.n,
        "errors": cell.rate.errors,
        "top5": cell.top5.value,
        "macro": cell.macro.value,
        "split": cell.split,
        "published": cell.published,
        "verdict": cell.verdict,
        "seconds_per_image": cell.seconds_per_image,
        "peak_memory_mb": cell.peak_memory_mb,
    }


def as_json(table: Table) -> str:
    """Everything the table holds; column heads are for people."""
    return strict_json({name: value for name, value in asdict(table).items() if name != "heads"})


def html(table: Table, *, made: str = "", links: Sequence[tuple[str, str]] = ()) -> str:
    """One page that needs nothing else: the table, its intervals drawn, and where the numbers come from."""
    datasets = ", ".join(table.heads[:3]) + (f" and {more} more" if (more := len(table.heads) - 3) > 0 else "")
    title = f"viewvote report: {datasets}" + (f" ({table.layout})" if table.layout != "free" else "")
    charts = interval_chart(table)
    return html_page(title, heading(table), grid(table), table.notes, made=made, charts=charts, links=links)


FORMATS: Mapping[str, Callable[[Table], str]] = {
    "table": terminal,
    "markdown": markdown,
    "latex": latex,
    "csv": long_csv,
    "json": as_json,
    "html": html,
}
