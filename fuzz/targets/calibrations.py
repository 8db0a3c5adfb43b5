"""Files of `viewvote calibrate-stop` and of `viewvote calibrate`."""

import json
import random
from contextlib import suppress
from typing import Any

from viewvote.classify.calibration import read_calibration
from viewvote.errors import UsageError
from viewvote.stopping.adaptive import read_calibrations

from ..mutators import mutated_json_bytes as mutate
from ..worker import scratch

__all__ = ["mutate", "run", "seeds"]

_STOP: dict[str, Any] = {
    "calibrations": [
        {"budget": 64, "keep": 0.3, "disagreement": 0.01, "rounds": [4, 8, 64], "thresholds": [0.9, None]},
        {"budget": 64, "keep": 0.3, "disagreement": 0.05, "rounds": [1, 64], "thresholds": [0.5], "level": "noise"},
    ]
}
_PROBABILITY = {
    "format": "viewvote-calibration-1",
    "method": "zero",
    "model": "pocket",
    "source": 0.5,
    "slope": 1.5,
    "offset": 0.1,
    "measured": {"before": {"ece": 0.1}},
}


def seeds(rng: random.Random) -> list[bytes]:
    """Files of both kinds, and some whose rounds never end."""
    del rng
    looping = [{**_STOP["calibrations"][1], "rounds": rounds} for rounds in ([-4, 64], [0, 64], [64, 64], ["4", 64])]
    found = [_STOP, _PROBABILITY, *({"calibrations": [one]} for one in looping)]
    return [json.dumps(one).encode() for one in found]


def run(data: bytes) -> None:
    """Read the file as both kinds; where thresholds are accepted, ask for all rounds of every rule."""
    path = scratch() / "calibration.json"
    path.write_bytes(data)
    with suppress(UsageError):
        read_calibration(path)
    for calibration in read_calibrations(path):
        rule, looked = calibration.rule(), 0
        for end in rule.rounds:
            assert looked < end <= calibration.budget, f"rounds {rule.rounds} of {calibration.budget}"
            looked = end
