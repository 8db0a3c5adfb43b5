"""What there is to doubt about a set of labels, before any photo is asked: one sentence each, for a warning."""

import logging
import re
from collections.abc import Callable, Sequence

from ..fields import shown
from .nonsense import is_nonsense

logger = logging.getLogger("viewvote.labels")

SHOWN = 3
_NO_NAMES = """
    else, misc, miscellaneous, n a, neither, no match, none, none of them, none of the above, none of these, not sure,
    not applicable, nothing, nothing else, null, other, others, something else, anything else, everything else, tbd,
    undefined, unknown, unlabeled, unlabelled
"""
_STAND_INS = frozenset(" ".join(name.split()) for name in _NO_NAMES.split(","))
_ADD_NONE = "With --none (none_of_these=True) the answer can be that a photo shows none of the labels."


def warn_of_labels(labels: Sequence[str], *, named: bool, none_of_these: bool, multi_label: bool) -> None:
    """Log what there is to doubt (`label_doubts`)."""
    for doubt in label_doubts(labels, named=named, none_of_these=none_of_these, multi_label=multi_label):
        logger.warning(doubt)


def label_doubts(
    labels: Sequence[str], *, named: bool = True, none_of_these: bool = False, multi_label: bool = False
) -> list[str]:
    """What to warn of: a single label, labels without a meaning, labels for "none", and labels that are spelt twice.

    `none_of_these` and `multi_label` say what is asked beside the vote: both can answer that no label is there. Labels
    that the model does not read, as they have texts of their own, are not `named`.
    """
    doubts = []
    if len(labels) == 1 and not none_of_these and not multi_label:
        doubts.append(
            f"{shown(labels[0])} is the only label, so it is the answer to every photo. Give others to choose from. "
            + _ADD_NONE
        )
    if not named:
        return doubts
    if found := _shown(labels, is_nonsense):
        doubts.append(
            f"no word can be read in {found}: photos get such a label by chance, or never. Give names of what photos "
            "show." + ("" if none_of_these else f" {_ADD_NONE}")
        )
    if found := _shown(labels, lambda label: _plain(label) in _STAND_INS):
        doubts.append(
            f"{found} names nothing that a photo shows, and is compared with photos as if it did. Leave it out. "
            + _ADD_NONE
        )
    return doubts + [
        f"{shown(first)} and {shown(second)} differ in spelling only: photos of one get either, and both look half as "
        "likely. Keep one of them."
        for first, second in _twice(labels)[:SHOWN]
    ]


def _shown(labels: Sequence[str], doubtful: Callable[[str], bool]) -> str:
    """The first of the doubtful labels; empty if there are none."""
    found = [label for label in labels if doubtful(label)]
    return ", ".join(map(shown, found[:SHOWN])) + (", ..." if len(found) > SHOWN else "")


def _twice(labels: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of different labels that are the same but for capitals, spaces, hyphens and underscores."""
    first: dict[str, str] = {}
    pairs = ((first.setdefault(_plain(label), label), label) for label in labels)
    return [pair for pair in pairs if pair[0] != pair[1]]


def _plain(label: str) -> str:
    return " ".join(re.split(r"[\s_/-]+", label.casefold())).strip(" .")
