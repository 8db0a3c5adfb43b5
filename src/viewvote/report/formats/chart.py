"""A table's rates as dots with their intervals, drawn as SVG by hand: one panel per dataset, one line per row."""

from html import escape

from ..table import Table

LABEL, WIDTH, LINE, TOP = 260, 420, 24, 46


def interval_chart(table: Table) -> str:
    """The panels as SVG elements; published numbers are crosses."""
    return "\n".join(_panel(table, name, head) for name, head in zip(table.datasets, table.heads, strict=True))


def _panel(table: Table, dataset: str, head: str) -> str:
    rows = [(row, row.cells[dataset]) for row in table.rows if dataset in row.cells and row.cells[dataset].rate.n]
    height = TOP + LINE * len(rows) + 26
    parts = [f'<text x="0" y="18" class="head">{escape(head)}: top-1 in %, 95% intervals</text>']
    for percent in range(0, 101, 20):
        x = _x(percent / 100)
        parts.append(f'<line x1="{x}" x2="{x}" y1="{TOP - 14}" y2="{height - 20}" class="grid"/>')
        parts.append(f'<text x="{x}" y="{height - 4}" text-anchor="middle" class="small">{percent}</text>')
    for n, (row, cell) in enumerate(rows):
        y = TOP + LINE * n
        rate = cell.rate
        told = f"{row.title}, {row.model}: {rate}"
        parts.append(
            f'<text x="{LABEL - 12}" y="{y + 4}" text-anchor="end">{escape(_short(f"{row.title}, {row.model}"))}</text>'
        )
        parts.append(f'<line x1="{_x(rate.low)}" x2="{_x(rate.high)}" y1="{y}" y2="{y}" class="bar"/>')
        parts.append(f'<circle cx="{_x(rate.value)}" cy="{y}" r="4"><title>{escape(told)}</title></circle>')
        if cell.published is not None:
            parts.append(
                f'<text x="{_x(cell.published / 100)}" y="{y + 5}" text-anchor="middle" class="paper">×</text>'
            )
    label = escape(f"{head}: rates with intervals; the table has the numbers")
    size = f'viewBox="0 0 {LABEL + WIDTH + 20} {height}" width="{LABEL + WIDTH + 20}"'
    return f'<svg {size} role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _x(share: float) -> float:
    return round(LABEL + WIDTH * share, 1)


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
