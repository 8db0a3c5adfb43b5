"""The ways to classify a photo that `benchmarks.endtoend` compares, and a process of its own for each."""

import multiprocessing
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods_cost import recent_peak_mb


@dataclass(frozen=True)
class Mode:
    """One way: the authors' (`reference`) or ours, with the model, its precision and how many views it looks at."""

    name: str
    model: str
    reference: bool = False
    precision: str = "auto"
    n_views: int | str = 64
    stop: str | None = None
    method: str = "zero"


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
    """A mode in a process of its own: it sleeps until asked, and its peak memory is its own."""

    def __init__(self, mode: Mode, labels: Sequence[str], *, any_texts: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.mode = mode
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, mode, tuple(labels), any_texts), daemon=True)
        self._process.start()
        theirs.close()
        try:
            self._pipe.recv()
        except EOFError as error:
            raise SystemExit(f"{mode} could not be opened; its own error is above.") from error

    def one(self, photo: bytes) -> Run:
        """One photo by itself."""
        return self._ask(("one", [photo]))

    def many(self, photos: Sequence[bytes]) -> Run:
        """Photos as a stream."""
        return self._ask(("many", list(photos)))

    def peak(self) -> float:
        """Its peak resident megabytes above those of the process before it loaded anything."""
        return float(self._ask(("peak", [])))

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(10)

    def _ask(self, question: tuple[str, list[bytes]]) -> Any:
        self._pipe.send(question)
        return self._pipe.recv()


def _serve(pipe: Any, mode: Mode, labels: tuple[str, ...], any_texts: bool) -> None:
    idle = recent_peak_mb()
    subject = _AuthorsWay(mode, labels, any_texts) if mode.reference else _OurWay(mode, labels, any_texts)
    pipe.send("ready")
    try:
        while True:
            what, photos = pipe.recv()
            if what == "peak":
                pipe.send(recent_peak_mb() - idle)
                continue
            start, cpu = time.perf_counter(), time.process_time()
            answers = subject.many(photos) if what == "many" else [subject.one(photos[0])]
            pipe.send(Run(answers, time.perf_counter() - start, time.process_time() - cpu))
    except EOFError:
        os._exit(0)


class _OurWay:
    def __init__(self, mode: Mode, labels: tuple[str, ...], any_texts: bool) -> None:
        from viewvote import Classifier

        self._names = {label: i for i, label in reversed(list(enumerate(labels)))}
        extra = {} if mode.stop is None else {"stop": mode.stop}
        self._classifier = Classifier(
            _encoder(mode, any_texts),
            labels=labels,
            method=mode.method,
            n_views=mode.n_views,
            unique_labels=False,
            **extra,
        )

    def one(self, photo: bytes) -> Answer:
        return self._answer(self._classifier(photo))

    def many(self, photos: list[bytes]) -> list[Answer]:
        return [self._answer(prediction) for prediction in self._classifier.predict_many(photos)]

    def _answer(self, prediction: Any) -> Answer:
        views = prediction.trace.views
        labels = np.array([self._names[view.label] for view in views])
        read, render = prediction.timings["read"], prediction.timings["render"]
        return Answer(prediction.index, read, render, labels, np.array([view.entropy for view in views]))


class _AuthorsWay:
    def __init__(self, mode: Mode, labels: tuple[str, ...], any_texts: bool) -> None:
        import torch

        from benchmarks.reference import Reference
        from viewvote.encoders.text_head import encode_classes

        torch.manual_seed(0)
        encoder = _encoder(mode, any_texts)
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
