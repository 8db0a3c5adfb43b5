"""The service without HTTP: a model loaded once, its caches, its engine, and classifiers as requests ask for them."""

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..classify.calibration import read_calibration
from ..classify.classifier import Classifier
from ..classify.gather import checked_context
from ..context.file import read_context
from ..encoders import Encoder, load_encoder
from ..errors import UsageError
from ..images.photo import ImageLimits
from ..labels.texts import Labels
from ..methods import Method, TrainingFreeMethod
from ..methods.settings import build_method
from ..probability import ProbabilityFit
from ..stopping.options import asked_views
from .engine import Engine
from .features import FeatureCache
from .heads import HeadCache, HeadUnknownError
from .options import Options, asked_method, checked_method_name
from .settings import Settings

CLASSIFIERS = 8
"""Classifiers that are kept: making one costs half a millisecond, and each may hold a text head of several MB."""

OF_THE_ANSWER = {"top", "trace", "timeout"}
"""Options that a classifier does not depend on."""


class Service:
    """What all requests share, ready to use; `start` it before the first request and `close` it after the last."""

    def __init__(self, settings: Settings, *, encoder: Encoder | None = None, teacher: Encoder | None = None) -> None:
        self.settings = settings
        self.encoder = load_encoder(settings.model, settings.load_options) if encoder is None else encoder
        self.teacher = teacher
        if teacher is None and settings.teacher is not None:
            self.teacher = load_encoder(settings.teacher, settings.load_options)
        self.context = None if settings.context is None else read_context(Path(settings.context))
        self.calibration = None if settings.calibration is None else read_calibration(Path(settings.calibration))
        self._check_calibration()
        self.heads = HeadCache(max_bytes=settings.head_bytes, max_texts=settings.limits.texts)
        self.features = FeatureCache(self.encoder, max_bytes=settings.feature_bytes)
        self.engine = Engine(
            self.encoder,
            self.features,
            max_queue=settings.max_queue,
            max_views=settings.limits.views,
            teacher=self.teacher,
        )
        self._classifiers: OrderedDict[str, Classifier] = OrderedDict()  # of the last requests; of the loop's thread
        self.pictures = ThreadPoolExecutor(1, thread_name_prefix="viewvote-pictures")
        self._texts = ThreadPoolExecutor(1, thread_name_prefix="viewvote-texts")
        limits = settings.limits
        self._image_limits = ImageLimits(
            max_bytes=limits.bytes,
            max_pixels=limits.pixels,
            decode_memory=limits.decode_memory,
            decode_seconds=limits.decode_seconds,
        )
        self._warm_up()

    def start(self) -> None:
        """Take jobs."""
        self.engine.start()

    def close(self) -> None:
        """Answer what was accepted, then end."""
        self.engine.close()
        self._texts.shutdown(wait=False, cancel_futures=True)
        self.pictures.shutdown(wait=False, cancel_futures=True)

    async def classifier_for(self, options: Options) -> Classifier:
        """The classifier that the options ask for; texts not met before are encoded on a thread of their own."""
        key = repr(options.model_dump(exclude=OF_THE_ANSWER))  # not as JSON: texts may have what UTF-8 has not
        if key in self._classifiers:
            self._classifiers.move_to_end(key)
            return self._classifiers[key]
        arguments = self._arguments(options)
        try:
            found = Classifier(self.encoder, **arguments, build_head=self.heads.recall)
        except HeadUnknownError:
            build = partial(Classifier, self.encoder, **arguments, build_head=self.heads.build)
            found = await asyncio.get_running_loop().run_in_executor(self._texts, build)
        self._classifiers[key] = found = self._in_context(found)
        if len(self._classifiers) > CLASSIFIERS:
            self._classifiers.popitem(last=False)
        return found

    def _in_context(self, classifier: Classifier) -> Classifier:
        """The classifier with the service's context, where that is of its labels, templates and models."""
        context = self.context
        if context is None or classifier.labels_digest != context.labels:
            return classifier
        if (context.teacher is None) is not (classifier.teacher is None):
            return classifier
        return classifier.in_context(context) if isinstance(classifier.method, TrainingFreeMethod) else classifier

    def _check_calibration(self) -> None:
        """Raise UsageError unless the calibration is of a model that votes here and of a method that is served."""
        found, voters = self.calibration, [each.model_id for each in (self.encoder, self.teacher) if each is not None]
        if found is None:
            return
        checked_method_name(found.method)
        if found.model not in voters:
            raise UsageError(
                f"{self.settings.calibration} was fitted for the model {found.model!r}, and this service has "
                f"{' and '.join(map(repr, voters))}; run `viewvote calibrate` on records of this one."
            )

    def _fit_for(self, method: str | Method, teacher: Encoder | None) -> ProbabilityFit | None:
        """The calibration's numbers where they are of the request's method and of the model that votes."""
        found, name = self.calibration, method if isinstance(method, str) else method.name
        voter = self.encoder if teacher is None else teacher
        return found.fit if found is not None and (found.method, found.model) == (name, voter.model_id) else None

    def _warm_up(self) -> None:
        """Check the defaults, encode the default labels, and run the model once."""
        labels = self.settings.labels or ["cat", "dog"]
        defaults = self._arguments(Options(labels=["cat", "dog"])) | {"labels": labels}
        own = Classifier(self.encoder, **defaults, build_head=self.heads.preload)
        if self.context is not None:
            if self.settings.labels is None:
                raise UsageError("--context is of certain labels: name them with --labels or --labels-file.")
            checked_context(self.context, own)
        side = self.encoder.image_spec.size
        self.encoder.encode_images(np.zeros((2, side, side, 3), dtype=np.uint8))

    def _arguments(self, options: Options) -> dict[str, Any]:
        """A Classifier's arguments, checked as far as only a service can."""
        settings = self.settings
        method = asked_method(settings.method if options.method is None else options.method, options)
        labels: Labels | None = settings.labels if options.labels is None else options.labels
        if labels is None:
            raise UsageError('give the labels to choose from, e.g. "labels": ["cat", "dog"]; this service has none.')
        views = settings.views if options.views is None else options.views
        teacher = self._teacher_for(options, method)
        n_views, stop = asked_views(views, stop=options.stop, disagreement=options.disagreement)
        return {
            "labels": labels,
            "method": method,
            "n_views": n_views,
            "stop": stop,
            "keep": options.keep if isinstance(method, str) else None,  # else the method has it
            "templates": settings.templates if options.templates is None else options.templates,
            "teacher": teacher,
            "calibration": self._fit_for(method, teacher),
            "abstain_below": options.abstain_below,
            "none_of_these": options.none,
            "multi_label": options.multi_label,
            "seed": options.seed,
            "augment": options.augment,
            "limits": self._image_limits,
        }

    def _teacher_for(self, options: Options, method: str | Method) -> Encoder | None:
        """The teacher that votes: by default the loaded one, if the method asks any."""
        asked = options.teacher
        if asked is None:
            built = build_method(method, {}) if isinstance(method, str) else method
            return self.teacher if built.asks_teacher else None
        if asked is False:
            return None
        if self.teacher is None or asked not in (True, self.teacher.model_id):
            loaded = "none" if self.teacher is None else repr(self.teacher.model_id)
            raise UsageError(f"the teacher of this service is {loaded}; it is chosen when the service starts.")
        return self.teacher
