"""A table as one HTML file that needs nothing else: no script, no font, no network."""

from collections.abc import Sequence
from html import escape

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem; color: #1a1a1a; background: #fff; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .7rem; text-align: right; vertical-align: top; border-bottom: 1px solid #e3e3e3; }
th { border-bottom: 2px solid #1a1a1a; }
th:first-child, td:first-child { text-align: left; }
td span { display: block; color: #5f5f5f; font-size: .8em; white-space: nowrap; }
tr.paper td { color: #5f5f5f; background: #f6f6f6; }
ul { max-width: 60rem; color: #444; }
@media (prefers-color-scheme: dark) {
  body { color: #eee; background: #161616; } th { border-color: #eee; } td { border-color: #333; }
  td span, tr.paper td, ul { color: #aaa; } tr.paper td { background: #1f1f1f; }
}
"""


def html_page(title: str, heading: Sequence[str], rows: Sequence[Sequence[Sequence[str]]], notes: Sequence[str]) -> str:
    """The page; a cell's first line is large, the others small. Everything is escaped."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heading)
    body = "\n".join(_row(row) for row in rows)
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>\n'
        f"<ul>{listed}</ul>\n</body>\n</html>\n"
    )


def _row(cells: Sequence[Sequence[str]]) -> str:
    paper = ' class="paper"' if cells[0][0].startswith("paper: ") else ""
    return f"<tr{paper}>{''.join(f'<td>{_cell(lines)}</td>' for lines in cells)}</tr>"


def _cell(lines: Sequence[str]) -> str:
    return escape(lines[0]) + "".join(f"<span>{escape(line)}</span>" for line in lines[1:])
