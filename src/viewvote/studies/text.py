"""A finding as Markdown, LaTeX, CSV or JSON."""

from collections.abc import Callable, Mapping
from math import isnan
from typing import Any

from ..report.formats.latex import latex_safe
from ..report.formats.render import csv_text, markdown_safe
from ..report.formats.strict_json import strict_json
from .base import Column, Finding, Style

STYLES: dict[Style, Callable[[Any], str]] = {
    "text": str,
    "count": lambda value: f"{value:,}",
    "percent": lambda value: f"{100 * value:.2f}",
    "points": lambda value: f"{100 * value:+.2f}",
    "number": lambda value: f"{value:.3f}",
    "seconds": lambda value: f"{value:.3f}",
}


def cell_text(column: Column, row: Mapping[str, Any]) -> str:
    """A cell: the value, its deviation over seeds, its interval; a dash where there is no value."""
    show = STYLES[column.style]
    value, std = row.get(column.key), row.get(column.std or "")
    low, high = row.get(column.low or ""), row.get(column.high or "")
    if _missing(value):
        return "-"
    text = show(value)
    if not _missing(std):
        text += f" ±{show(std).lstrip('+')}"
    return text if _missing(low) or _missing(high) else f"{text} [{show(low)}, {show(high)}]"


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _grid(finding: Finding) -> tuple[list[str], list[list[str]]]:
    """Headings and cells; a name that is the same in every row is left to the notes."""
    shown = [c for c in finding.columns if c.key not in _shared(finding)]
    return [c.heading for c in shown], [[cell_text(c, row) for c in shown] for row in finding.rows]


def _shared(finding: Finding) -> dict[str, str]:
    """The named columns, beside the dataset, that hold one text in all of several rows."""
    if len(finding.rows) < 2:
        return {}
    values = {c.key: {str(row.get(c.key)) for row in finding.rows} for c in finding.columns if c.style == "text"}
    return {
        key: found.pop() for key, found in values.items() if len(found) == 1 and key in ("model", "method", "split")
    }


def _notes(finding: Finding) -> list[str]:
    shared = [f"{key}: {value}" for key, value in _shared(finding).items()]
    return [*([f"All rows: {'; '.join(shared)}."] if shared else []), *finding.notes]


def markdown(finding: Finding) -> str:
    """A heading, a GitHub table and the notes."""
    heading, rows = _grid(finding)
    lines = [[markdown_safe(text) for text in heading], ["---"] + ["---:"] * (len(heading) - 1)]
    lines += [[markdown_safe(text) for text in row] for row in rows]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    notes = "\n".join(f"- {markdown_safe(note)}" for note in _notes(finding))
    return f"**{markdown_safe(finding.title)}**\n\n{body}\n\n{notes}\n"


def latex(finding: Finding) -> str:
    """A table for a paper; it needs the packages booktabs and graphicx."""
    heading, rows = _grid(finding)
    lines = [
        "% needs \\usepackage{booktabs,graphicx}",
        "\\begin{table*}",
        "\\centering",
        "\\footnotesize",
        "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%",
        f"\\begin{{tabular}}{{l{'r' * (len(heading) - 1)}}}",
        "\\toprule",
        " & ".join(map(latex_safe, heading)) + " \\\\",
        "\\midrule",
        *(" & ".join(map(latex_safe, row)) + " \\\\" for row in rows),
        "\\bottomrule",
        "\\end{tabular}}",
        f"\\caption{{{latex_safe(finding.title)}. {' '.join(map(latex_safe, _notes(finding)))}}}",
        "\\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def as_csv(finding: Finding) -> str:
    """One line per row with every value; shares are shares, not percent."""
    return csv_text(finding.rows)


def as_json(finding: Finding) -> str:
    """Name, title, rows and notes."""
    return strict_json(
        {"study": finding.name, "title": finding.title, "rows": list(finding.rows), "notes": list(finding.notes)}
    )


FORMATS: Mapping[str, Callable[[Finding], str]] = {"md": markdown, "latex": latex, "csv": as_csv, "json": as_json}
