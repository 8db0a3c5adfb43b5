"""Images encoded once, to be asked about as often as wanted: the features of their views and what those follow from."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, overload
from zlib import crc32

import numpy as np

from ..arrays import Float32
from ..encoders.probe import probe, same_probe
from ..errors import FeaturesError, UsageError, ViewvoteError
from ..views.sample import Augment
from .scheduler import cut_inside_block
from .view_plan import ViewPlan


@dataclass(frozen=True)
class Encoding:
    """How features were made.

    model        the id of the model; `fingerprint` and `probe` are of its text side and its image tower
    dim          numbers of a view's features
    n_views      views of each image, the source view among them
    seed         the seed of the views
    augment      how they were drawn
    block_views  how many of them were computed together; None where that is not known
    """

    model: str
    fingerprint: str
    probe: tuple[float, ...]
    dim: int
    n_views: int
    seed: int
    augment: Augment
    block_views: int | None

    @classmethod
    def of(cls, plan: ViewPlan) -> "Encoding":
        """How features of these views are made."""
        encoder = plan.encoder
        return cls(
            model=encoder.model_id,
            fingerprint=encoder.fingerprint,
            probe=tuple(probe(encoder)),
            dim=encoder.dim,
            n_views=plan.n_views,
            seed=plan.seed,
            augment=plan.augment,
            block_views=encoder.block_views,
        )

    def difference(self, other: "Encoding") -> str | None:
        """The first thing in which another encoding is not this one, in words; None where they are one."""
        for name in ("model", "seed", "augment", "fingerprint"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                return f"{name} {mine!r}, not {its!r}"
        if (self.dim, self.block_views) != (other.dim, other.block_views) or not same_probe(self.probe, other.probe):
            return "another image tower or precision of the model"
        return None

    def check_views(self, ends: Sequence[int]) -> None:
        """Raise UsageError unless each image has the features of its first views, for each number of them in `ends`."""
        if ends[-1] > self.n_views:
            raise UsageError(
                f"the features hold {self.n_views} views of each image and {ends[-1]} are asked for; "
                f"ask for n_views={self.n_views}, or encode the images again with more."
            )
        block, cut = self.block_views, cut_inside_block(ends, self.n_views, self.block_views)
        if cut is not None:
            known = f"multiples of {block}" if block else "no fewer than all"
            raise UsageError(
                f"the first {cut} of {self.n_views} views have other last bits when encoded by themselves: "
                f"{self.model} computes views together. Ask for n_views={self.n_views} ({known} would do too), "
                "without adaptive views where they end elsewhere."
            )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return asdict(self) | {"probe": list(self.probe)}


@dataclass(frozen=True)
class ImageFacts:
    """What the views of an encoded image follow from: its size (width, height), and its key in its dataset.

    `path` is where it was read, None where it was not a file. `checksum` is a CRC-32 of its features as stored.
    """

    key: str
    size: tuple[int, int]
    dataset: str = ""
    path: str | None = None
    checksum: int | None = None


@dataclass(frozen=True, eq=False)
class EncodedImage:
    """An image as its unit features (views, dim)."""

    facts: ImageFacts
    features: Float32


class Rows(Protocol):
    """The features (views, dim) by image: a list in memory, or an array (images, views, dim) mapped from a file."""

    def __getitem__(self, position: int, /) -> Float32:
        """Those of one image."""
        ...


class Features(Sequence[EncodedImage]):
    """Encoded images, in order, as `Classifier.encode` and `open_features` return them.

    encoding  how they were made
    facts     what is known of each image
    rows      the features of each
    skipped   the errors of the images that could not be encoded
    complete  False for a folder whose writing has not ended
    name      what errors call them
    """

    def __init__(
        self,
        encoding: Encoding,
        facts: Sequence[ImageFacts],
        rows: Rows,
        *,
        skipped: Sequence[ViewvoteError] = (),
        complete: bool = True,
        name: str = "the features",
    ) -> None:
        self.encoding = encoding
        self.facts = tuple(facts)
        self.rows = rows
        self.skipped = tuple(skipped)
        self.complete = complete
        self.name = name

    def __repr__(self) -> str:
        made = self.encoding
        end = "" if self.complete else ", unfinished"
        return f"Features({len(self)} images x {made.n_views} views x {made.dim}, {made.model!r}{end})"

    @property
    def paths(self) -> tuple[str | None, ...]:
        """Where each image was read."""
        return tuple(one.path for one in self.facts)

    def __len__(self) -> int:
        return len(self.facts)

    @overload
    def __getitem__(self, position: int) -> EncodedImage: ...

    @overload
    def __getitem__(self, position: slice) -> "list[EncodedImage]": ...

    def __getitem__(self, position: int | slice) -> "EncodedImage | list[EncodedImage]":
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        facts = self.facts[position]
        features = self.rows[position]
        if facts.checksum is not None and crc32(np.ascontiguousarray(features).data) != facts.checksum:
            raise FeaturesError(
                f"the features of {facts.path or f'image {position}'} in {self.name} are damaged; "
                "`viewvote encode --resume` encodes the images from there on again."
            )
        return EncodedImage(facts, features)

    def __iter__(self) -> Iterator[EncodedImage]:
        return (self[i] for i in range(len(self)))


def checked_features(features: object) -> Features:
    """The features; UsageError for anything else."""
    if not isinstance(features, Features):
        kind = type(features).__name__
        raise UsageError(f"features are what clf.encode or viewvote.open_features returned; got a {kind}.")
    return features
