"""Classifier: the drop-in object most users meet. It augments, predicts, keeps the confident views and votes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Literal, overload

from ..arrays import Float32
from ..checks import checked_whole
from ..context.base import Context
from ..errors import ViewvoteError
from ..images.photo import ImageSource
from ..labels.texts import Labels
from ..prediction import Prediction
from ..registry import unknown_name
from ..views.sample import Keyed
from .base import BaseClassifier
from .estimator import Estimator, Images
from .features import Features, checked_features
from .gather import checked_context, gather_context
from .objects import weakly
from .options import checked_image, checked_images
from .prefetch import GivenImage
from .progress import Progress, counted
from .recall import recall_each
from .scheduler import Encode, encode_units
from .stream import answers_of, answers_to


class Classifier(BaseClassifier, Estimator):
    """A zero-shot image classifier around any CLIP-like model.

    >>> from viewvote import Classifier
    >>> from viewvote.files import example_photos
    >>> astronaut, cat, coffee, rocket = example_photos()
    >>> clf = Classifier("pocket", labels=["cat", "dog", "rocket"])
    >>> prediction = clf(cat)
    >>> prediction.label, round(prediction.probability, 2)
    ('cat', 0.99)
    >>> [answer.label for answer in clf.predict_many([cat, rocket])]
    ['cat', 'rocket']

    What is asked, of which model:

    model          a model id ("pocket", "open_clip:ViT-B-16/openai", ...) or an Encoder
    labels         the answers to choose from, in words; all different, unless unique_labels=False (ImageNet's 1000
                   names have "missile" twice: then `prediction.index` distinguishes them). A mapping gives each its
                   texts, {"cat": ["a cat", "a kitten"], ...}, whose vectors are averaged (docs/guides/files.md)
    templates      a template set ("photo", "ensemble", ...), one template, or a list of templates; None is "photo",
                   except for methods that bring their own ("ensemble")

    How views decide:

    method         "anchored" (the default: the confident views vote, and the source view has a say), "zero" (the
                   paper's vote), "zero-shot", "marginal", ... or a method object
    n_views        how many views to look at: the source view and n_views - 1 random crops; "adaptive" is as many as an
                   image needs, at most 64 (`Adaptive(...)` sets the budget and the accepted rate of disagreement).
                   "auto" is "adaptive" for methods that vote, else 64
    keep           the share of most confident views that decide; None is the method's own default
    stop           "exact": leave out the last views of an image where they cannot change its answer
    seed           the views of an image depend on this and on its content, on nothing else
    teacher        a stronger model: `model` then only chooses the views, and the teacher votes on those
    context        unlabelled photos that take a pull of labels out: a file of `viewvote context`, or a `Context`; see
                   `with_context`. None: no photo's answer depends on another
    augment        "crops", the paper's views, or "augmix": the same crops mixed, as TPT and RLCF on fine-grained sets

    When to give no label, or several:

    abstain_below  answers that are less probable than this get no label
    none_of_these  also answer "none of these", for photos that show none of the labels
    multi_label    also answer for each label alone whether it is there (`prediction.shown`)
    thresholds     with `multi_label`, from which probability on a label is there: one number, or numbers by label
    calibration    how a probability comes from the views: a file of `viewvote calibrate`, or a `ProbabilityFit`; None
                   is what the model ships with

    Loading and reading:

    options        how models are loaded: `LoadOptions` of device, precision, threads
    limits         what an image may be: `ImageLimits` of bytes, pixels, memory, seconds
    cache_dir      where vectors of labels are kept; None is VIEWVOTE_CACHE, or the user's cache folder
    allow_urls     fetch images that are given as http or https addresses, within `limits` and `url_timeout` seconds

    For experiments:

    evidence       keep in the trace what other settings can be scored from without the model (`trace.evidence`)
    detail         keep there, with the evidence, every view's probabilities of all classes too
    text_head      a file of the labels' vectors (.npy or .safetensors), in place of the model's text tower; templates
                   then do not apply
    build_head     what turns labels and templates into a text head; by default they are encoded once and kept on disk

    With a training-free method, one classifier may be called from any number of threads at once. Streaming methods
    learn from image to image and tuning ones change their model for a while: those are for one thread. Pickled or
    deep-copied, it loads its model again by its id; a model that was never loaded by one is pickled as it is.
    """

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

    def _classified(self, image: ImageSource | Keyed, encode: Encode, *, batch_views: int) -> Prediction:
        sample = self.prepare(checked_image(image))
        (result,) = answers_of(self, [sample], batch_views=batch_views, encode=encode)
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
        answers = answers_to(self, checked_images(images), batch_views=batch_views, on_error=on_error)
        return counted(answers, progress, images=images)

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
        features = checked_features(features)
        return counted(recall_each(self, features.encoding, features), progress, images=features)

    def predictions(self, images: Images) -> Iterator[Prediction]:
        """The predictions for images, or for images that were encoded, in their order."""
        return self.predict_features(images) if isinstance(images, Features) else self.predict_many(images)
