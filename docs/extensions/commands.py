"""`<!-- every command -->` in a page becomes a section for each command, made from what `--help` is made of."""

import re
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx
from typer.main import get_command

MARK = "<!-- every command -->"


def setup(app: Sphinx) -> dict[str, bool]:
    """Read by Sphinx."""
    app.connect("source-read", insert_commands)
    return {"parallel_read_safe": True}


def insert_commands(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Replace the mark in a page's text."""
    if MARK in source[0]:
        source[0] = source[0].replace(MARK, "\n".join(lines_of_all()))


def lines_of_all() -> Iterator[str]:
    """Markdown of every command, in the order of `viewvote --help`."""
    from viewvote.cli.commands import app

    for words, command in commands_of(get_command(app), ("viewvote",)):
        yield from lines_of(words, command)


def commands_of(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The commands below one, with their words; a group is one too where it runs without a command."""
    children = getattr(command, "commands", {})
    if not children or (command.invoke_without_command and len(words) > 1):
        yield words, command
    for name, child in children.items():
        yield from commands_of(child, (*words, name))


def lines_of(words: tuple[str, ...], command: Any) -> Iterator[str]:
    """One command: what it does, how it is called, and its options by panel."""
    name = " ".join(words)
    context = command.context_class(command, info_name=name)
    yield from [f"## {name}", "", *markdown(command.help or ""), ""]
    yield from ["```text", f"{name} {' '.join(command.collect_usage_pieces(context))}", "```", ""]
    panels: dict[str, list[str]] = {}
    for parameter in command.params:
        shown = parameter.get_help_record(context)
        if shown:
            title = "Arguments" if parameter.param_type_name == "argument" else "Options"
            entry = [f"`{shown[0].split(' <list[')[0].strip()}`", f": {' '.join(markdown(shown[1])) or '-'}", ""]
            panels.setdefault(getattr(parameter, "rich_help_panel", None) or title, []).extend(entry)
    for title, entries in panels.items():
        yield from [f"**{title}**", "", *entries]


def markdown(text: str) -> list[str]:
    """Help, which is marked up for a terminal, as lines of Markdown; indented ones are examples and stand together."""
    bold = re.sub(r"\[/?bold\]", "**", text.strip().replace("\b", "")).replace("\\[", "[")
    lines: list[str] = []
    for line in bold.splitlines():
        if line.startswith("  "):
            if len(lines) > 1 and not lines[-1] and lines[-2].startswith("    "):
                lines.pop()
            lines.append(f"    {line.strip()}")
        else:
            lines.append(escaped(line.strip()))
    return lines


def escaped(line: str) -> str:
    """What Markdown would mark up is itself, but for bold and for code in backticks."""
    line = re.sub(r"  \[default: (?:\((.*)\)|(.*?))(?:; x[^\]]*)?\]$", r" Default: \1\2.", line)
    parts = re.split(r"(`[^`]*`|\*\*)", line)
    kept = [part if part.startswith(("`", "**")) else re.sub(r"([\\*_{}\[\]<>#|$])", r"\\\1", part) for part in parts]
    return "".join(kept)
