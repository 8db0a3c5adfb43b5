"""Which views of an image a model looks at."""

from dataclasses import dataclass
from pathlib import Path

from ..encoders import Encoder
from ..encoders.base import DrawsViews
from ..images.photo import ImageLimits, ImageSource
from ..views.sample import Augment, Keyed, Sample, prepare


@dataclass(frozen=True)
class ViewPlan:
    """A model and the views it is shown: `n_views` of each image, drawn as `augment` says, from `seed`.

    limits     what images are accepted
    cache_dir  where measured batch sizes are kept; None is the cache folder
    """

    encoder: Encoder
    n_views: int
    seed: int = 0
    augment: Augment = "crops"
    limits: ImageLimits | None = None
    cache_dir: Path | None = None

    def prepare(self, image: ImageSource | Keyed, *, first: int | None = None) -> Sample:
        """An image read, and its `first` views drawn (None: all, 0: none yet)."""
        keyed = image if isinstance(image, Keyed) else Keyed(image, key=None)
        drawer = self.encoder
        return prepare(
            keyed.image,
            self.encoder.image_spec,
            n_views=self.n_views,
            seed=self.seed,
            dataset=keyed.dataset,
            key=keyed.key,
            limits=self.limits,
            augment=self.augment,
            first=first,
            draw_views=drawer.draw_views if isinstance(drawer, DrawsViews) and drawer.draws_views else None,
        )
