"""Views of photographs to calibrate an exported model on, and to compare it on."""

from collections.abc import Callable, Sequence

import numpy as np

from ...arrays import UInt8
from ...errors import ImageError, UsageError
from ...images.photo import open_photo
from ...images.spec import ImageSpec
from ...rng import sample_rng
from ...views.crops import sample_views
from ...views.draw import render_views

MOST_IMAGES = 64


def calibration_views(paths: Sequence[str], spec: ImageSpec, *, n_views: int, report: Callable[[str], None]) -> UInt8:
    """Views (views, size, size, 3) of at most 64 of the images, evenly spaced; the same every time.

    Args:
        paths: Image files; UsageError where none of them can be read.
        spec: How the model wants its views rendered.
        n_views: Views per image.
        report: Called with a line for each image that cannot be read and is left out.
    """
    drawn = []
    for path in paths[:: max(1, len(paths) // MOST_IMAGES)][:MOST_IMAGES]:
        try:
            photo = open_photo(path)
            rng = sample_rng(seed=0, dataset="export", key=photo.key)
            drawn.append(render_views(photo, sample_views(photo.size, spec, n_views=n_views, rng=rng), spec))
        except ImageError as error:
            report(str(error))
    if not drawn:
        raise UsageError("none of the images can be read; give others with --images.")
    return np.concatenate(drawn)
