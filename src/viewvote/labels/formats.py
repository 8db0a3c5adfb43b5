"""Labels out of the text of a file, in each format."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence

from .texts import Labels

LABEL_COLUMNS = ("label", "labels", "class", "classes", "class_name", "classname", "category", "name")
TEXT_KEYS = ("texts", "text", "descriptions", "description", "prompts")
LONGEST = 300
"""Characters of a label; longer lines are not labels but something else's."""

_NOT_LABELS = ("<!doctype", "<html", "<?xml", "%pdf", "{\\rtf")


class NotLabelsError(Exception):
    """Why a text cannot be labels, for the reader of the file to complete."""


def lines_of(text: str) -> list[str]:
    """The lines, whatever system wrote them; other separators of Unicode may be part of a label."""
    return re.split(r"\r\n|\r|\n", text.strip("\r\n")) if text.strip() else []


def from_text(text: str) -> list[str]:
    """A label a line, without empty lines and comments."""
    labels = []
    for number, line in enumerate(lines_of(text), 1):
        label = line.strip()
        if len(label) > LONGEST and not label.startswith("#"):
            raise NotLabelsError(f"line {number} has {len(label):,} characters; expected a label a line")
        if label and not label.startswith("#"):
            labels.append(label)
    if labels and labels[0].lower().startswith(_NOT_LABELS):
        raise NotLabelsError("it is a document; expected a label a line")
    return labels


def from_table(text: str, *, column: str | None) -> list[str]:
    """The different labels in a column, in the order of the rows.

    Without `column` it is the one whose header names labels, or the only one. A first row without such a name is a row
    like the others.
    """
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)) if any(row)]
    except csv.Error as error:
        raise NotLabelsError(f"it is no table ({error})") from error
    if not rows:
        return []
    place, header = _column(rows[0], column)
    cells = (row[place].strip() for row in rows[header:] if len(row) > place)
    return _short(dict.fromkeys(cell for cell in cells if cell))


def from_json(text: str, *, column: str | None) -> Labels:
    """A list of labels or of objects, or a mapping from label to texts; {"labels": [...]} is that list."""
    value = _loaded(text)
    if isinstance(value, dict):
        (key, inner), *others = value.items() or [("", None)]
        if not others and key.lower() in LABEL_COLUMNS and isinstance(inner, (list, dict)):
            value = inner
    if isinstance(value, dict):
        return {label: _texts(label, texts) for label, texts in value.items()}
    if not isinstance(value, list):
        raise NotLabelsError(f"it holds one {type(value).__name__}; expected a list of labels, or label to texts")
    return _entries(value, column)


def from_json_lines(text: str, *, column: str | None) -> Labels:
    """A label or an object in each line."""
    lines = [line for line in lines_of(text) if line.strip() and not line.lstrip().startswith("#")]
    return _entries([_loaded(line) for line in lines], column)


def _entries(values: Sequence[object], column: str | None) -> Labels:
    """The labels of a list whose entries are labels, or objects with a label and perhaps texts."""
    found: dict[str, list[str] | None] = {}
    for number, value in enumerate(values, 1):
        label, texts = (value, None) if isinstance(value, str) else _entry(value, number, column)
        if label in found:
            raise NotLabelsError(f"it has {label!r} twice")
        found[label] = texts
    if all(texts is None for texts in found.values()):
        return _short(found)
    return {label: [label] if texts is None else texts for label, texts in found.items()}


def _entry(value: object, number: int, column: str | None) -> tuple[str, list[str] | None]:
    if not isinstance(value, dict):
        raise NotLabelsError(f"entry {number} is {_briefly(value)}; expected a label, or an object with a label")
    names = LABEL_COLUMNS if column is None else (column,)
    label = next((value[name] for name in names if name in value), None)
    if not isinstance(label, str):
        raise NotLabelsError(
            f"entry {number} has no {' or '.join(names[:1])}, only {', '.join(value) or 'nothing'}; "
            "name the key with --labels-column"
        )
    texts = next((value[key] for key in TEXT_KEYS if key in value), None)
    return label.strip(), None if texts is None else _texts(label, texts)


def _texts(label: str, texts: object) -> list[str]:
    found = [texts] if isinstance(texts, str) else texts
    if not isinstance(found, list) or not found or not all(isinstance(text, str) and text.strip() for text in found):
        raise NotLabelsError(f"{label!r} has {_briefly(texts)}; expected a text or a list of texts")
    return found


def _loaded(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_different)
    except ValueError as error:
        raise NotLabelsError(f"it is not valid JSON ({error})") from error
    except RecursionError as error:
        raise NotLabelsError("its JSON is nested too deeply") from error


def _different(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON, whose keys must differ: of two the parser would keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise NotLabelsError(f"it has {next(key for key in keys if keys.count(key) > 1)!r} twice")
    return found


def _delimiter(text: str) -> str:
    """What separates the cells: spreadsheets of many countries write semicolons."""
    first = next(iter(lines_of(text)), "")
    return max(",;\t", key=first.count)


def _column(first: Sequence[str], asked: str | None) -> tuple[int, int]:
    """The column that holds the labels, and how many rows are a header."""
    names = [cell.strip().lower() for cell in first]
    known = [place for name in LABEL_COLUMNS for place, cell in enumerate(names) if cell == name]
    if asked is None:
        if known:
            return known[0], 1
        if len(first) == 1:
            return 0, 0
        raise NotLabelsError(
            f"its columns are {', '.join(first)} and none is called label; name one with --labels-column, "
            "or give its number"
        )
    if asked.strip().lower() in names:
        return names.index(asked.strip().lower()), 1
    if asked.isdecimal() and 1 <= int(asked) <= len(first):
        return int(asked) - 1, 1 if known else 0
    raise NotLabelsError(f"it has no column {asked!r}; its columns are {', '.join(first)}")


def _short(labels: Iterable[str]) -> list[str]:
    found = [*labels]
    for label in found:
        if len(label) > LONGEST:
            raise NotLabelsError(f"a label has {len(label):,} characters; expected a few words")
    return found


def _briefly(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
