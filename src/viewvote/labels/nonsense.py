"""Labels in which no word can be read: keys struck at random, or signs alone.

A model places any text somewhere, so such a label wins photos by chance. A word is strange where both hold: the shipped
word pieces break it into crumbs of at most two letters, and its letters follow each other as those of words do not.
Words of the class names that ship are known, and so is what looks like an acronym or a number.
"""

import json
import re
from functools import cache

import numpy as np

from ..arrays import Float64
from ..files import shipped
from .background import BACKGROUND_NAMES
from .ordinary import ORDINARY_NAMES

CRUMB = 2
"""Pieces of so many letters on average, or fewer, are crumbs."""
STRANGE = -3.6
"""Below this mean log probability per letter a word does not read like one (docs/results/probability.md)."""
SHORTEST = 4
"""Words of fewer letters say nothing either way: emu, tux, IPA."""
LONGEST = 64
"""Of longer words so many letters are read."""
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BACKING = 5.0  # letters in a row that were seen so often count as much as what fewer letters say


def is_nonsense(label: str) -> bool:
    """Whether no word can be read in a label: one is strange at least, and none is known; or it is signs alone."""
    if not any(character.isalnum() for character in label):
        return True
    if not label.isascii():
        return False  # labels in other scripts have a warning of their own
    words = [word[:LONGEST] for word in re.findall(r"[A-Za-z]+", label)]
    if any(word.isupper() and len(word) <= SHORTEST for word in words) or any(map(str.isdigit, label)):
        return False  # a model's name or number
    long = [word.lower() for word in words if len(word) >= SHORTEST or _is_struck(word.lower())]
    short = [word.lower() for word in words if len(word) < SHORTEST and not _is_struck(word.lower())]
    return bool(long) and all(map(_is_strange, long)) and not any(word in _pieces() for word in short if len(word) > 1)


def _is_strange(word: str) -> bool:
    """Whether a word in small letters is none."""
    if _is_struck(word):
        return True
    crumbs = _count(word)
    return len(word) <= CRUMB * crumbs and word not in _known_words() and sound(word) < STRANGE


def _is_struck(word: str) -> bool:
    """Neighbouring keys in a row, or one key several times."""
    if len(word) >= 3 and len(set(word)) == 1:
        return True
    return len(word) >= SHORTEST and any(word in row or word[::-1] in row for row in _KEYS)


def sound(word: str) -> float:
    """The mean log probability of a word's letters and its end, each after the two before it, among English words."""
    codes = [0, 0, *(ord(letter) - 96 for letter in word), 0]
    return float(np.mean([_letters()[a, b, c] for a, b, c in zip(codes, codes[1:], codes[2:], strict=False)]))


def _count(word: str) -> int:
    """Into how many pieces the shipped vocabulary breaks a word: the longest that fits, again and again."""
    start, count = 0, 0
    while start < len(word):
        mark = "##" if start else ""
        ends = range(len(word), start, -1)
        start = next((end for end in ends if mark + word[start:end] in _pieces()), start + 1)
        count += 1
    return count


@cache
def _pieces() -> frozenset[str]:
    """The word pieces that the embedded model reads; those inside a word begin with ##."""
    text = (shipped("models/pocket") / "tokenizer.json").read_text(encoding="utf-8")
    return frozenset(json.loads(text)["model"]["vocab"])


@cache
def _known_words() -> frozenset[str]:
    """The words of names that ship."""
    text = (shipped("datasets/data") / "classes.json").read_text(encoding="utf-8")
    lists = [entry.get("names", []) for entry in json.loads(text).values()]
    names = " ".join([*ORDINARY_NAMES, *BACKGROUND_NAMES, *(name for names in lists for name in names)])
    return frozenset(re.findall(r"[a-z]+", names.lower()))


@cache
def _letters() -> Float64:
    """Log probabilities of a letter after two others (27, 27, 27), 0 the start and end of a word, from whole pieces."""
    words = [piece for piece in sorted(_pieces()) if re.fullmatch(rf"[a-z]{{{SHORTEST},}}", piece)]
    codes = np.frombuffer(("``" + "``".join(words) + "`").encode("ascii"), dtype=np.uint8).astype(np.int64) - 96
    a, b, c = codes[:-2], codes[1:-1], codes[2:]
    one = (b != 0) | (c != 0)  # not from a word's end to the next one's start
    counts = np.bincount((a * 27 + b)[one] * 27 + c[one], minlength=27**3).reshape(27, 27, 27).astype(np.float64)
    found = np.full(27, 1 / 27)
    for table in (counts.sum(axis=(0, 1)), counts.sum(axis=0), counts):
        found = (table + _BACKING * found) / (table.sum(axis=-1, keepdims=True) + _BACKING)
    logs: Float64 = np.log(found)
    return logs
