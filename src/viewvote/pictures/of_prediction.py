"""The picture of a prediction by itself: its image is found, drawn, saved, or shown in a notebook."""

from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any

from PIL import Image

from ..errors import UsageError, ViewvoteError
from ..images.photo import ImageSource
from ..prediction import Prediction
from .compact import save_webp, webp
from .explain import explain

SUFFIXES = (".png", ".webp", ".jpg", ".jpeg")
NOTEBOOK_WIDTH = 960
NOTEBOOK_LABELS = 5


def picture_of(prediction: Prediction, image: ImageSource | None = None) -> Image.Image:
    """What `Prediction.explain` returns."""
    return explain(image_of(prediction) if image is None else image, prediction)


def save_picture(prediction: Prediction, path: str | Path, image: ImageSource | None = None) -> Path:
    """What `Prediction.save_explanation` does."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"an explanation is a picture that ends in {', '.join(SUFFIXES)}; got {path.name!r}.")
    picture = picture_of(prediction, image)
    try:
        if path.suffix.lower() == ".webp":
            save_webp(picture, path)
        else:
            picture.save(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}.") from error
    return path


def image_of(prediction: Prediction) -> Any:
    """The image that was classified: the object itself while it lives, else the file; UsageError where there is none.

    A prediction keeps no image alive: a program that classifies frames and keeps the answers must not keep the frames.
    """
    held = None if prediction.source is None else prediction.source()
    if held is not None:
        return held
    if prediction.path is None or "://" in prediction.path or prediction.path == "-":
        raise UsageError(
            "the image of this prediction is not at hand: predictions know the path of an image, or the object they "
            "were given as long as it lives. Give the image: prediction.explain(image)."
        )
    return prediction.path


def html_of(prediction: Prediction) -> str:
    """A line and the picture, which is part of the text; without an image at hand, a table of the likeliest labels."""
    title = f"<div><b>{escape(_headline(prediction))}</b></div>"
    try:
        picture = picture_of(prediction)
    except ViewvoteError:
        return f"{title}{_table(prediction)}"
    ratio = min(1.0, NOTEBOOK_WIDTH / picture.width)
    small = picture.resize((round(picture.width * ratio), round(picture.height * ratio)), Image.Resampling.LANCZOS)
    text = b64encode(webp(small)).decode("ascii")
    label = escape(_headline(prediction), quote=True)
    return f'{title}<img alt="{label}" width="{small.width}" src="data:image/webp;base64,{text}">'


def _headline(prediction: Prediction) -> str:
    name = f" ({prediction.path})" if prediction.path else ""
    votes = f", {prediction.votes_won} votes" if prediction.votes_won else ""
    return f"{prediction.label or 'no label'}: {prediction.probability:.0%} likely{votes}{name}"


def _table(prediction: Prediction) -> str:
    rows = "".join(
        f"<tr><td>{escape(prediction.labels[i])}</td><td>{prediction.probabilities[i]:.1%}</td></tr>"
        for i in prediction.ranking(NOTEBOOK_LABELS)
    )
    return f"<table>{rows}</table>"
