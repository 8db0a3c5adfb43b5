"""Classifier: the drop-in object most users meet. It augments, predicts, keeps the confident views and votes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ..arrays import Float32
from ..checks import checked_share, checked_whole
from ..encoders import Encoder, LoadOptions, load_encoder
from ..encoders.base import DrawsViews, checked_encoder
from ..encoders.batch_size import fastest_batch
from ..encoders.text_head import BuildHead, TextHead, build_text_head
from ..errors import UsageError, ViewvoteError
from ..images.photo import ImageLimits, ImageSource
from ..labels.templates import resolve_templates
from ..methods import Method, TuningMethod
from ..prediction import NONE_OF_THESE, Prediction
from ..probability import ProbabilityFit
from ..registry import unknown_name
from ..stopping.options import Views, checked_budget, checked_stop, settled_views
from ..views.sample import Augment, Keyed, Sample, checked_augment, prepare
from .arguments import check_types
from .calibration import probability_fit
from .each_label import Thresholds
from .image_task import ImageTask, round_ends
from .options import checked_images, checked_labels, checked_method
from .prefetch import PREPARING, prepare_ahead
from .presence import asked_presence
from .scheduler import Scheduler, Settled, encode_units
from .setup import LabelledModel, Setup, start_decider


class Classifier:
    """A zero-shot image classifier around any CLIP-like model.

    >>> clf = Classifier("toy", labels=["red", "green"], n_views=8)
    >>> clf(np.full((40, 40, 3), (250, 0, 0), dtype=np.uint8)).label
    'red'

    model          a model id ("pocket", "open_clip:ViT-B-16/openai", ...) or an Encoder
    labels         the answers to choose from, in words; all different, unless unique_labels=False (ImageNet's 1000
                   names have "missile" twice: then `prediction.index` distinguishes them)
    method         "anchored" (the default: the confident views vote, and the source view has a say), "zero" (the
                   paper's vote), "zero-shot", "marginal", ... or a method object
    n_views        how many views to look at: the source view and n_views - 1 random crops; "adaptive" is as many as an
                   image needs, at most 64 (`Adaptive(...)` sets the budget and the accepted rate of disagreement).
                   "auto" is "adaptive" for methods that vote, else 64
    stop           "exact": leave out the last views of an image where they cannot change its answer
    keep           the share of most confident views that decide; None is the method's own default
    templates      a template set ("photo", "ensemble", ...), one template, or a list of templates; None is "photo",
                   except for methods that bring their own ("ensemble")
    teacher        a stronger model: `model` then only chooses the views, and the teacher votes on those
    abstain_below  answers that are less probable than this get no label
    none_of_these  also answer "none of these", for photos that show none of the labels
    multi_label    also answer for each label alone whether it is there (`prediction.shown`), and with `thresholds` from
                   which probability on: one number, or numbers by label
    calibration    how a probability comes from the views: a file of `viewvote calibrate`, or a `ProbabilityFit`; None
                   is what the model ships with
    seed           the views of an image depend on this and on its content, on nothing else
    augment        "crops", the paper's views, or "augmix": the same crops mixed, as TPT and RLCF on fine-grained sets
    evidence       keep in the trace what other settings can be scored from without the model (`trace.evidence`)
    text_head      a file of the labels' vectors (.npy or .safetensors), in place of the model's text tower; templates
                   then do not apply
    detail         keep there, with the evidence, every view's probabilities of all classes too
    build_head     what turns labels and templates into a text head; by default they are encoded once and kept on disk
    """

    def __init__(
        self,
        model: str | Encoder = "pocket",
        *,
        labels: Sequence[str],
        method: str | Method = "auto",
        n_views: Views = "auto",
        keep: float | None = None,
        templates: str | Sequence[str] | None = None,
        teacher: str | Encoder | None = None,
        abstain_below: float = 0.0,
        none_of_these: bool = False,
        multi_label: bool = False,
        thresholds: Thresholds | None = None,
        calibration: str | Path | ProbabilityFit | None = None,
        seed: int = 0,
        options: LoadOptions | None = None,
        limits: ImageLimits | None = None,
        cache_dir: str | Path | None = None,
        augment: Augment = "crops",
        unique_labels: bool = True,
        evidence: bool = False,
        stop: Literal["exact"] | None = None,
        detail: bool = False,
        build_head: BuildHead = build_text_head,
        text_head: str | Path | None = None,
    ) -> None:
        check_types(labels=labels, keep=keep, templates=templates, abstain_below=abstain_below, calibration=calibration)
        check_types(options=options, limits=limits, cache_dir=cache_dir, augment=augment, unique_labels=unique_labels)
        check_types(evidence=evidence, stop=stop, detail=detail, text_head=text_head, build_head=build_head)
        self.labels = checked_labels(labels, unique=unique_labels)
        self.unique_labels = unique_labels
        self.evidence = evidence or detail
        self.detail = detail
        self.method = checked_method(method, keep, text_head=text_head is not None)
        self._decider = start_decider(self.method)
        if teacher is not None and not self.method.asks_teacher:
            raise UsageError(f"method {self.method.name!r} asks no teacher; use 'zero', or leave the teacher out.")
        n_views = settled_views(n_views, stop=stop, method=self.method)
        self.n_views = checked_budget(n_views)
        # Exact promises the label of all views. Which label an answer has depends, where it may abstain, on its
        # probability, which every view moves.
        model_id = model if isinstance(model, str) else getattr(model, "model_id", None)
        rule = checked_stop(n_views, stop, method=self.method, model=model_id)
        self.rule = None if stop and abstain_below > 0 else rule
        self.stop = stop
        self._views_asked = n_views
        self.augment = checked_augment(augment)
        self.templates = resolve_templates(self.method.templates if templates is None else templates)
        self.abstain_below = checked_share(abstain_below, name="abstain_below")
        self.seed = checked_whole(seed, name="seed")
        self.limits = limits
        self.cache_dir = None if cache_dir is None else Path(cache_dir)
        self.build_head = build_head
        self.encoder = load_encoder(model, options) if isinstance(model, str) else checked_encoder(model)
        self.teacher = load_encoder(teacher, options) if isinstance(teacher, str) else teacher
        if self.teacher is not None:
            checked_encoder(self.teacher, role="teacher")
        if isinstance(self.method, TuningMethod):
            if text_head is not None:
                raise UsageError(f"method {self.method.name!r} needs the text tower; it takes no text head.")
            self.method.check(self.encoder, self.teacher)
        if text_head is not None and self.method.asks_likeness:
            raise UsageError(
                f"method {self.method.name!r} compares the labels with ordinary names, which a text head of yours does "
                "not hold; give it a weight, e.g. --set weight=1."
            )
        self.text_head = self._head(self.encoder) if text_head is None else self._head_in(Path(text_head))
        self.fit = probability_fit(self.encoder if self.teacher is None else self.teacher, self.method, calibration)
        self.teacher_head = self._head(self.teacher) if self.teacher is not None else None
        self.likeness = self._likeness() if self.method.asks_likeness else None
        self.none_of_these, self.multi_label, self.thresholds = none_of_these, multi_label, thresholds
        if (none_of_these or multi_label) and text_head is not None:
            raise UsageError("a text head holds the labels alone; whether any is there is told by other names too.")
        self.presence = asked_presence(
            self.encoder,
            self.text_head,
            self.labels,
            none_of_these_asked=none_of_these,
            multi_label=multi_label,
            thresholds=thresholds,
            templates=self.templates,
            cache_dir=self.cache_dir,
            build_head=build_head,
        )

    def reset(self) -> None:
        """Forget the images before: what a streaming method has learned, and RLCF's momentum. Others never learn."""
        self._decider = start_decider(self.method)
        self.method.reset()

    @property
    def classes_(self) -> NDArray[np.str_]:
        """The labels, as scikit-learn names them."""
        extra = () if self.presence is None or self.presence.none is None else (NONE_OF_THESE,)
        return np.array([*self.labels, *extra])

    def with_labels(self, labels: Sequence[str], *, templates: str | Sequence[str] | None = None) -> "Classifier":
        """The same models asked about other labels; nothing is loaded again."""
        return Classifier(
            self.encoder,
            labels=labels,
            method=self.method,
            n_views=self.n_views if self.rule is None else self._views_asked,
            templates=self.templates if templates is None else templates,
            teacher=self.teacher,
            abstain_below=self.abstain_below,
            calibration=self.fit,
            none_of_these=self.none_of_these,
            multi_label=self.multi_label,
            thresholds=None if isinstance(self.thresholds, Mapping) else self.thresholds,
            seed=self.seed,
            limits=self.limits,
            cache_dir=self.cache_dir,
            augment=self.augment,
            unique_labels=self.unique_labels,
            evidence=self.evidence,
            stop=self.stop,
            detail=self.detail,
            build_head=self.build_head,
        )

    def __call__(self, image: ImageSource | Keyed) -> Prediction:
        """The prediction for one image: a path, bytes, a file object, a PIL image or an array."""
        (result,) = self._answers([self.prepare(image)], batch_views=self.n_views)
        if isinstance(result, ViewvoteError):
            raise result
        return result

    @overload
    def predict_many(
        self, images: Iterable[ImageSource | Keyed], *, batch_views: int | None = ..., on_error: Literal["raise"] = ...
    ) -> Iterator[Prediction]: ...

    @overload
    def predict_many(
        self, images: Iterable[ImageSource | Keyed], *, batch_views: int | None = ..., on_error: Literal["return"]
    ) -> Iterator[Prediction | ViewvoteError]: ...

    def predict_many(
        self,
        images: Iterable[ImageSource | Keyed],
        *,
        batch_views: int | None = None,
        on_error: Literal["raise", "return"] = "raise",
    ) -> Iterator[Prediction | ViewvoteError]:
        """Predictions in the order of `images` (any iterable), the same as one at a time, but faster.

        Views of several images fill encoder batches of `batch_views` (None: the size that is fastest here, see
        `fastest_batch`), rounded up to the encoder's block; the next images are decoded and drawn meanwhile. Images
        under way never fill more than two batches and a few. Which views are computed together does not depend on the
        other images (`block_views`), so predictions equal those of single images to the last bit for every encoder of
        this package, and a stream may be taken up anywhere. With on_error="return" an image that cannot be read or
        decided yields its error in place.
        """
        if on_error not in ("raise", "return"):
            raise unknown_name("on_error", on_error, ["raise", "return"])
        if batch_views is not None:
            batch_views = checked_whole(batch_views, name="batch_views", least=1)
        return self._stream(checked_images(images), batch_views=batch_views, on_error=on_error)

    def _stream(
        self, images: Iterable[ImageSource | Keyed], *, batch_views: int | None, on_error: Literal["raise", "return"]
    ) -> Iterator[Prediction | ViewvoteError]:
        """What `predict_many` yields; the first image is read when the first answer is asked for."""
        if batch_views is None:
            batch_views = fastest_batch(self.encoder, cache_dir=self.cache_dir)
        ahead = max(1, batch_views // self.round_ends[0]) + PREPARING
        for result in self._answers(
            prepare_ahead(self.prepare, images, ahead=ahead, limits=self.limits), batch_views=batch_views
        ):
            if isinstance(result, ViewvoteError) and on_error == "raise":
                raise result
            yield result

    def predict(self, images: Iterable[ImageSource | Keyed]) -> NDArray[Any]:
        """The label of each image, as scikit-learn returns them; None where the classifier abstained."""
        found = [prediction.label for prediction in self.predict_many(images)]
        return np.array(found, dtype=object if None in found else None)

    def predict_proba(self, images: Iterable[ImageSource | Keyed]) -> Float32:
        """The probabilities (images, labels) in the order of `classes_`, calibrated.

        Each row sums to 1, except for zero-shot with a model that scores each label alone (SigLIP).
        """
        rows = [prediction.probabilities for prediction in self.predict_many(images)]
        return np.stack(rows) if rows else np.zeros((0, len(self.classes_)), dtype=np.float32)

    def _head_in(self, path: Path) -> TextHead:
        from ..encoders.head_file import open_head, read_head_file  # few ask for it, and starting should be quick

        return open_head(read_head_file(path), self.labels, self.encoder)

    def _head(self, encoder: Encoder) -> TextHead:
        return self.build_head(encoder, self.labels, templates=self.templates, cache_dir=self.cache_dir)

    def _likeness(self) -> float:
        """How alike the labels are to the model that votes."""
        from ..encoders.likeness import label_likeness

        model, head = self.encoder, self.text_head
        if self.teacher is not None and self.teacher_head is not None:
            model, head = self.teacher, self.teacher_head
        return label_likeness(
            model, head, templates=self.templates, cache_dir=self.cache_dir, build_head=self.build_head
        )

    def prepare(self, image: ImageSource | Keyed, *, first: int | None = None) -> Sample:
        """An image read, and its `first` views drawn (None: those of the first round, 0: none yet)."""
        keyed = image if isinstance(image, Keyed) else Keyed(image, key=None)
        drawer = self.encoder
        return prepare(
            keyed.image,
            self.encoder.image_spec,
            n_views=self.method.views_used(self.n_views),
            seed=self.seed,
            dataset=keyed.dataset,
            key=keyed.key,
            limits=self.limits,
            augment=self.augment,
            first=self.round_ends[0] if first is None else first,
            draw_views=drawer.draw_views if isinstance(drawer, DrawsViews) and drawer.draws_views else None,
        )

    def setup(self) -> Setup:
        """What the classifier knows apart from the images."""
        teacher = None
        if self.teacher is not None and self.teacher_head is not None:
            teacher = LabelledModel(self.teacher, self.teacher_head)
        return Setup(
            labels=self.labels,
            method=self.method,
            decider=self._decider,
            model=LabelledModel(self.encoder, self.text_head),
            teacher=teacher,
            rule=self.rule,
            abstain_below=self.abstain_below,
            evidence=self.evidence,
            detail=self.detail,
            fit=self.fit,
            presence=self.presence,
            likeness=self.likeness or 0.0,
        )

    @property
    def round_ends(self) -> tuple[int, ...]:
        """How many views of an image have been looked at after each round; without a stopping rule there is one."""
        return round_ends(self.rule, self.method.views_used(self.n_views), self.encoder)

    def task(self, sample: Sample, *, ends: Sequence[int] | None = None) -> ImageTask:
        """A prepared image as a task of a scheduler; `ends` are other rounds than `round_ends` to look in."""
        return ImageTask(sample, self.setup(), ends=self.round_ends if ends is None else ends)

    def _answers(
        self, samples: Iterable[Sample | ViewvoteError], *, batch_views: int
    ) -> Iterator[Prediction | ViewvoteError]:
        """The predictions of prepared samples, in order; the error of one does not stop the others."""
        ends, setup = self.round_ends, self.setup()
        tasks: Iterator[ImageTask | Settled[Prediction | ViewvoteError]] = (
            ImageTask(one, setup, ends=ends) if isinstance(one, Sample) else Settled(one) for one in samples
        )
        scheduler: Scheduler[Prediction | ViewvoteError] = Scheduler(
            encode_units(self.encoder), batch_views=batch_views, block=self.encoder.block_views or ends[-1]
        )
        return scheduler.run(tasks, most_open=2 * len(ends) * (batch_views // ends[0] + 1))
