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
svg { display: block; max-width: 100%; height: auto; font-size: 12px; fill: #1a1a1a; margin: 0 0 1rem; }
svg .head { font-weight: 600; font-size: 14px; } svg .small, svg .paper { fill: #5f5f5f; }
svg .grid { stroke: #e3e3e3; } svg .bar { stroke: #0072b2; stroke-width: 2; } svg circle { fill: #0072b2; }
@media (prefers-color-scheme: dark) {
  body { color: #eee; background: #161616; } th { border-color: #eee; } td { border-color: #333; }
  svg { fill: #eee; } svg .grid { stroke: #333; } svg .small, svg .paper { fill: #aaa; } a { color: #8ab4f8; }
  td span, tr.paper td, ul { color: #aaa; } tr.paper td { background: #1f1f1f; }
}
"""


def html_page(
    title: str,
    heading: Sequence[str],
    rows: Sequence[Sequence[Sequence[str]]],
    notes: Sequence[str],
    *,
    made: str = "",
    charts: str = "",
    links: Sequence[tuple[str, str]] = (),
) -> str:
    """The page; a cell's first line is large, the others small. Everything is escaped but the charts, which are SVG.

    Args:
        title: The page's title and first heading.
        heading: The column heads.
        rows: The lines of each cell.
        notes: What a reader should know, below the table.
        made: When and with what the page was made.
        charts: SVG elements.
        links: Address and text of what the numbers come from.
    """
    head = "".join(f"<th>{escape(text)}</th>" for text in heading)
    body = "\n".join(_row(row) for row in rows)
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    below = f"<p>{escape(made)}</p>\n" if made else ""
    drawn = f'<h2>Intervals</h2>\n<div class="scroll">{charts}</div>\n' if charts else ""
    runs = "".join(f'<li><a href="{escape(address)}">{escape(text)}</a></li>' for address, text in links)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n{below}"
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>\n'
        f"<ul>{listed}</ul>\n{drawn}{f'<h2>Runs</h2><ul>{runs}</ul>' if runs else ''}</body>\n</html>\n"
    )


def _row(cells: Sequence[Sequence[str]]) -> str:
    paper = ' class="paper"' if cells[0][0].startswith("paper: ") else ""
    return f"<tr{paper}>{''.join(f'<td>{_cell(lines)}</td>' for lines in cells)}</tr>"


def _cell(lines: Sequence[str]) -> str:
    return escape(lines[0]) + "".join(f"<span>{escape(line)}</span>" for line in lines[1:])
