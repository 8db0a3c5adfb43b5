"""Classifier: the drop-in object most users meet. It augments, predicts, keeps the confident views and votes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, overload

from ..arrays import Float32
from ..checks import checked_share, checked_whole
from ..context.base import Context, digest_of
from ..encoders import Encoder, LoadOptions, load_encoder
from ..encoders.base import checked_encoder
from ..encoders.batch_size import fastest_batch
from ..encoders.reopening import close
from ..encoders.scripts import warn_of_scripts
from ..encoders.text_head import BuildHead, TextHead, build_text_head
from ..errors import UsageError, ViewvoteError
from ..images.photo import ImageLimits, ImageSource
from ..images.urls import SECONDS, checked_seconds
from ..labels.doubts import warn_of_labels
from ..labels.templates import resolve_templates
from ..labels.texts import Labels, checked_texts
from ..methods import Method, TuningMethod, VotingMethod
from ..prediction import NONE_OF_THESE, Prediction
from ..probability import ProbabilityFit
from ..registry import unknown_name
from ..stopping.options import Views, checked_budget, checked_stop, settled_views
from ..views.sample import Augment, Keyed, Sample, checked_augment
from .arguments import check_types
from .calibration import probability_fit
from .each_label import Thresholds
from .estimator import Estimator, Images
from .features import Features, checked_features
from .gather import checked_context, gather_context, teacher_offsets
from .image_task import ImageTask, round_ends
from .objects import shortened, weakly
from .options import checked_image, checked_images, checked_method
from .prefetch import PREPARING, GivenImage, in_portions, prepare_ahead
from .presence import asked_presence
from .progress import Progress, counted
from .scheduler import Scheduler, Settled, encode_units
from .setup import LabelledModel, Setup, start_decider
from .view_plan import ViewPlan

if TYPE_CHECKING:
    from .in_thread import Encode


class Classifier(Estimator):
    """A zero-shot image classifier around any CLIP-like model.

    >>> clf = Classifier("toy", labels=["red", "green"], n_views=8)
    >>> clf(np.full((40, 40, 3), (250, 0, 0), dtype=np.uint8)).label
    'red'

    model          a model id ("pocket", "open_clip:ViT-B-16/openai", ...) or an Encoder
    labels         the answers to choose from, in words; all different, unless unique_labels=False (ImageNet's 1000
                   names have "missile" twice: then `prediction.index` distinguishes them). A mapping gives each its
                   texts, {"cat": ["a cat", "a kitten"], ...}, whose vectors are averaged (docs/guides/files.md)
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
    context        unlabelled photos that take a pull of labels out: a file of `viewvote context`, or a `Context`; see
                   `with_context`. None: no photo's answer depends on another
    build_head     what turns labels and templates into a text head; by default they are encoded once and kept on disk
    allow_urls     fetch images that are given as http or https addresses, within `limits` and `url_timeout` seconds

    With a training-free method, one classifier may be called from any number of threads at once. Streaming methods
    learn from image to image and tuning ones change their model for a while: those are for one thread. Pickled or
    deep-copied, it loads its model again by its id; a model that was never loaded by one is pickled as it is.
    """

    def __init__(
        self,
        model: str | Encoder = "pocket",
        *,
        labels: Labels,
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
        context: Context | str | Path | None = None,
        allow_urls: bool = False,
        url_timeout: float = SECONDS,
    ) -> None:
        check_types(labels=labels, keep=keep, templates=templates, abstain_below=abstain_below, calibration=calibration)
        check_types(options=options, limits=limits, cache_dir=cache_dir, augment=augment, unique_labels=unique_labels)
        check_types(evidence=evidence, stop=stop, detail=detail, text_head=text_head, build_head=build_head)
        self.labels, self.texts = checked_texts(labels, unique=unique_labels)
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
        self.allow_urls = allow_urls
        self.url_timeout = checked_seconds(url_timeout)
        self.encoder = load_encoder(model, options) if isinstance(model, str) else checked_encoder(model)
        self.teacher = load_encoder(teacher, options) if isinstance(teacher, str) else teacher
        if self.teacher is not None:
            checked_encoder(self.teacher, role="teacher")
        if isinstance(self.method, TuningMethod):
            if text_head is not None:
                raise UsageError(f"method {self.method.name!r} needs the text tower; it takes no text head.")
            if self.texts != self.labels:
                raise UsageError(f"method {self.method.name!r} tunes a prompt around names; give the labels as a list.")
            self.method.check(self.encoder, self.teacher)
        if text_head is not None and self.method.asks_likeness:
            raise UsageError(
                f"method {self.method.name!r} compares the labels with ordinary names, which a text head of yours does "
                "not hold; give it a weight, e.g. --set weight=1."
            )
        self.text_head = self._head(self.encoder) if text_head is None else self._head_in(Path(text_head))
        if text_head is None:
            warn_of_scripts(self.encoder, self.labels)
            named = self.texts == self.labels
            warn_of_labels(self.labels, named=named, none_of_these=none_of_these, multi_label=multi_label)
        self.likely = probability_fit(self.encoder if self.teacher is None else self.teacher, self.method, calibration)
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
        own_vectors = None if text_head is None else self.text_head.features
        self.labels_digest = digest_of(self.labels, self.templates, features=own_vectors)
        self.context = checked_context(context, self)
        self._sources: Mapping[str, Float32] = {}

    def __repr__(self) -> str:
        shown = [f"labels={shortened(self.labels)}", f"method={self.method.name!r}"]
        shown += [f"keep={self.method.keep}"] if isinstance(self.method, VotingMethod) else []
        shown.append(f"n_views={self._views_asked!r}")
        shown += [f"teacher={self.teacher.model_id!r}"] if self.teacher is not None else []
        return f"Classifier({self.encoder.model_id!r}, {', '.join(shown)})"

    def reset(self) -> None:
        """Forget the images before: what a streaming method has learned, and RLCF's momentum. Others never learn."""
        self._decider = start_decider(self.method)
        self.method.reset()

    @property
    def choices(self) -> tuple[str, ...]:
        """Every answer there may be: the labels, and "none of these" where that was asked."""
        extra = () if self.presence is None or self.presence.none is None else (NONE_OF_THESE,)
        return (*self.labels, *extra)

    def with_labels(self, labels: Labels, *, templates: str | Sequence[str] | None = None) -> "Classifier":
        """The same models asked about other labels; nothing is loaded again."""
        return Classifier(
            self.encoder,
            labels=labels,
            method=self.method,
            n_views=self.n_views if self.rule is None else self._views_asked,
            templates=self.templates if templates is None else templates,
            teacher=self.teacher,
            abstain_below=self.abstain_below,
            calibration=self.likely,
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
            allow_urls=self.allow_urls,
            url_timeout=self.url_timeout,
        )

    def with_context(
        self, images: Iterable[ImageSource | Keyed], *, mix: Sequence[float] | str | None = None
    ) -> "Classifier":
        """The same classifier with unlabelled photos as context: what all of them attract is taken off the labels.

        One pass over their source views; photos that cannot be read are left out. Answers do not depend on the order of
        `images`. `mix` is None where nothing is known of the folder (a rule then takes off less, or nothing, where few
        labels fill it), "varied" where no label does, or the share of each label.
        """
        gathered = gather_context(self, images, mix=mix)
        return self.in_context(gathered.context, sources=gathered.sources)

    def in_context(
        self, context: Context | str | Path | None, *, sources: Mapping[str, Float32] | None = None
    ) -> "Classifier":
        """The same classifier with a context that was made before; None is without any.

        `sources` are features (1, dim) of source views by the photos' keys (`Gathered`): they are not encoded again.
        """
        found = copy(self)
        found.context = checked_context(context, self)
        found._sources = sources or {}
        found.reset()
        return found

    def fit(self, images: Iterable[ImageSource | Keyed], y: object = None) -> "Classifier":
        """Take unlabelled photos as context, as `with_context` does, in place; `y` is ignored (scikit-learn's fit)."""
        del y
        gathered = gather_context(self, images)
        self.context, self._sources = gathered.context, gathered.sources
        return self

    def __copy__(self) -> "Classifier":
        """A shallow copy shares the model; deep copies and pickles open it again."""
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__)
        return found

    def __getstate__(self) -> dict[str, Any]:
        teacher = None if self.teacher is None else close(self.teacher)
        return self.__dict__ | {"encoder": close(self.encoder), "teacher": teacher, "_sources": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        teacher = None if state["teacher"] is None else state["teacher"].open()
        self.__dict__.update(state | {"encoder": state["encoder"].open(), "teacher": teacher})

    def __call__(self, image: ImageSource | Keyed) -> Prediction:
        """The prediction for one image: a path, bytes, a file object, a PIL image, an array or a tensor of torch.

        The last, (channels, height, width), and arrays are uint8 or floats in [0, 1].
        """
        return self._classified(image, encode_units(self.encoder), batch_views=self.n_views)

    async def aclassify(self, image: ImageSource | Keyed) -> Prediction:
        """The prediction for one image, for asyncio: it is read and classified in a thread of the loop's executor.

        Cancelled, it ends at once, and its thread with the batch of views that is being encoded.
        """
        from .in_thread import VIEWS_AT_ONCE, in_thread, until  # with asyncio, which few ask for

        def classified(given_up: Event) -> Prediction:
            return self._classified(image, until(given_up, encode_units(self.encoder)), batch_views=VIEWS_AT_ONCE)

        return await in_thread(classified)

    def _classified(self, image: ImageSource | Keyed, encode: "Encode", *, batch_views: int) -> Prediction:
        sample = self.prepare(checked_image(image))
        (result,) = self._answers([sample], batch_views=batch_views, encode=encode)
        if isinstance(result, ViewvoteError):
            raise result
        return replace(result, source=weakly(image))

    @overload
    def predict_many(
        self,
        images: Iterable[GivenImage],
        *,
        batch_views: int | None = ...,
        on_error: Literal["raise"] = ...,
        progress: Progress | None = ...,
    ) -> Iterator[Prediction]: ...

    @overload
    def predict_many(
        self,
        images: Iterable[GivenImage],
        *,
        batch_views: int | None = ...,
        on_error: Literal["return"],
        progress: Progress | None = ...,
    ) -> Iterator[Prediction | ViewvoteError]: ...

    def predict_many(
        self,
        images: Iterable[GivenImage],
        *,
        batch_views: int | None = None,
        on_error: Literal["raise", "return"] = "raise",
        progress: Progress | None = None,
    ) -> Iterator[Prediction | ViewvoteError]:
        """Predictions in the order of `images` (any iterable), the same as one at a time, but faster.

        Views of several images fill encoder batches of `batch_views` (None: the size that is fastest here, see
        `fastest_batch`), rounded up to the encoder's block; the next images are decoded and drawn meanwhile. Images
        under way never fill more than two batches and a few. Which views are computed together does not depend on the
        other images (`block_views`), so predictions equal those of single images to the last bit for every encoder of
        this package, and a stream may be taken up anywhere. With on_error="return" an image that cannot be read or
        decided yields its error in place. `progress(done, total)` is called after each image; total is None where
        `images` has no length.
        """
        if on_error not in ("raise", "return"):
            raise unknown_name("on_error", on_error, ["raise", "return"])
        if batch_views is not None:
            batch_views = checked_whole(batch_views, name="batch_views", least=1)
        answers = self._stream(checked_images(images), batch_views=batch_views, on_error=on_error)
        return counted(answers, progress, images=images)

    def _stream(
        self, images: Iterable[GivenImage], *, batch_views: int | None, on_error: Literal["raise", "return"]
    ) -> Iterator[Prediction | ViewvoteError]:
        """What `predict_many` yields; the first image is read when the first answer is asked for."""
        if batch_views is None:
            batch_views = fastest_batch(self.encoder, cache_dir=self.cache_dir)
        ahead = max(1, batch_views // self.round_ends[0]) + PREPARING
        for result in self._answers(  # no local name: an error's traceback would keep the preparing threads alive
            prepare_ahead(self.prepare, images, ahead=ahead, limits=self.limits),
            batch_views=batch_views,
            encode=encode_units(self.encoder),
        ):
            if isinstance(result, ViewvoteError) and on_error == "raise":
                raise result
            yield result

    def encode(
        self,
        images: Iterable[ImageSource | Keyed],
        *,
        out: str | Path | None = None,
        resume: bool = False,
        overwrite: bool = False,
        batch_views: int | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        progress: Progress | None = None,
    ) -> Features:
        """The features of all `n_views` views of each image, from which `predict_features` answers.

        In memory, or with `out` in that folder, written image by image and then mapped into memory: `resume` leaves
        out the images that are there, `overwrite` starts anew. With on_error="skip" images that cannot be read are
        left out, their errors in `Features.skipped`.
        """
        from .encode import encode  # few ask for it, and starting should be quick

        return encode(
            self.plan,
            images,
            out=None if out is None else Path(out),
            resume=resume,
            overwrite=overwrite,
            batch_views=batch_views,
            on_error=on_error,
            progress=progress,
        )

    def predict_features(self, features: Features, *, progress: Progress | None = None) -> Iterator[Prediction]:
        """Predictions for encoded images, to the last bit those for the images, without looking at them again.

        The classifier that encoded them may have had other labels, another method and another keep; model, seed and
        augmentation are the same, and it looked at as many views or more. Tuning methods and teachers need the images.
        """
        from .recall import recall_each  # which imports this module

        features = checked_features(features)
        return counted(recall_each(self, features.encoding, features), progress, images=features)

    def predictions(self, images: Images) -> Iterator[Prediction]:
        """The predictions for images, or for images that were encoded, in their order."""
        return self.predict_features(images) if isinstance(images, Features) else self.predict_many(images)

    def _head_in(self, path: Path) -> TextHead:
        from ..encoders.head_file import open_head, read_head_file  # few ask for it, and starting should be quick

        return open_head(read_head_file(path), self.labels, self.encoder)

    def _head(self, encoder: Encoder) -> TextHead:
        return self.build_head(encoder, self.texts, templates=self.templates, cache_dir=self.cache_dir)

    def _likeness(self) -> float:
        """How alike the labels are to the model that votes."""
        from ..encoders.likeness import label_likeness

        model, head = self.encoder, self.text_head
        if self.teacher is not None and self.teacher_head is not None:
            model, head = self.teacher, self.teacher_head
        return label_likeness(
            model, head, templates=self.templates, cache_dir=self.cache_dir, build_head=self.build_head
        )

    @property
    def plan(self) -> ViewPlan:
        """Which views the classifier may look at."""
        seconds = self.url_timeout if self.allow_urls else None
        return ViewPlan(self.encoder, self.n_views, self.seed, self.augment, self.limits, self.cache_dir, seconds)

    def prepare(self, image: ImageSource | Keyed, *, first: int | None = None) -> Sample:
        """An image read, its `first` views drawn (None: those of the first round, unless known; 0: none yet)."""
        plan = replace(self.plan, n_views=self.method.views_used(self.n_views))
        if first is not None or not self._knows_sources:
            return plan.prepare(image, first=self.round_ends[0] if first is None else first)
        sample = plan.prepare(image, first=0)
        sample.source = self._sources.get(sample.photo.key)
        if sample.source is None:
            sample.draw(0, 1)
        return sample

    @property
    def _knows_sources(self) -> bool:
        """Whether photos of the context need not be encoded for a first round, that of the source view alone."""
        return bool(self._sources) and self.round_ends[0] == 1 and self.teacher is None

    def setup(self) -> Setup:
        """What the classifier knows apart from the images."""
        teacher = None
        if self.teacher is not None and self.teacher_head is not None:
            teacher = LabelledModel(self.teacher, self.teacher_head, teacher_offsets(self.context))
        return Setup(
            labels=self.labels,
            method=self.method,
            decider=self._decider,
            model=LabelledModel(self.encoder, self.text_head, None if self.context is None else self.context.offsets),
            teacher=teacher,
            rule=self.rule,
            abstain_below=self.abstain_below,
            evidence=self.evidence,
            detail=self.detail,
            fit=self.likely,
            presence=self.presence,
            likeness=self.likeness or 0.0,
            context=self.context,
        )

    @property
    def round_ends(self) -> tuple[int, ...]:
        """How many views of an image have been looked at after each round; without a stopping rule there is one."""
        return round_ends(self.rule, self.method.views_used(self.n_views), self.encoder)

    def task(self, sample: Sample, *, ends: Sequence[int] | None = None) -> ImageTask:
        """A prepared image as a task of a scheduler; `ends` are other rounds than `round_ends` to look in."""
        return ImageTask(sample, self.setup(), ends=self.round_ends if ends is None else ends)

    def _answers(
        self, samples: Iterable[Sample | ViewvoteError], *, batch_views: int, encode: "Encode"
    ) -> Iterator[Prediction | ViewvoteError]:
        """The predictions of prepared samples, in order; the error of one does not stop the others."""
        ends, setup = self.round_ends, self.setup()

        def task_of(sample: Sample | ViewvoteError) -> ImageTask | Settled[Prediction | ViewvoteError]:
            if isinstance(sample, ViewvoteError):
                return Settled(sample)
            task = ImageTask(sample, setup, ends=ends)
            if sample.source is not None and ends[0] == 1:
                task.receive(sample.source, 0.0)
            return task

        tasks = (one if one is None else task_of(one) for one in in_portions(samples))
        scheduler: Scheduler[Prediction | ViewvoteError] = Scheduler(
            encode, batch_views=batch_views, block=self.encoder.block_views or ends[-1]
        )
        return scheduler.run(tasks, most_open=2 * len(ends) * (batch_views // ends[0] + 1))
