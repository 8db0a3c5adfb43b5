"""The JSON that predictions are written as, wherever they are written."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answer import Prediction


def values_of(prediction: "Prediction", *, trace: bool, top: int | None) -> dict[str, Any]:
    """What `Prediction.to_dict` returns."""
    names = label_keys(prediction.labels)
    order = prediction.ranking(top)
    likely, votes, each, context = prediction.probabilities, prediction.votes, prediction.each, prediction.context
    out: dict[str, Any] = {
        "path": prediction.path,
        "label": prediction.label,
        "index": prediction.index,
        "probability": prediction.probability,
        "confidence": prediction.confidence,
        "confidence_is": "probability",
        "vote_share": prediction.vote_share,
        "probabilities": {names[i]: float(likely[i]) for i in order},
        "scores": {names[i]: float(prediction.scores[i]) for i in order},
        "votes": None if votes is None else {names[i]: votes[i].item() for i in order},
        "kept_views": prediction.kept_votes,
        "tie_break": prediction.tie_break,
        "method": prediction.method,
        "model": prediction.model,
        "timings": dict(prediction.timings),
        "views_used": prediction.views_used,
    }
    if each is not None:
        out["each"] = {names[i]: float(each.probabilities[i]) for i in order if i < len(each.thresholds)}
        out["shown"] = list(prediction.shown)
    if prediction.stop is not None:
        out["stop"] = prediction.stop
    if prediction.notes:
        out["notes"] = list(prediction.notes)
    if context is not None:
        out["context"] = context.to_summary(names[: len(context.offsets)] if trace else None)
    if trace and prediction.trace is not None:
        out["trace"] = prediction.trace.to_dict()
    return out


@lru_cache(maxsize=16)  # one tuple of labels serves a whole run: 10,000 of them would take 1 ms an image
def label_keys(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The labels as dictionary keys: the second and later uses of one name carry their index ("missile#744")."""
    seen: set[str] = set()
    taken = set(labels)
    keys = []
    for i, label in enumerate(labels):
        key = label
        if label in seen:
            while key in taken:  # a label of its own may be called "missile#744"
                key += f"#{i}"
            taken.add(key)
        seen.add(label)
        keys.append(key)
    return tuple(keys)
