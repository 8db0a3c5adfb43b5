"""The call transformers users know: `pipeline("zero-shot-image-classification")(image, candidate_labels=[...])`."""

from collections.abc import Sequence
from typing import Any

from ..encoders import Encoder, LoadOptions, load_encoder
from ..errors import UsageError
from ..images.photo import ImageSource
from ..registry import unknown_name
from ..stopping.options import Views
from .classifier import Classifier

TASK = "zero-shot-image-classification"


class ZeroShotImageClassification:
    """Callable as transformers' pipeline of that name; the text head of the last labels is kept."""

    def __init__(
        self,
        encoder: Encoder,
        *,
        method: str = "auto",
        n_views: Views = "auto",
        keep: float | None = None,
        teacher: Encoder | None = None,
        seed: int = 0,
    ) -> None:
        self.encoder = encoder
        self.method = method
        self.n_views = n_views
        self.keep = keep
        self.teacher = teacher
        self.seed = seed
        self._classifier: Classifier | None = None
        self._asked: tuple[list[str], str | None] | None = None

    def __call__(
        self,
        image: ImageSource | Sequence[ImageSource],
        candidate_labels: Sequence[str] | str,
        *,
        hypothesis_template: str | None = None,
    ) -> list[Any]:
        """[{"score", "label"}, ...] from best to worst for one image; a list of those for a list of images.

        Without a template it is "a photo of a {}.", except for methods that bring their own ("ensemble").
        """
        classifier = self._for(_split(candidate_labels), hypothesis_template)
        images: Sequence[ImageSource] = image if isinstance(image, (list, tuple)) else [image]  # type: ignore[list-item]
        answers = [
            [{"score": float(p.probabilities[i]), "label": p.labels[i]} for i in p.ranking()]
            for p in classifier.predict_many(images)
        ]
        return answers if isinstance(image, (list, tuple)) else answers[0]

    def _for(self, labels: list[str], template: str | None) -> Classifier:
        if template is not None and "{}" not in template:
            raise UsageError(f"hypothesis_template {template!r} has no {{}} where the label belongs.")
        if self._classifier is None or self._asked != (labels, template):
            self._classifier = Classifier(
                self.encoder,
                labels=labels,
                method=self.method,
                n_views=self.n_views,
                keep=self.keep,
                templates=None if template is None else [template],
                teacher=self.teacher,
                seed=self.seed,
            )
            self._asked = (labels, template)
        return self._classifier


def pipeline(
    task: str = TASK,
    model: str | Encoder = "pocket",
    *,
    method: str = "auto",
    n_views: Views = "auto",
    keep: float | None = None,
    teacher: str | Encoder | None = None,
    seed: int = 0,
    options: LoadOptions | None = None,
) -> ZeroShotImageClassification:
    """A zero-shot image classifier in transformers' shape; the only task is "zero-shot-image-classification"."""
    if task != TASK:
        raise unknown_name("task", task, [TASK])
    return ZeroShotImageClassification(
        load_encoder(model, options) if isinstance(model, str) else model,
        method=method,
        n_views=n_views,
        keep=keep,
        teacher=load_encoder(teacher, options) if isinstance(teacher, str) else teacher,
        seed=seed,
    )


def _split(labels: Sequence[str] | str) -> list[str]:
    return [label.strip() for label in labels.split(",")] if isinstance(labels, str) else list(labels)
