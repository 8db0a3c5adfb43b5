"""What a watcher of a vote is shown, as JSON values and as server-sent events."""

import json
from typing import Any

from ..prediction import Prediction
from .job import Size

TOP = 16
"""Labels listed in a round where the request does not say how many."""


def event(name: str, data: dict[str, Any]) -> bytes:
    """One server-sent event; JSON has no line breaks, so the data is one line."""
    return f"event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n".encode()


def zero_shot_of(prediction: Prediction) -> dict[str, Any] | None:
    """What the source view says by itself: view 0, the model's own resize and centre square."""
    if prediction.trace is None:
        return None
    source = prediction.trace.views[0]
    return {"label": source.label, "probability": source.top_probability}


def round_data(
    shown: Prediction, size: Size, *, image: int, number: int, budget: int, top: int | None
) -> dict[str, Any]:
    """The data of a `round` event: what would be answered if the image ended here."""
    full = shown.to_dict(trace=True, top=top or TOP)
    scores = {label: score for label, score in full["scores"].items() if score > 0}
    votes = full["votes"]
    return {
        "image": image,
        "width": size[0],
        "height": size[1],
        "round": number,
        "seen": shown.views_used,
        "budget": budget,
        "views": full["trace"]["views"],
        "scores": scores,
        "votes": None if votes is None else {label: votes[label] for label in scores},
        "leader": shown.labels[shown.index],
        "zero_shot": zero_shot_of(shown),
    }


def prediction_data(prediction: Prediction, size: Size, *, image: int, top: int | None) -> dict[str, Any]:
    """The data of a `prediction` event."""
    shown = prediction.to_dict(trace=True, top=top)
    return {"image": image, "width": size[0], "height": size[1], "prediction": shown}
