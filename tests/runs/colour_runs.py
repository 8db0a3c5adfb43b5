"""What the tests of runs share: a small labelled folder, and the parts of records that must repeat."""

import json
from pathlib import Path

import numpy as np
from PIL import Image

from viewvote.records.record import without_timings

COLOURS = ("blue", "green", "red")


class KilledError(Exception):
    """Stands for anything that ends a process."""


def colour_folder(root, *, each=5, size=24):
    """A folder of noisy pictures in three classes; some are of a colour between two, so views disagree."""
    rng = np.random.default_rng(7)
    for channel, colour in enumerate(reversed(COLOURS)):
        (root / colour).mkdir(parents=True)
        for i in range(each):
            pixels = rng.integers(0, 90, (size, size + i % 5, 3))
            pixels[:, : size // 2, channel] += 100
            pixels[:, size // 2 :, (channel + i) % 3] += 110
            Image.fromarray(pixels.astype(np.uint8)).save(root / colour / f"{i:04}.png")
    return root


def spoil(path):
    """Makes an image unreadable, and returns what it held."""
    data = path.read_bytes()
    path.write_bytes(b"nothing to see")
    return data


def lines_of(run):
    """The lines of a run's records without their timings; `run` is its summary or folder."""
    folder = Path(getattr(run, "path", run))
    return [without_timings(line) for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()]


def thresholds(path, share):
    """The path of a file such as `viewvote calibrate-stop` writes: stop after 8 of 64 views at this share."""
    row = {"budget": 64, "keep": 0.3, "disagreement": 0.01, "rounds": [8, 64], "thresholds": [share]}
    path.write_text(json.dumps({"calibrations": [row]}))
    return str(path)
