"""What a head fitted without some of the photographs makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.clip_b16.fit_head import Head, Split, Views
from training.clip_b16.label_texts import CLASSES, Texts
from training.fit_joint import fit_scale
from training.photos import Array


def first_views(views: Views) -> NDArray[np.bool_]:
    """Which is each photograph's first view, the source view."""
    first = np.zeros(len(views.photo), bool)
    first[np.unique(views.photo, return_index=True)[1]] = True
    return first


def accuracy(views: Views, directions: Array, classes: NDArray[np.int64]) -> str:
    """Of source views and of crops, among these classes; `directions` are those of all."""
    hits = classes[(views.features @ directions[classes].T).argmax(1)] == views.labels
    first = first_views(views)
    crops = f", {100 * hits[~first].mean():.1f}% of {(~first).sum()} crops" if not first.all() else ""
    return f"{100 * hits[first].mean():.1f}% of {first.sum()} source views{crops}"


@dataclass(frozen=True)
class Rehearsal:
    """The views held out."""

    seen: Views  # of classes with other photographs
    novel: Views  # of classes with none
    told: Views  # of photographs with captions, source views only
    captions: Array  # (told, sentence dim) the first of each
    mentioned: Array  # (told, names with a CLIP text vector that are no class) what captions mention
    names: Array  # (names with a CLIP text vector, sentence dim), classes first

    @classmethod
    def of(cls, views: Views, split: Split, texts: Texts, mentioned: Array) -> Rehearsal:
        """From all views; `mentioned` has a row for every photograph and a column for every name."""
        unseen, novel = views.of(split.unseen), views.of(split.novel)
        told = unseen.where((unseen.labels < 0) & first_views(unseen))
        captions = texts.sentences[[texts.captions[photo][0] for photo in told.photo]]
        named = mentioned[told.photo, CLASSES:]
        return cls(unseen.where(unseen.labels >= 0), novel, told, captions, named, texts.sentences[texts.known])

    def report(self, head: Head) -> str:
        """Accuracies, mentioned things named, and captions found among all."""
        directions = head.directions(self.names)
        match = self.told.features @ head.directions(self.captions).T
        found = (100 * (match.argmax(axis) == np.arange(len(match))).mean() for axis in (1, 0))
        some = self.mentioned.any(1)
        first = (self.told.features[some] @ directions[CLASSES:].T).argmax(1)
        right = self.mentioned[some][np.arange(some.sum()), first] > 0
        own, other = (np.unique(views.labels) for views in (self.seen, self.novel))
        return (
            f"{accuracy(self.seen, directions, own)} among the {len(own)} classes shown; "
            f"{accuracy(self.novel, directions, other)} among {len(other)} classes never shown; "
            f"{100 * right.mean():.1f}% of {len(right)} captioned photographs called something their captions mention, "
            f"among {directions.shape[0] - CLASSES} names; "
            "captions found {:.1f}%, photographs {:.1f}%, of {}".format(*found, len(match))
        )

    def sharpness(self, head: Head) -> float:
        """The scale of least negative log-likelihood on the source views of classes shown."""
        source = self.seen.where(first_views(self.seen))
        classes, labels = np.unique(source.labels, return_inverse=True)
        return fit_scale(source.features, head.directions(self.names[classes]), labels)
