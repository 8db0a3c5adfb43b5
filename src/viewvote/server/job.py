"""One image of a request on its way: it waits, is prepared, names the views it wants, and is answered once."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter

import numpy as np

from ..arrays import Float32, UInt8
from ..classify.classifier import Classifier
from ..classify.image_task import ImageTask, blank_views
from ..classify.scheduler import cut_inside_block, receive_known
from ..errors import ViewvoteError
from ..images.failures import image_errors
from ..prediction import Prediction
from ..stopping.rules import STEP, aligned_rounds
from ..views.sample import Keyed
from .features import FeatureCache
from .refusals import RefusedError

Outcome = Prediction | ViewvoteError
Size = tuple[int, int]
Watch = Callable[[Prediction, Size], None]

CANCELLED = RefusedError("client_closed_request", "the client went away.")


@dataclass(frozen=True)
class Upload:
    """An image as it was sent; `name` is what the client calls it, never a place to read from."""

    data: bytes
    name: str | None = None

    @property
    def called(self) -> str:
        """What errors call it."""
        return self.name or f"{len(self.data)} bytes"


class Job:
    """A Task of the scheduler. `deliver` is called once, with the outcome, and `watch` after every round of views.

    Both are called on the engine's threads. Whatever goes wrong with this image is its own outcome: the others of the
    batch never know of it.
    """

    def __init__(
        self, upload: Upload, classifier: Classifier, *, deliver: Callable[[Outcome], None], watch: Watch | None = None
    ) -> None:
        self.upload = upload
        self.classifier = classifier
        self.first_views = classifier.round_ends[0]
        self.submitted = perf_counter()
        self.waited = 0.0  # seconds until its preparation started
        self.size: Size = (0, 0)
        self._deliver = deliver
        self._watch = watch
        self._outcome: Outcome | None = None
        self._lock = Lock()
        self._task: ImageTask | None = None
        self._rows: list[Float32] = []
        self._keep_rows: Callable[[Float32], None] | None = None

    @property
    def answer(self) -> Outcome | None:
        """The outcome, or None while views are wanted."""
        return self._outcome

    @property
    def wanted(self) -> range:
        """The views to encode next."""
        return range(0) if self._task is None else self._task.wanted

    def prepare(self, features: FeatureCache, *, on_demand: bool = False) -> bool:
        """Decode the image and draw the first views; answer at once as far as their features are known.

        With `on_demand` views are drawn by the thread that asks for them. Returns whether views are wanted.
        """
        self.waited = perf_counter() - self.submitted
        try:
            with image_errors(self.upload.called):
                self._start(features, on_demand=on_demand)
        except ViewvoteError as error:
            self.finish(error)
        return self._outcome is None

    def views(self, start: int, end: int) -> UInt8:
        """The pixels of the wanted views; blank ones where they cannot be drawn, for then the job has ended."""
        task = self._task
        try:
            if task is not None:
                with image_errors(self.upload.called, doing="draw"):
                    pixels = task.views(start, end)
                if task.answer is not None:
                    self.finish(task.answer)
                return pixels
        except ViewvoteError as error:
            self.finish(error)
        return blank_views(end - start, self.classifier.encoder)

    def receive(self, features: Float32, seconds: float) -> None:
        """Take the features of the wanted views, show the round, and answer if it was the last."""
        task = self._task
        if self._outcome is not None or task is None:
            return
        try:
            task.receive(features, seconds)
            self._rows.append(features)
            if self._watch is not None and not isinstance(task.answer, ViewvoteError):
                self._watch(task.preview(), self.size)
            if task.answer is not None:
                self.finish(_named(task.answer, self.upload.name))
        except ViewvoteError as error:
            self.finish(error)
        except Exception as error:  # noqa: BLE001 - an image must not stop the others
            self.finish(RefusedError("internal_error", f"unexpected {type(error).__name__} while deciding."))

    def finish(self, outcome: Outcome) -> None:
        """Deliver the outcome, unless there was one before; what the job holds is let go."""
        with self._lock:
            if self._outcome is not None:
                return
            self._outcome = outcome
        if self._keep_rows is not None and self._rows:
            self._keep_rows(np.concatenate(self._rows))
        self._task, self._rows, self._keep_rows = None, [], None
        self._deliver(outcome)

    def cancel(self) -> None:
        """Stop the work: nobody waits for the answer any more."""
        self.finish(CANCELLED)

    def _start(self, features: FeatureCache, *, on_demand: bool) -> None:
        clf = self.classifier
        key = features.key(self.upload.data, seed=clf.seed, augment=clf.augment)
        ends = self._ends()
        known = features.known(key)
        cut = cut_inside_block(ends, len(known), clf.encoder.block_views)
        if cut is not None:
            known = known[: max((end for end in ends if end < cut), default=0)]
        if clf.teacher is not None or len(known) < ends[0]:
            known = known[:0]
        sample = clf.prepare(Keyed(_readable(self.upload), key=key[0]), first=0)
        sample.known, sample.on_demand = len(known), on_demand
        sample.draw_ahead(ends[0])
        self.size = sample.photo.size
        self._task = clf.task(sample, ends=ends)
        self._keep_rows = (lambda rows: features.keep(key, rows)) if features.on else None
        receive_known(self, known)

    def _ends(self) -> tuple[int, ...]:
        """The rounds: the classifier's own, or every eight views where somebody watches and no rule asks for others.

        Features and logits of whole blocks do not depend on what follows, so the answer is the same to the last bit.
        """
        clf = self.classifier
        ends, block = clf.round_ends, clf.encoder.block_views
        if self._watch is None or clf.rule is not None or block is None:
            return ends
        return aligned_rounds((*range(STEP, ends[-1], STEP), ends[-1]), block)


def _readable(upload: Upload) -> io.BytesIO | bytes:
    """The image under the client's name for it, which errors then mention."""
    if not upload.name:
        return upload.data
    file = io.BytesIO(upload.data)
    file.name = upload.name
    return file


def _named(answer: Outcome, name: str | None) -> Outcome:
    return replace(answer, path=name) if isinstance(answer, Prediction) and name else answer
