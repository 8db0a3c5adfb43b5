"""The ways to classify a photo that `benchmarks.endtoend` compares, and processes of their own for them."""

import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods_cost import recent_peak_mb

KEEPING_MEMORY = {  # so that malloc gives nothing back to the system, and takes nothing again
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "17179869184",
    "MALLOC_TOP_PAD_": "268435456",
}


@dataclass(frozen=True)
class Mode:
    """One way: the authors' (`reference`) or ours, with the model, its precision and how many views it looks at.

    ends_after    rounds of views, as adaptive ones are, that end after so many whatever the views say: what an image
                  costs that needs as many
    keeps_memory  its process is told to keep the memory that it frees
    """

    name: str
    model: str
    reference: bool = False
    precision: str = "auto"
    n_views: int | str = 64
    disagreement: str | None = None
    method: str = "zero"
    ends_after: int | None = None
    keeps_memory: bool = False


@dataclass(frozen=True)
class Answer:
    """A class, the seconds spent on reading and decoding and on drawing, and what each view said."""

    index: int
    read: float
    render: float
    labels: NDArray[np.int64]
    entropy: NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """Answers with the wall and CPU seconds they took."""

    answers: list[Answer]
    seconds: float
    cpu: float


class Worker:
    """Modes of one model and precision in a process of their own: it sleeps until asked, and its peak is its own."""

    def __init__(self, modes: Sequence[Mode], labels: Sequence[str], *, any_texts: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.modes = tuple(modes)
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self.modes, tuple(labels), any_texts), daemon=True)
        with _environment(KEEPING_MEMORY if modes[0].keeps_memory else {}):
            self._process.start()
        theirs.close()
        try:
            self._pipe.recv()
        except EOFError as error:
            raise SystemExit(f"{modes} could not be opened; the error is above.") from error

    def one(self, mode: Mode, photo: bytes) -> Run:
        """One photo by itself."""
        return self._ask(("one", mode.name, [photo]))

    def many(self, mode: Mode, photos: Sequence[bytes]) -> Run:
        """Photos as a stream."""
        return self._ask(("many", mode.name, list(photos)))

    def peak(self) -> float:
        """Its peak resident megabytes above those of the process before it loaded anything."""
        return float(self._ask(("peak", "", [])))

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(10)

    def _ask(self, question: tuple[str, str, list[bytes]]) -> Any:
        self._pipe.send(question)
        return self._pipe.recv()


@contextmanager
def _environment(extra: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(extra)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _serve(pipe: Any, modes: tuple[Mode, ...], labels: tuple[str, ...], any_texts: bool) -> None:
    idle = recent_peak_mb()
    encoder = _encoder(modes[0], any_texts)
    subjects = {
        mode.name: _AuthorsWay(mode, encoder, labels) if mode.reference else OurWay(mode, encoder, labels)
        for mode in modes
    }
    pipe.send("ready")
    try:
        while True:
            what, mode, photos = pipe.recv()
            if what == "peak":
                pipe.send(recent_peak_mb() - idle)
                continue
            subject = subjects[mode]
            start, cpu = time.perf_counter(), time.process_time()
            answers = subject.many(photos) if what == "many" else [subject.one(photos[0])]
            pipe.send(Run(answers, time.perf_counter() - start, time.process_time() - cpu))
    except EOFError:
        os._exit(0)


@dataclass(frozen=True)
class _EndsAfter:
    """A stopping rule that asks another what it thinks, for it costs time, and ends after so many views."""

    rule: Any
    views: int

    reason = "confident"

    @property
    def rounds(self) -> tuple[int, ...]:
        return tuple(self.rule.rounds)

    def settled(self, labels: NDArray[np.int64], order: NDArray[np.int64], **facts: Any) -> bool:
        self.rule.settled(labels, order, **facts)
        return len(labels) >= self.views


class OurWay:
    """A mode as a Classifier."""

    def __init__(self, mode: Mode, encoder: Any, labels: tuple[str, ...]) -> None:
        from viewvote import Classifier
        from viewvote.stopping.options import asked_views

        self._names = {label: i for i, label in reversed(list(enumerate(labels)))}
        n_views, stop = asked_views(mode.n_views, disagreement=mode.disagreement)
        self.classifier = Classifier(
            encoder, labels=labels, method=mode.method, n_views=n_views, stop=stop, unique_labels=False
        )
        if mode.ends_after is not None:
            self.classifier.rule = _EndsAfter(self.classifier.rule, mode.ends_after)

    def one(self, photo: bytes) -> Answer:
        """One photo by itself."""
        return self.answer(self.classifier(photo))

    def many(self, photos: list[bytes]) -> list[Answer]:
        """Photos as a stream."""
        return [self.answer(prediction) for prediction in self.classifier.predict_many(photos)]

    def answer(self, prediction: Any) -> Answer:
        """What is kept of a prediction."""
        views = prediction.trace.views
        labels = np.array([self._names[view.label] for view in views])
        read, render = prediction.timings["read"], prediction.timings["render"]
        return Answer(prediction.index, read, render, labels, np.array([view.entropy for view in views]))


class _AuthorsWay:
    def __init__(self, mode: Mode, encoder: Any, labels: tuple[str, ...]) -> None:
        import torch

        from benchmarks.reference import Reference
        from viewvote.encoders.text_head import encode_classes

        torch.manual_seed(0)
        tower = encoder.model.encode_image if hasattr(encoder.model, "encode_image") else encoder.model.image
        text = torch.from_numpy(encode_classes(encoder, labels, templates=["a photo of a {}."]))
        views = int(mode.n_views)
        self._reference = Reference(tower, text, encoder.image_spec, encoder.logit_scale, n_views=views)

    def one(self, photo: bytes) -> Answer:
        return Answer(self._reference(photo), 0.0, 0.0, np.zeros(0, dtype=np.int64), np.zeros(0))

    def many(self, photos: list[bytes]) -> list[Answer]:
        return [self.one(photo) for photo in photos]


def _encoder(mode: Mode, any_texts: bool) -> Any:
    from viewvote.encoders import LoadOptions, load_encoder

    encoder = load_encoder(mode.model, LoadOptions(device="cpu", precision=mode.precision))
    return _AnyTexts(encoder) if any_texts else encoder


class _AnyTexts:
    """An encoder whose class embeddings are random: they cost nothing to make, and classifying costs the same."""

    fingerprint = "random texts"

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        from viewvote.encoders.base import unit_rows

        rng = np.random.default_rng(crc32(texts[0].encode()))
        return unit_rows(rng.standard_normal((len(texts), self._encoder.dim)).astype(np.float32))
