"""One image on its way through rounds of views."""

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from ..encoders import Encoder
from ..encoders.base import block_of
from ..errors import NonFiniteError, ViewvoteError
from ..prediction import Float32, Prediction, UInt8
from ..stopping import Exact, StoppingRule
from ..stopping.rules import aligned_rounds
from ..views.sample import Sample
from ..vote import checked_logits, entropy_of, log_softmax
from .deciding import Answerer

ALL_VIEWS = "all views"


class Rounds:
    """A sample whose views are encoded in rounds until a rule or the budget ends it (a Task of the scheduler).

    Without a rule there is one round of all views. What the rule looks at is the student's labels and entropies. In a
    cascade the teacher is asked once, about the views kept of those seen when the rounds ended; only the exact rule
    must know its votes before, on the views that are kept whatever comes.
    """

    def __init__(self, sample: Sample, answerer: Answerer, *, rule: StoppingRule | None, ends: Sequence[int]) -> None:
        self.answer: Prediction | ViewvoteError | None = None
        self._sample = sample
        self._answerer = answerer
        self._rule = rule
        self._ends = list(ends)
        self._features = np.zeros((0, answerer.encoder.dim), dtype=np.float32)
        self._logits = np.zeros((0, len(answerer.labels)), dtype=np.float32)
        self._encode = self._look = 0.0  # seconds
        self._said: dict[int, Float32] = {}  # the teacher's logits of views it was asked about

    @property
    def wanted(self) -> range:
        """The views of the next round."""
        return range(len(self._features), self._ends[0])

    def views(self, start: int, end: int) -> UInt8:
        """Their pixels."""
        return self._sample.draw(start, end)

    def receive(self, features: Float32, seconds: float) -> None:
        """Answer, or start to draw the views of the next round."""
        start = perf_counter()
        self._features = np.concatenate([self._features, features])
        self._encode += seconds
        self._ends.pop(0)
        try:
            self._logits = logits = self._answerer.logits(self._features, self._logits)
            stop = self._stop(logits)
            self._look += perf_counter() - start
            if stop is None and self._ends:
                self._sample.draw_ahead(self._ends[0])
            else:
                self.answer = self._answer(logits, stop)
        except NonFiniteError as error:  # of this image alone: the others of the stream go on
            self.answer = error

    def _stop(self, logits: Float32) -> str | None:
        """Why this image's rounds end here; None if they go on, or where no rule is at work."""
        if self._rule is None:
            return None
        if not self._ends:
            return ALL_VIEWS
        entropy = entropy_of(log_softmax(checked_logits(logits)))
        labels = logits.argmax(axis=-1)
        if isinstance(self._rule, Exact) and self._answerer.teacher is not None:
            certain = self._rule.certain(entropy)
            labels[certain] = self._answerer.ask_teacher(self._sample, certain, self._said).argmax(axis=-1)
        return self._rule.reason if self._rule.settled(labels, entropy) else None

    def _answer(self, logits: Float32, stop: str | None) -> Prediction:
        return self._answerer.predict(
            self._sample, self._features, logits, said=self._said, encode=self._encode, look=self._look, stop=stop
        )


def round_ends(rule: StoppingRule | None, budget: int, encoder: Encoder) -> tuple[int, ...]:
    """How many views have been encoded after each round; rounds end where the encoder's blocks do."""
    return (budget,) if rule is None else aligned_rounds(rule.rounds, block_of(encoder) or 1)


def encode_units(encoder: Encoder) -> Callable[[Sequence[UInt8]], list[Float32]]:
    """A function from units of views to their features, in as few calls as leave the features of each unit alone.

    An encoder that works in blocks counts them from the first view of a call, so whole blocks may share one; after a
    part of a block a new call begins. Where nothing is known of an encoder, every unit is a call of its own.
    """
    block = block_of(encoder)

    def encode(units: Sequence[UInt8]) -> list[Float32]:
        calls: list[list[UInt8]] = [[]]
        for unit in units:
            if calls[-1] and len(calls[-1][-1]) != block:
                calls.append([])
            calls[-1].append(unit)
        rows = []
        for call in calls:
            features = encoder.encode_images(np.concatenate(call))
            rows.extend(np.split(features, np.cumsum([len(unit) for unit in call])[:-1]))
        return rows

    return encode
