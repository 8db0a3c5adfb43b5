"""`classify --features`: images that were encoded before, in place of files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..classify.classifier import Classifier
from ..classify.feature_files import open_features
from ..classify.features import Features
from ..classify.recall import recall_each
from ..errors import UsageError
from ..prediction import Prediction
from .classify import ClassifyOptions
from .guard import complain


@dataclass(frozen=True)
class KnownImages:
    """The images of a folder of features, by their paths."""

    features: Features
    positions: dict[str, int]

    @classmethod
    def of(cls, asked: ClassifyOptions) -> "KnownImages":
        """The images in --features."""
        if asked.features is None or asked.images or asked.watch is not None:
            raise UsageError("--features stands in place of images and of --watch; give one of them.")
        if asked.batch_views is not None:
            raise UsageError("--batch-views is of images: with --features no view is encoded.")
        features = open_features(asked.features)
        if not features.complete:
            complain(
                f"{asked.features} is unfinished: {len(features)} images; `viewvote encode --resume` continues it."
            )
        return cls(features, {path or f"image {i}": i for i, path in enumerate(features.paths)})

    @property
    def paths(self) -> list[str]:
        """What the images are called."""
        return list(self.positions)

    def completed(self, asked: ClassifyOptions) -> ClassifyOptions:
        """The options, with what the features were made with where nothing is said."""
        made = self.features.encoding
        return replace(
            asked,
            model=asked.model or made.model,
            views=asked.views or str(made.n_views),
            augment=asked.augment or made.augment,
            seed=made.seed if asked.seed is None else asked.seed,
        )

    def predict(self, classifier: Classifier, paths: Sequence[str]) -> Iterator[Prediction]:
        """The predictions for these of the images."""
        images = (self.features[self.positions[path]] for path in paths)
        return recall_each(classifier, self.features.encoding, images)
