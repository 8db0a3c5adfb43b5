"""Classifier: the drop-in object most users meet. It augments, predicts, keeps the confident views and votes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from .encoders import Encoder, LoadOptions, load_encoder
from .encoders.text_head import TextHead, build_text_head
from .errors import UsageError, ViewvoteError
from .images import ImageLimits, ImageSource
from .methods import METHODS, Decision, Method, StreamingMethod, ViewLogits
from .prompts import resolve_templates
from .samples import PREPARING, Sample, prepare, prepare_ahead
from .types import Float32, Int64, Prediction, Trace, ViewTrace
from .views import View


class Classifier:
    """A zero-shot image classifier around any CLIP-like model.

    >>> clf = Classifier("toy", labels=["red", "green"], n_views=8)
    >>> clf(np.full((40, 40, 3), (250, 0, 0), dtype=np.uint8)).label
    'red'

    model          a model id ("pocket", "open_clip:ViT-B-16/openai", ...) or an Encoder
    labels         the answers to choose from, in words; all different
    method         "zero" (the paper's vote, the default), "zero-shot", "marginal", ... or a method object
    n_views        how many views to look at: the whole image and n_views - 1 random crops
    keep           the share of most confident views that decide; None is the method's own default
    templates      a template set ("photo", "ensemble", ...), one template, or a list of templates; None is "photo",
                   except for methods that bring their own ("ensemble")
    teacher        a stronger model: `model` then only chooses the views, and the teacher votes on those
    abstain_below  predictions with less confidence than this get no label
    seed           the views of an image depend on this and on its content, on nothing else
    """

    def __init__(
        self,
        model: str | Encoder = "pocket",
        *,
        labels: Sequence[str],
        method: str | Method = "zero",
        n_views: int = 64,
        keep: float | None = None,
        templates: str | Sequence[str] | None = None,
        teacher: str | Encoder | None = None,
        abstain_below: float = 0.0,
        seed: int = 0,
        options: LoadOptions | None = None,
        limits: ImageLimits | None = None,
        cache_dir: Path | None = None,
    ) -> None:
        self.labels = checked_labels(labels)
        self.method = _method(method, keep)
        self._decider = self.method.start() if isinstance(self.method, StreamingMethod) else self.method
        if teacher is not None and not getattr(self.method, "asks_teacher", False):
            raise UsageError(f"method {self.method.name!r} asks no teacher; use 'zero', or leave the teacher out.")
        self.n_views = _checked_views(n_views)
        default = getattr(self.method, "templates", "photo")
        self.templates = resolve_templates(default if templates is None else templates)
        if not 0 <= abstain_below <= 1:
            raise UsageError(f"abstain_below is a confidence between 0 and 1; got {abstain_below}.")
        self.abstain_below = abstain_below
        self.seed = seed
        self.limits = limits
        self.cache_dir = cache_dir
        self.encoder = load_encoder(model, options) if isinstance(model, str) else model
        self.teacher = load_encoder(teacher, options) if isinstance(teacher, str) else teacher
        self.text_head = self._head(self.encoder)
        self.teacher_head = self._head(self.teacher) if self.teacher is not None else None

    def reset(self) -> None:
        """Forget what a streaming method has learned; the other methods never learn anything."""
        if isinstance(self.method, StreamingMethod):
            self._decider = self.method.start()

    @property
    def classes_(self) -> NDArray[np.str_]:
        """The labels, as scikit-learn names them."""
        return np.array(self.labels)

    def with_labels(self, labels: Sequence[str], *, templates: str | Sequence[str] | None = None) -> "Classifier":
        """The same models asked about other labels; nothing is loaded again."""
        return Classifier(
            self.encoder,
            labels=labels,
            method=self.method,
            n_views=self.n_views,
            templates=self.templates if templates is None else templates,
            teacher=self.teacher,
            abstain_below=self.abstain_below,
            seed=self.seed,
            limits=self.limits,
            cache_dir=self.cache_dir,
        )

    def __call__(self, image: ImageSource) -> Prediction:
        """The prediction for one image: a path, bytes, a file object, a PIL image or an array."""
        return self._predict([self._prepare(image)])[0]

    @overload
    def predict_many(
        self, images: Iterable[ImageSource], *, batch_views: int = ..., on_error: Literal["raise"] = ...
    ) -> Iterator[Prediction]: ...

    @overload
    def predict_many(
        self, images: Iterable[ImageSource], *, batch_views: int = ..., on_error: Literal["return"]
    ) -> Iterator[Prediction | ViewvoteError]: ...

    def predict_many(
        self, images: Iterable[ImageSource], *, batch_views: int = 64, on_error: Literal["raise", "return"] = "raise"
    ) -> Iterator[Prediction | ViewvoteError]:
        """Predictions in the order of `images` (any iterable), the same as one at a time, but faster.

        Views of several images fill encoder batches of `batch_views`; the next images are decoded and drawn meanwhile,
        never more than fill one batch and a few. With on_error="return" an unreadable image yields its error in place.
        """
        if batch_views < 1:
            raise UsageError(f"batch_views must be at least 1; got {batch_views}.")
        per_image = self.method.views_used(self.n_views)
        per_batch = max(1, batch_views // per_image)
        waiting: list[Sample | ViewvoteError] = []
        for result in prepare_ahead(self._prepare, images, ahead=per_batch + PREPARING):
            if isinstance(result, ViewvoteError) and on_error == "raise":
                raise result
            waiting.append(result)
            if sum(isinstance(one, Sample) for one in waiting) == per_batch or isinstance(waiting[0], ViewvoteError):
                yield from self._flush(waiting)
        yield from self._flush(waiting)

    def predict(self, images: Iterable[ImageSource]) -> NDArray[Any]:
        """The label of each image, as scikit-learn returns them; None where the classifier abstained."""
        found = [prediction.label for prediction in self.predict_many(images)]
        return np.array(found, dtype=object if None in found else None)

    def predict_proba(self, images: Iterable[ImageSource]) -> Float32:
        """The scores (images, labels) in the order of `classes_`; each row sums to 1."""
        rows = [prediction.scores for prediction in self.predict_many(images)]
        return np.stack(rows) if rows else np.zeros((0, len(self.labels)), dtype=np.float32)

    def _flush(self, waiting: list[Sample | ViewvoteError]) -> Iterator[Prediction | ViewvoteError]:
        predictions = iter(self._predict([one for one in waiting if isinstance(one, Sample)]))
        for one in waiting:
            yield next(predictions) if isinstance(one, Sample) else one
        waiting.clear()

    def _head(self, encoder: Encoder) -> TextHead:
        return build_text_head(encoder, self.labels, templates=self.templates, cache_dir=self.cache_dir)

    def _prepare(self, image: ImageSource) -> Sample:
        n_views = self.method.views_used(self.n_views)
        return prepare(image, self.encoder.image_spec, n_views=n_views, seed=self.seed, limits=self.limits)

    def _predict(self, samples: list[Sample]) -> list[Prediction]:
        """The predictions of prepared samples, encoded together."""
        if not samples:
            return []
        start = perf_counter()
        features = self.encoder.encode_images(np.concatenate([sample.pixels for sample in samples]))
        encode = (perf_counter() - start) / len(samples)
        ends = np.cumsum([len(sample.views) for sample in samples])[:-1]
        return [
            self._decide(sample, one, encode) for sample, one in zip(samples, np.split(features, ends), strict=True)
        ]

    def _decide(self, sample: Sample, features: Float32, encode: float) -> Prediction:
        """One image's prediction; its logits are computed alone, so they do not depend on the batch it came in."""
        start = perf_counter()
        views = ViewLogits(
            logits=self.text_head.logits(features, self.encoder)[None],
            logit_scale=self.encoder.logit_scale,
            logit_bias=self.encoder.logit_bias,
            scoring=self.encoder.scoring,
            tie_draws=[sample.tie_draw],
            features=features[None],
            text=self.text_head.features,
            teacher=partial(self._ask_teacher, sample) if self.teacher is not None else None,
        )
        decision = self._decider.decide(views)[0]
        timings = {**sample.timings, "encode": encode, "decide": perf_counter() - start}
        return Prediction(
            labels=self.labels,
            index=decision.index,
            confidence=decision.confidence,
            confidence_is=self.method.confidence_is,
            probability=decision.probability,
            scores=decision.scores,
            votes=decision.votes,
            method=self.method.name,
            model=self.encoder.model_id
            if self.teacher is None
            else f"{self.encoder.model_id} -> {self.teacher.model_id}",
            tie_break=decision.tie_break,
            abstained=decision.confidence < self.abstain_below,
            path=sample.path,
            timings={**timings, "total": sum(timings.values())},
            trace=_trace(sample.views, decision, self.labels),
        )

    def _ask_teacher(self, sample: Sample, kept: Int64) -> Float32:
        """The teacher's logits (1, kept, classes) of the kept views of one image."""
        if self.teacher is None or self.teacher_head is None:
            raise UsageError("this classifier has no teacher.")
        pixels = sample.pixels_for(kept[0].tolist(), self.teacher.image_spec, drawn_for=self.encoder.image_spec)
        return self.teacher_head.logits(self.teacher.encode_images(pixels), self.teacher)[None]


def checked_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """The labels, or an error that says what is wrong with them."""
    if isinstance(labels, str):
        raise UsageError(f"labels must be a list of strings; got the string {labels!r}. Did you mean [{labels!r}]?")
    found = tuple(labels)
    if not found:
        raise UsageError("labels is empty; give at least one, e.g. labels=['cat', 'dog'].")
    seen: set[str] = set()
    for i, label in enumerate(found):
        if not isinstance(label, str) or not label.strip():
            raise UsageError(f"label {i} is {label!r}; every label must be a string with something in it.")
        if label in seen:
            raise UsageError(f"label {label!r} is given twice; every label must be different.")
        seen.add(label)
    return found


def _method(method: str | Method, keep: float | None) -> Method:
    if not isinstance(method, str):
        if keep is not None:
            raise UsageError("keep belongs to the method object: set it there.")
        return method
    cls: Callable[..., Method] = METHODS.get(method)
    if keep is None:
        return cls()
    if "keep" not in getattr(cls, "__dataclass_fields__", {}):
        raise UsageError(f"method {method!r} uses no kept views, so it takes no keep.")
    if not 0 < keep <= 1:
        raise UsageError(f"keep must be above 0 and at most 1 (the share of views that vote); got {keep}.")
    return cls(keep=keep)


def _checked_views(n_views: int) -> int:
    if isinstance(n_views, bool) or not isinstance(n_views, int) or n_views < 1:
        raise UsageError(f"n_views must be a whole number of at least 1; got {n_views!r}.")
    return n_views


def _trace(views: Sequence[View], decision: Decision, labels: Sequence[str]) -> Trace:
    rows = zip(
        views,
        decision.view_labels.tolist(),
        decision.view_entropy.tolist(),
        decision.view_top_probability.tolist(),
        decision.view_kept.tolist(),
        strict=True,
    )
    return Trace(tuple(ViewTrace(v.box, v.flip, labels[c], entropy, top, kept) for v, c, entropy, top, kept in rows))
