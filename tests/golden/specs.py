"""Specs of runs: their digests, the names of their folders, and their files."""

import json
import re
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

HOMES = ("viewvote.runs.spec", "viewvote.harness.spec")
"""Where `RunSpec` may live: it is no public name."""

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "folder": {"dataset": "/data/My pictures, 2024/été"},
    "classes": {"dataset": "/data/photos.csv", "classes": "/data/labels.txt", "root": "/data"},
    "model": {"model": "open_clip:ViT-B-16/openai", "device": "cuda", "dtype": "fp16"},
    "runtime": {"model": "clip-b16", "runtime": "openvino", "precision": "int8"},
    "settings": {"settings": {"tie": "random", "zero_temperature": "eps-fp16", "n": 3, "x": 0.1}, "keep": 0.1},
    "lists": {"method": "tda", "settings": {"pair": (0.2, 0.5), "names": ["a", 'b "c"']}, "order": "shuffled"},
    "adaptive": {"views": "adaptive", "disagreement": 0.005},
    "exact": {"views": 16, "stop": "exact"},
    "stop-file": {"views": "adaptive", "stop": "/data/stop.json", "stop_fingerprint": "0123456789ab"},
    "templates": {"templates": ("a photo of a {}.", "itap of a {}."), "order": "dataset"},
    "cascade": {"teacher": "hf:org/big", "templates": "ensemble", "limit": 500, "seed": 2},
    "augmix": {"augment": "augmix", "method": "marginal", "keep": 1.0},
    "opened": {"order": "dataset", "fingerprint": "4b92a3ce5681e2475f3ece6742b1c5686bef47c17966898bac0ba762d85dca93"},
    "unicode": {"dataset": '/data/\u20ac\u007f\\ "q"\t\'', "templates": "dataset"},
}
FIELDS = (
    *(
        "dataset",
        "classes",
        "root",
        "model",
        "method",
        "settings",
        "views",
        "stop",
        "disagreement",
        "keep",
        "templates",
    ),
    *("teacher", "augment", "seed", "order", "limit", "device", "dtype", "runtime", "precision", "fingerprint"),
)
"""Of a spec; `stop_fingerprint` counts only where it is given."""


def run_spec() -> Any:
    """The class `RunSpec`, wherever it lives."""
    for home in HOMES:
        try:
            return import_module(home).RunSpec
        except ModuleNotFoundError as error:
            if error.name is None or not home.startswith(error.name):
                raise
    raise ModuleNotFoundError(f"RunSpec is in none of {', '.join(HOMES)}; add its home to HOMES.")


def spec_texts() -> Iterator[tuple[str, str]]:
    """For each variant its digest, folder name and file, and those of the spec read from that file."""
    kind = run_spec()
    for name, values in VARIANTS.items():
        spec = kind(**({"dataset": "imagenet-a"} | values))
        again = kind.from_toml(spec.to_toml())
        facts = [spec.digest, spec.folder_name("My data/imagenet-a"), again.digest, spec.to_toml(), again.to_toml()]
        yield name, "\n".join(facts)


def expected_digest(spec_file: Path) -> str:
    """The digest in a run folder's name, from its spec file alone: the start of the sha256 of all fields as JSON."""
    given = tomllib.loads(spec_file.read_text(encoding="utf-8"))
    values = dict.fromkeys(FIELDS) | {"settings": {}} | given
    return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def named_digest(folder: Path) -> str:
    """The digest that a run folder's name ends with."""
    found = re.search(r"-([0-9a-f]{12})$", folder.name)
    return found[1] if found else ""
