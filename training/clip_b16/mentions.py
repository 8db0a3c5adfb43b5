"""What is on a captioned photograph: the nouns that people used of it, and what those are kinds of in WordNet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.wordnet import PHYSICAL, read_first_senses, read_nouns

WORDNET = Path("/usr/share/wordnet")
AGREE = 2  # captions that must mention a thing
TOP = 3  # lexicographer file of the most general nouns, "person" and "animal" among them
WORD = re.compile(r"[a-z]+(?:[-'][a-z]+)*")
IRREGULAR = {"people": "person"}  # to WordNet a group


class Nouns:
    """Nouns for things one can see, in their commonest sense, and the words for all that they are kinds of."""

    def __init__(self, folder: Path) -> None:
        self._nouns, self._first = read_nouns(folder), read_first_senses(folder)
        lines = (folder / "index.adj").read_text(encoding="utf-8").splitlines()
        self._adjectives = {line.split()[0] for line in lines if not line.startswith(" ")}  # "white" is a person, too
        lines = (folder / "noun.exc").read_text(encoding="utf-8").splitlines()
        self._singular = {form: base for form, base, *_ in map(str.split, lines)} | IRREGULAR
        self._words: dict[str, frozenset[str]] = {}

    def words(self, caption: str) -> set[str]:
        """Every word that is true of what the caption mentions; a pair of words that is a noun is taken as one."""
        tokens, found, i = WORD.findall(caption.lower()), set(), 0
        while i < len(tokens):
            pair = self.above(" ".join(tokens[i : i + 2])) if i + 1 < len(tokens) else frozenset()
            found |= pair or self.above(tokens[i])
            i += 2 if pair else 1
        return found

    def above(self, noun: str) -> frozenset[str]:
        """The words for the noun's sense and its hypernyms; none where it is no thing."""
        if noun not in self._words:
            self._words[noun] = next((found for form in self._forms(noun) if (found := self._climb(form))), frozenset())
        return self._words[noun]

    def _forms(self, noun: str) -> Iterable[str]:
        yield self._singular.get(noun, noun)
        yield from (noun.removesuffix(ending) for ending in ("s", "es") if noun.endswith(ending))

    def _climb(self, noun: str) -> frozenset[str]:
        offset = self._first.get(noun)
        if offset is None or noun in self._adjectives or self._nouns[offset].file not in PHYSICAL | {TOP}:
            return frozenset()
        found, stack = set(), [offset]
        while stack:
            synset = self._nouns[stack.pop()]
            found.update(lemma.lower() for lemma in synset.lemmas)
            stack += [parent for parent in synset.parents if self._nouns[parent].file in PHYSICAL | {TOP}]
        return frozenset(found)


def true_words(captions: Iterable[Sequence[str]], folder: Path) -> list[frozenset[str]]:
    """For every photograph the words that at least two of its captions make true; none without captions."""
    nouns, found = Nouns(folder), []
    for lines in captions:
        counts = Counter(word for line in lines for word in nouns.words(line))
        found.append(frozenset(word for word, count in counts.items() if count >= AGREE))
    return found


def shares_of(words: Sequence[frozenset[str]], names: Sequence[Sequence[str]]) -> NDArray[np.float32]:
    """How a photograph's mentions are spread over named things (photographs, things); rows of none are zero."""
    rows: dict[str, list[int]] = {}
    for row, synonyms in enumerate(names):
        for name in synonyms:
            rows.setdefault(name.lower(), []).append(row)
    shares = np.zeros((len(words), len(names)), np.float32)
    for photo, true in enumerate(words):
        for word in true & rows.keys():
            shares[photo, rows[word]] = 1
    return shares / np.maximum(shares.sum(1, keepdims=True), 1)
