"""A ledger of what campaigns of kills found: a line of JSON for each, added when it ends; tables add them up."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fuzz.ledger import version

LEDGER = Path(__file__).parent / "results" / "kills.jsonl"

Line = dict[str, Any]


def add_campaign(command: str, seed: int, found: Line) -> Line:
    """Add a line to the ledger; returns it."""
    line = {"command": command, "version": version(), "seed": seed, **found}
    with LEDGER.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return line


def campaigns(*commands: str) -> list[Line]:
    """The lines of these commands, in their order."""
    text = LEDGER.read_text(encoding="utf-8") if LEDGER.exists() else ""
    lines = map(json.loads, text.splitlines())
    return [line for line in lines if line["command"] in commands]


def next_seed(command: str) -> int:
    """A seed that no campaign of the command had."""
    return 1 + max((line["seed"] for line in campaigns(command)), default=-1)


def alike(lines: Iterable[Line], *settings: str) -> list[tuple[list[Any], list[Line]]]:
    """The lines by what they have for these settings, in the order of the ledger."""
    found: dict[str, tuple[list[Any], list[Line]]] = {}
    for line in lines:
        values = [line[name] for name in settings]
        found.setdefault(json.dumps(values), (values, []))[1].append(line)
    return list(found.values())


def total(lines: Iterable[Line], name: str) -> int:
    """The sum of a counter; a line without it counted none."""
    return sum(line.get(name, 0) for line in lines)


def versions(lines: Iterable[Line]) -> str:
    """The versions that were attacked."""
    return ", ".join(dict.fromkeys(line["version"] for line in lines))
