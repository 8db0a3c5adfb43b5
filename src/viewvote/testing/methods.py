"""The promises of a method."""

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ..arrays import Float32
from ..encoders.base import unit_rows
from ..errors import ContractError
from ..methods import METHODS, Decision, Method, StreamingMethod, TrainingFreeMethod, TuningMethod, ViewLogits
from .expect import expect

SCALE = 30.0
DIM = 6


def check_method(method: Method) -> None:
    """Raise ContractError unless the method keeps every promise that the package relies on.

    Training-free and streaming methods decide a few small images. A tuning method needs a model, so only its form is
    looked at; `viewvote.Classifier` with a small torch model shows the rest.

    Args:
        method: An object, not its class. Its name must be registered.
    """
    _check_form(method)
    if isinstance(method, TuningMethod):
        return
    for case in _cases(method):
        _check_decision(method, case)


def _check_form(method: Method) -> None:
    kinds = (TrainingFreeMethod, StreamingMethod, TuningMethod)
    expect(not isinstance(method, type), f"give an object of {method!r}, not the class")
    cls, what = type(method), type(method).__name__
    names = ", ".join(kind.__name__ for kind in kinds)
    expect(isinstance(method, kinds), f"{what} must inherit one of {names} (viewvote.methods)")
    parameters = getattr(cls, "__dataclass_params__", None)
    frozen = parameters is not None and parameters.frozen
    expect(frozen, f"{what} must be a dataclass(frozen=True): a run is described by its hyper-parameters")
    expect(isinstance(method.name, str) and method.name in METHODS, f"its name {method.name!r} must be registered")
    expect(METHODS.get(method.name) is cls, f"the name {method.name!r} must be registered for {what} itself")
    expect(_built(cls), f"{what}() must work: every hyper-parameter needs a default")
    expect(_pickled(method) == method, f"{what} must be equal to itself after pickling: it is sent to other processes")
    for n in (1, 2, 64):
        expect(1 <= method.views_used(n) <= n, f"views_used({n}) must be 1 to {n}, got {method.views_used(n)}")


def _built(cls: type[Method]) -> bool:
    try:
        cls()
    except TypeError:
        return False
    return True


def _pickled(method: Method) -> object:
    try:
        return pickle.loads(pickle.dumps(method))  # noqa: S301 - our own bytes
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ContractError(f"{type(method).__name__} must be picklable: {error}") from error


def _cases(method: Method) -> Iterator[ViewLogits]:
    """Images of one view and more, with two classes and more, some of whose views agree."""
    for seed, (n_views, n_classes) in enumerate([(1, 3), (2, 2), (8, 3), (16, 10)]):
        rng = np.random.default_rng(seed)
        text = _unit(rng, n_classes)
        towards = text[rng.integers(0, n_classes, n_views)]  # (views, dim)
        features = unit_rows(towards + 0.6 * _unit(rng, n_views))[: method.views_used(n_views)]
        logits = (SCALE * features @ text.T).astype(np.float32)
        yield ViewLogits(logits, logit_scale=SCALE, tie_draw=0.5, features=features, text=text)


def _unit(rng: np.random.Generator, rows: int) -> Float32:
    return unit_rows(rng.normal(size=(rows, DIM)).astype(np.float32))


def _decider(method: Method) -> Callable[[ViewLogits], Decision]:
    if isinstance(method, StreamingMethod):
        return method.start().decide
    if isinstance(method, TrainingFreeMethod):
        return method.decide
    raise ContractError(f"{type(method).__name__} has no decide and no start")


def _check_decision(method: Method, case: ViewLogits) -> None:
    n_views, n_classes = case.logits.shape
    where = f"on {n_views} views and {n_classes} classes"
    before = [array.copy() for array in _arrays(case)]
    decision = _decider(method)(case)
    expect(isinstance(decision, Decision), f"decide must return a Decision, got {type(decision).__name__} {where}")
    unchanged = all(np.array_equal(*pair) for pair in zip(before, _arrays(case), strict=True))
    expect(unchanged, f"decide must leave logits, features and text as they are {where}")
    _check_scores(decision, n_classes, where)
    rows = [len(decision.views.labels), len(decision.views.kept)]
    expect(max(rows) <= n_views and min(rows) >= 1, f"the table of views must have 1 to {n_views} rows, got {rows}")
    expect(bool(decision.views.kept.any()), f"at least one view must be kept {where}")
    again = _decider(_pickled(method))(replace(case))  # type: ignore[arg-type]
    same = again.index == decision.index and np.array_equal(again.scores, decision.scores)
    expect(same, f"decide must give the same answer for the same views {where}")


def _check_scores(decision: Decision, n_classes: int, where: str) -> None:
    scores = decision.scores
    expect(scores.shape == (n_classes,), f"scores must have shape {(n_classes,)}, got {scores.shape} {where}")
    expect(scores.dtype == np.float32, f"scores must be float32, got {scores.dtype} {where}")
    expect(bool(np.isfinite(scores).all() and (scores >= 0).all()), f"scores must be finite and not negative {where}")
    total = float(scores.sum())
    expect(abs(total - 1) < 1e-4, f"scores must sum to 1, they sum to {total:.6g} {where}")
    expect(0 <= decision.index < n_classes, f"index must be a class, got {decision.index} {where}")
    expect(bool(scores[decision.index] == scores.max()), f"the winner must have the largest score {where}")


def _arrays(case: ViewLogits) -> list[Float32]:
    return [array for array in (case.logits, case.features, case.text) if array is not None]
