"""A table's cells as lines of text, for the formats that people read."""

from collections.abc import Collection

from ..table import Average, Cell, Row, Table

Lines = tuple[str, ...]


def grid(table: Table, *, stated: Collection[str] | None = None) -> list[tuple[Lines, ...]]:
    """The table's rows: the lines of each cell (`cell_lines`); the published row, where there is one, after ours."""
    out: list[tuple[Lines, ...]] = []
    for row in table.rows:
        out.append(
            (
                (row.title, row.model),
                *(cell_lines(row.cells.get(name), stated=stated) for name in table.datasets),
                *(average_lines(row.averages[name]) for name in table.averages),
            )
        )
        if row.match is not None:
            out.append(_published_lines(table, row))
    return out


def heading(table: Table) -> list[str]:
    """The table's column heads."""
    return ["Method", *table.heads, *table.averages]


def counts(cell: Cell) -> Lines:
    """What the rate is over: n, the split, the seeds."""
    seeds = cell.seeds.seeds
    return f"n {cell.rate.n}", cell.split, f"{seeds} seed{'s' if seeds > 1 else ''}"


def cell_lines(cell: Cell | None, *, stated: Collection[str] | None = None) -> Lines:
    """Rate and deviation; interval; `counts`; and how it compares with the published number.

    stated   counts that stand elsewhere: the others then have a line each, so that the cell is narrow
    """
    if cell is None:
        return ("-",)
    rate, seeds = cell.rate, cell.seeds
    deviation = f" ±{100 * seeds.std:.2f}" if seeds.std is not None else ""
    found = (f"{100 * rate.value:.2f}{deviation}", f"[{100 * rate.low:.2f}, {100 * rate.high:.2f}]")
    words = counts(cell)
    return (
        *(found if rate.n else ("-",)),
        *((", ".join(words),) if stated is None else (word for word in words if word not in stated)),
        *((f"{rate.errors} unusable",) if rate.errors else ()),
        *((cell.verdict,) if cell.verdict.startswith(("reproduced", "differs", "int8 tower")) else ()),
    )


def average_lines(average: Average | None) -> Lines:
    """The average and its interval, or a dash where a dataset is missing."""
    if average is None:
        return ("-",)
    return f"{100 * average.value:.2f}", f"[{100 * average.low:.2f}, {100 * average.high:.2f}]"


def _published_lines(table: Table, row: Row) -> tuple[Lines, ...]:
    """What the paper prints, under our row."""
    if row.match is None:
        return ()
    published = row.match.row
    cells: list[Lines] = [(f"paper: {row.match.title}",)]
    for name in table.datasets:
        std = published.std.get(name)
        value = published.values.get(name)
        cells.append(("-",) if value is None else (f"{value:.2f}" + (f" ±{std:.2f}" if std is not None else ""),))
    averages = (row.published_averages[name] for name in table.averages)
    return (*cells, *(("-",) if value is None else (f"{value:.2f}",) for value in averages))
