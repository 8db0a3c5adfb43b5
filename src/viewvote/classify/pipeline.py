"""The call transformers users know: `pipeline("zero-shot-image-classification")(image, candidate_labels=[...])`."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from ..checks import checked_whole
from ..encoders import Encoder, LoadOptions, load_encoder
from ..errors import UsageError, ViewvoteError
from ..images.photo import ImageSource
from ..images.urls import SECONDS
from ..labels.texts import ClassTexts, Labels, checked_texts
from ..prediction import Prediction
from ..registry import unknown_name
from ..stopping.options import Views
from .classifier import Classifier
from .drop_in import device_name, full_model_id
from .each import predict_each

TASK = "zero-shot-image-classification"
KEPT = 16
"""Label sets whose classifiers are kept for the next call."""

Answers = tuple[tuple[str, ...], tuple[ClassTexts, ...]]
"""The labels, and what stands for each."""

Key = tuple[Answers, str | None, float]


class ZeroShotImageClassification:
    """Callable as transformers' pipeline of that name; the text heads of the last labels are kept."""

    def __init__(
        self,
        encoder: Encoder,
        *,
        method: str = "auto",
        n_views: Views = "auto",
        keep: float | None = None,
        teacher: Encoder | None = None,
        seed: int = 0,
        batch_size: int | None = None,
        timeout: float | None = None,
        top_k: int | None = None,
        allow_urls: bool = False,
    ) -> None:
        self.encoder = encoder
        self.method = method
        self.n_views = n_views
        self.keep = keep
        self.teacher = teacher
        self.seed = seed
        self.batch_size = batch_size
        self.timeout = timeout
        self.top_k = top_k
        self.allow_urls = allow_urls
        self._classifiers: OrderedDict[Key, Classifier] = OrderedDict()

    def __call__(
        self,
        image: ImageSource | Sequence[ImageSource],
        candidate_labels: Labels | Sequence[Labels] | str,
        *,
        hypothesis_template: str | None = None,
        batch_size: int | None = None,
        timeout: float | None = None,
        top_k: int | None = None,
    ) -> list[Any]:
        """[{"score", "label"}, ...] from best to worst for one image; a list of those for a list of images.

        Without a template it is "a photo of a {}.", except for methods that bring their own ("ensemble").

        Args:
            image: One image, or a list of them.
            candidate_labels: The labels: a list, one text with commas, or a mapping from label to text or texts; for a
                list of images also a list or mapping for each image.
            hypothesis_template: A text with {} where the label belongs.
            batch_size: Images encoded at once; None is what is fastest here.
            timeout: Seconds that an image behind an address may take, where addresses are allowed.
            top_k: How many labels are returned, the best first; None is all.
        """
        images: Sequence[ImageSource] = image if isinstance(image, (list, tuple)) else [image]  # type: ignore[list-item]
        labels = _for_each(candidate_labels, len(images) if isinstance(image, (list, tuple)) else None)
        seconds = timeout or self.timeout or SECONDS
        shown, size = top_k or self.top_k, batch_size or self.batch_size
        if shown is not None:
            shown = checked_whole(shown, name="top_k", least=1)
        if not images:
            return []
        like = self._for(labels[0], hypothesis_template, seconds)
        batch = None if size is None else checked_whole(size, name="batch_size", least=1) * like.n_views
        if len(set(labels)) == 1:
            found: Iterator[Prediction | ViewvoteError] = like.predict_many(images, batch_views=batch)
        else:
            classifiers = (self._for(one, hypothesis_template, seconds) for one in labels)
            found = predict_each(classifiers, images, like=like, batch_views=batch)
        answers = [_rows(one, shown) for one in found]
        return answers if isinstance(image, (list, tuple)) else answers[0]

    def _for(self, labels: Answers, template: str | None, seconds: float) -> Classifier:
        if template is not None and "{}" not in template:
            raise UsageError(f"hypothesis_template {template!r} has no {{}} where the label belongs.")
        key = labels, template, seconds
        if key not in self._classifiers:
            self._classifiers[key] = Classifier(
                self.encoder,
                labels=dict(zip(*labels, strict=True)),
                method=self.method,
                n_views=self.n_views,
                keep=self.keep,
                templates=None if template is None else [template],
                teacher=self.teacher,
                seed=self.seed,
                allow_urls=self.allow_urls,
                url_timeout=seconds,
            )
        self._classifiers.move_to_end(key)
        if len(self._classifiers) > KEPT:
            self._classifiers.popitem(last=False)
        return self._classifiers[key]


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
    device: object = None,
    batch_size: int | None = None,
    timeout: float | None = None,
    top_k: int | None = None,
    allow_urls: bool = False,
) -> ZeroShotImageClassification:
    """A zero-shot image classifier in transformers' shape; the only task is "zero-shot-image-classification".

    Args:
        task: That task.
        model: A model id, an encoder, or what transformers takes: a repository of the hub, or a folder.
        method: As in `Classifier`, and so `n_views`, `keep`, `teacher`, `seed` and `allow_urls`.
        n_views: See `method`.
        keep: See `method`.
        teacher: See `method`.
        seed: See `method`.
        options: How to load the models.
        device: In place of that of the options: -1 is the CPU, 0 the first GPU; or a name, or a torch.device.
        batch_size: Images encoded at once, and so `timeout` and `top_k`: what a call has that does not give them.
        timeout: See `batch_size`.
        top_k: See `batch_size`.
        allow_urls: See `method`; transformers fetches addresses unasked.
    """
    if task != TASK:
        raise unknown_name("task", task, [TASK])
    if device is not None:
        if not isinstance(model, str):
            raise UsageError("device is for a model that is still to be loaded; an encoder is on its device already.")
        options = replace(options or LoadOptions(), device=device_name(device))
    return ZeroShotImageClassification(
        load_encoder(full_model_id(model), options) if isinstance(model, str) else model,
        method=method,
        n_views=n_views,
        keep=keep,
        teacher=load_encoder(full_model_id(teacher), options) if isinstance(teacher, str) else teacher,
        seed=seed,
        batch_size=batch_size,
        timeout=timeout,
        top_k=top_k,
        allow_urls=allow_urls,
    )


def _rows(answer: Prediction | ViewvoteError, top: int | None) -> list[dict[str, Any]]:
    if isinstance(answer, ViewvoteError):
        raise answer
    return [{"score": float(answer.probabilities[i]), "label": answer.labels[i]} for i in answer.ranking(top)]


def _for_each(labels: Labels | Sequence[Labels] | str, images: int | None) -> list[Answers]:
    """The labels of each image; `images` is how many there are, None for an image that is not in a list."""
    if isinstance(labels, str):
        labels = [label.strip() for label in labels.split(",")]
    own = [] if isinstance(labels, Mapping) else [one for one in labels if not isinstance(one, str)]
    if not own:
        return [checked_texts(cast("Labels", labels))] * (1 if images is None else images)
    if images is None or len(own) != len(labels) or len(labels) != images:
        raise UsageError(
            f"labels for each image are as many lists as there are images in a list; got {len(labels)} for "
            f"{'one image' if images is None else f'{images} images'}."
        )
    return [checked_texts(one) for one in own]
