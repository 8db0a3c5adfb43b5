"""Labels in scripts that a model cannot read."""

from collections.abc import Collection, Sequence
from unicodedata import name

from ..fields import shown as quoted

SHOWN = 3


def unreadable_labels(labels: Sequence[str], scripts: Collection[str]) -> list[str]:
    """The labels with a letter of another script than these, by the first word of Unicode's names: latin, cyrillic."""
    known = {script.upper() for script in scripts}
    return [
        label
        for label in labels
        if any(letter.isalpha() and name(letter, "").partition(" ")[0] not in known for letter in label)
    ]


def script_warning(labels: Sequence[str], scripts: Collection[str], *, model: str) -> str | None:
    """What to say about labels that the model cannot read; None where there are none, or it does not say."""
    found = unreadable_labels(labels, scripts) if scripts else []
    if not found:
        return None
    shown = ", ".join(quoted(label) for label in found[:SHOWN]) + (", ..." if len(found) > SHOWN else "")
    return (
        f"{model} reads labels in {' and '.join(scripts)} letters only, and English at that: {shown} will be guessed. "
        "Give the labels in English."
    )
