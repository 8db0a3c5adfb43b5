"""The contract of methods: every one keeps it, and each way to break it has a sentence."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from viewvote.methods import METHODS, StreamingMethod, TrainingFreeMethod, probability_decision, register_method
from viewvote.methods.base import Stream
from viewvote.testing import ContractError, check_method


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_keeps_the_contract(name):
    if not METHODS.entry(name).is_installed:
        pytest.skip(f"needs the extra {METHODS.entry(name).extra}")
    check_method(METHODS.get(name)())


@dataclass(frozen=True)
class Mean(TrainingFreeMethod):
    """A method to break: the mean probability of all views."""

    name = "mean"

    def decide(self, views):
        return probability_decision(views, np.exp(views.logp).mean(axis=0), kept=views.order)


@pytest.fixture
def use(monkeypatch):
    """Registers a class for one test and returns an object of it."""
    for name in ("_entries", "_objects"):
        monkeypatch.setattr(METHODS, name, dict(getattr(METHODS, name)))

    def register(cls):
        register_method("mean", cls)
        return cls()

    return register


def test_a_method_of_ones_own_keeps_it(use):
    check_method(use(Mean))


class Unequal(Mean):
    def __eq__(self, other):
        return False

    __hash__ = None


class Greedy(Mean):
    def views_used(self, n_views):
        return n_views + 1


class Doubled(Mean):
    def decide(self, views):
        decision = super().decide(views)
        return replace(decision, scores=2 * decision.scores)


class Double(Mean):
    def decide(self, views):
        decision = super().decide(views)
        return replace(decision, scores=decision.scores.astype(np.float64))


class Loser(Mean):
    def decide(self, views):
        decision = super().decide(views)
        return replace(decision, index=int(decision.scores.argmin()))


class Listing(Mean):
    def decide(self, views):
        return [super().decide(views)]


class Scribbling(Mean):
    def decide(self, views):
        decision = super().decide(views)
        views.features[:] = 0
        return decision


class Keepless(Mean):
    def decide(self, views):
        return probability_decision(views, np.exp(views.logp).mean(axis=0), kept=np.zeros(len(views), dtype=bool))


ANSWERS = iter(range(1000))


class Moody(Mean):
    def decide(self, views):
        scores = np.roll(np.exp(views.logp).mean(axis=0), next(ANSWERS))
        return probability_decision(views, scores, kept=views.order)


@dataclass(frozen=True)
class Demanding(TrainingFreeMethod):
    least: int
    name = "mean"

    def decide(self, views):
        return Mean().decide(views)


@dataclass(frozen=True)
class Unpicklable(Mean):
    key: object = field(default_factory=lambda: lambda: None)


@dataclass
class Changeable(TrainingFreeMethod):
    name = "mean"

    def decide(self, views):
        return Mean().decide(views)


BROKEN = [
    (Unequal, "Unequal must be equal to itself after pickling"),
    (Greedy, r"views_used\(1\) must be 1 to 1, got 2"),
    (Doubled, "scores must sum to 1, they sum to 2 on 1 views and 3 classes"),
    (Double, "scores must be float32, got float64"),
    (Loser, "the winner must have the largest score"),
    (Listing, "decide must return a Decision, got list"),
    (Scribbling, "decide must leave logits, features and text as they are"),
    (Keepless, "at least one view must be kept"),
    (Moody, "decide must give the same answer for the same views"),
    (Unpicklable, "Unpicklable must be picklable"),
]


@pytest.mark.parametrize(("cls", "sentence"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_promise_has_its_sentence(cls, sentence, use):
    with pytest.raises(ContractError, match=sentence):
        check_method(use(cls))


def test_what_is_no_method_is_refused(use):
    for method, sentence in [
        (Mean, "give an object of"),
        (object(), "object must inherit one of TrainingFreeMethod"),
        (Changeable(), "Changeable must be a dataclass"),
        (Mean(), "its name 'mean' must be registered"),
    ]:
        with pytest.raises(ContractError, match=sentence):
            check_method(method)
    use(Mean)
    with pytest.raises(ContractError, match="the name 'mean' must be registered for Doubled itself"):
        check_method(Doubled())


def test_every_hyper_parameter_needs_a_default(use):
    register_method("mean", Demanding)
    with pytest.raises(ContractError, match=r"Demanding\(\) must work: every hyper-parameter needs a default"):
        check_method(Demanding(3))


@dataclass(frozen=True)
class Counting(StreamingMethod):
    """A stream that changes with each image, and starts anew."""

    name = "mean"

    def start(self):
        return Counter()


class Counter(Stream):
    def __init__(self):
        self.seen = 0

    def decide(self, views):
        self.seen += 1
        scores = np.exp(views.logp).mean(axis=0) ** self.seen
        return probability_decision(views, scores / scores.sum(), kept=views.order)


def test_a_stream_starts_from_nothing_each_time(use):
    check_method(use(Counting))
