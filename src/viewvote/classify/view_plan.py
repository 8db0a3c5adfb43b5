"""Which views of an image a model looks at."""

import io
from dataclasses import dataclass
from pathlib import Path

from ..encoders import Encoder
from ..encoders.base import DrawsViews
from ..errors import UsageError
from ..images.photo import ImageLimits, ImageSource
from ..images.urls import fetch, is_url
from ..views.sample import Augment, Keyed, Sample, prepare


@dataclass(frozen=True)
class ViewPlan:
    """A model and the views it is shown: `n_views` of each image, drawn as `augment` says, from `seed`.

    limits       what images are accepted
    cache_dir    where measured batch sizes are kept; None is the cache folder
    url_seconds  how long an image behind an address may take to arrive; None: addresses are refused
    """

    encoder: Encoder
    n_views: int
    seed: int = 0
    augment: Augment = "crops"
    limits: ImageLimits | None = None
    cache_dir: Path | None = None
    url_seconds: float | None = None

    def prepare(self, image: ImageSource | Keyed, *, first: int | None = None) -> Sample:
        """An image read, and its `first` views drawn (None: all, 0: none yet)."""
        keyed = image if isinstance(image, Keyed) else Keyed(image, key=None)
        source, drawer = keyed.image, self.encoder
        if is_url(source):
            source = self._fetched(source)
        sample = prepare(
            source,
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
        if is_url(keyed.image):
            sample.path = keyed.image
        return sample

    def _fetched(self, url: str) -> io.BytesIO:
        if self.url_seconds is None:
            raise UsageError(
                f"{url} is an address, and nothing is fetched unless you ask for it: Classifier(..., allow_urls=True)."
            )
        return fetch(url, limits=self.limits, seconds=self.url_seconds)
