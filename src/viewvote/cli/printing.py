"""What commands print: rows, as aligned columns or as JSON, and texts that may go to a file instead."""

import sys
from pathlib import Path

import typer


def print_rows(rows: list[dict[str, str]], *, as_json: bool = False) -> None:
    """Print rows of the same keys as aligned columns, or as JSON."""
    if as_json:
        print_json(rows)
        return
    widths = {column: max(len(row[column]) for row in rows) for column in rows[0]}
    for row in rows:
        typer.echo("  ".join(row[column].ljust(width) for column, width in widths.items()).rstrip())


def print_json(value: object, *, ascii_only: bool = False) -> None:
    """Print the value as indented JSON."""
    import json  # when it is needed: every command waits for what this file imports

    typer.echo(json.dumps(value, ensure_ascii=ascii_only, indent=1))


def print_line(text: str) -> None:
    """Print a line at once, whatever characters the stream has."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    sys.stdout.flush()


def put_text(text: str, output: Path | None) -> None:
    """The text on standard output, or in a file that `check_output` admitted."""
    from ..outputs import put_output

    if output is None:
        typer.echo(text, nl=False)
    else:
        put_output(output, text)
