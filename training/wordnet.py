"""WordNet's nouns: lemmas, hypernyms and glosses, read from its database files."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path

PHYSICAL = frozenset({5, 6, 13, 18, 20})  # lexicographer files: animal, artifact, food, person, plant


@dataclass(frozen=True)
class Synset:
    """A noun concept: its words, the offsets of its hypernyms, its lexicographer file, the start of its gloss."""

    lemmas: tuple[str, ...]
    parents: tuple[int, ...]
    file: int
    gloss: str


def read_nouns(folder: Path) -> dict[int, Synset]:
    """Every noun synset by its offset (an ImageNet id is 'n' and that offset)."""
    nouns = {}
    for line in (folder / "data.noun").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            continue
        record, gloss = line.split(" | ", 1)
        fields = record.split()
        n_words = int(fields[3], 16)
        lemmas = tuple(word.replace("_", " ") for word in fields[4 : 4 + 2 * n_words : 2])
        pointers = fields[5 + 2 * n_words :]
        n_pointers = int(fields[4 + 2 * n_words])
        parents = tuple(int(pointers[i + 1]) for i in range(0, 4 * n_pointers, 4) if pointers[i] in ("@", "@i"))
        nouns[int(fields[0])] = Synset(lemmas, parents, int(fields[1]), gloss.split(";")[0].strip())
    return nouns


def read_first_senses(folder: Path) -> dict[str, int]:
    """The commonest noun sense of every word."""
    lines = (folder / "index.noun").read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if not line.startswith(" ")]
    return {row[0].replace("_", " "): int(row[-int(row[2])]) for row in rows}


def leaves_below(nouns: dict[int, Synset], leaves: list[int]) -> dict[int, frozenset[int]]:
    """For the leaves and each of their ancestors, the indices of the leaves it contains."""
    below: dict[int, set[int]] = {}
    for index, offset in enumerate(leaves):
        stack, seen = [offset], set()
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                below.setdefault(node, set()).add(index)
                stack.extend(nouns[node].parents)
    return {node: frozenset(found) for node, found in below.items()}


def nearest_kin(nouns: dict[int, Synset], below: Mapping[int, Set[int]], offset: int, *, steps: int) -> Set[int]:
    """What lies below the nearest hypernym that has any, at most `steps` above; empty when there is none."""
    level = set(nouns[offset].parents)
    for _ in range(steps):
        found = [below[node] for node in level if node in below]
        if found:
            return min(found, key=len)
        level = {parent for node in level for parent in nouns[node].parents}
    return frozenset()
