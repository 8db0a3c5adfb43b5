"""Labels with texts of their own: several names for one answer, or sentences that describe it."""

from collections.abc import Mapping, Sequence

from ..errors import UsageError
from .names import checked_labels, has_half_characters
from .templates import fill

Labels = Sequence[str] | Mapping[str, str | Sequence[str]]
"""The answers to choose from; as a mapping, from each answer to its text or texts."""

ClassTexts = str | tuple[str, ...]
"""What stands for one class: its name, or the texts of its own."""

ARTICLES = frozenset(["a", "an", "the"])
FULL_STOPS = (".", "!", "?")
SENTENCE_WORDS = 8
"""Longer than names are: of the 1,565 class names of the paper's datasets none has as many words."""


def checked_texts(labels: Labels, *, unique: bool = True) -> tuple[tuple[str, ...], tuple[ClassTexts, ...]]:
    """The answers, and what stands for each; UsageError where either is not text.

    A label without texts, or whose only text is its name, is the same as in a plain list.
    """
    if not isinstance(labels, Mapping):
        names = checked_labels(labels, unique=unique)
        return names, names
    names = checked_labels([*labels], unique=unique)
    return names, tuple(name if (own := _own_texts(name, labels[name])) == (name,) else own for name in names)


def is_description(text: str) -> bool:
    """Whether a label's own text is encoded as it stands; every other one is a name and goes into the templates.

    A description starts with an article ("a kitten"), ends as a sentence of three words or more does, or has
    `SENTENCE_WORDS` words: "a photo of a {}." around it would be no English.
    """
    words = text.split()
    if len(words) > 1 and words[0].lower() in ARTICLES:
        return True
    return len(words) >= SENTENCE_WORDS or (len(words) > 2 and text.rstrip(" \"'”’)").endswith(FULL_STOPS))


def prompts_of(texts: ClassTexts, templates: Sequence[str]) -> list[list[str]]:
    """The prompts of one class, by text: a name in every template, a description by itself."""
    if isinstance(texts, str):
        return [[fill(template, texts) for template in templates]]
    return [[text] if is_description(text) else [fill(template, text) for template in templates] for text in texts]


def _own_texts(label: str, texts: object) -> tuple[str, ...]:
    found = (texts,) if isinstance(texts, str) else texts
    if not isinstance(found, Sequence) or isinstance(found, (bytes, bytearray)) or not found:
        raise UsageError(
            f"label {label!r} has {texts!r}; expected its text, or a list of texts: ['a cat', 'a kitten']."
        )
    for text in found:
        if not isinstance(text, str) or not text.strip():
            raise UsageError(
                f"label {label!r} has the text {text!r}; every text must be a string with something in it."
            )
        if has_half_characters(text):
            raise UsageError(
                f"label {label!r} has {text!r}, which is not text: half a character is in it. Is it UTF-8?"
            )
    return tuple(dict.fromkeys(text.strip() for text in found))
