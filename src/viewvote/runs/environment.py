"""What a run was computed with: versions, machine, and which weights exactly."""

import importlib.metadata
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..classify.classifier import Classifier
from ..encoders.probe import probe, same_probe
from ..errors import RecordError, RunError
from ..fields import NUMBER, TABLE, Fields, list_of
from ..images import resize as resampling

PACKAGES = (
    "numpy",
    "pillow",
    "cykooz-resizer",
    "onnxruntime",
    "openvino",
    "tokenizers",
    "torch",
    "open-clip-torch",
    "transformers",
)
DECISIVE = ("model_fingerprint", "teacher_fingerprint", "method_fingerprint", "resizer")
"""What must not change within a run: the weights, what a method reads from files, and what draws the views (its pixels
differ in the last bit)."""

PROBES = ("model_probe", "teacher_probe")


def version_of(package: str) -> str | None:
    """The installed version, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def cpu_name() -> str:
    """The processor's name, where the system reports it: quantised models differ in the last bits between kinds."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor())


def environment_of(classifier: Classifier) -> dict[str, Any]:
    """The environment as JSON-ready values."""
    teacher, likeness = classifier.teacher, classifier.likeness
    return {
        "viewvote": version_of("viewvote"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "packages": {name: version for name in PACKAGES if (version := version_of(name))},
        "resizer": "cykooz-resizer" if resampling.is_fast() else "pillow",
        "model_fingerprint": classifier.encoder.fingerprint,
        "model_probe": probe(classifier.encoder),
        "teacher_fingerprint": None if teacher is None else teacher.fingerprint,
        "teacher_probe": [] if teacher is None else probe(teacher),
        "method_fingerprint": classifier.method.fingerprint,
        "templates": list(classifier.templates),
        **({} if likeness is None else {"likeness": likeness}),
    }


def differences(before: Mapping[str, Any], now: dict[str, Any], *, source: str) -> list[str]:
    """What changed since the run started, in words; an error where the records would not fit together.

    Args:
        before: What `environment_of` was when it started, as a file has it.
        now: What it is.
        source: The file, for errors.
    """
    stored = Fields(before, source, error=RecordError)
    for name in PROBES:
        stored.optional(name, list_of(NUMBER))
    packages = stored("packages", TABLE, default={})
    for name in DECISIVE:
        if before.get(name) != now[name]:
            raise RunError(
                f"the run began with another {name.replace('_', ' ')}: {before.get(name)}, now {now[name]}. "
                "Continue with the old one, or begin a new run with another --out."
            )
    for name in PROBES:
        was = before.get(name) or []
        if not same_probe(was, now[name]):
            raise RunError(
                f"the run began with another {name.removesuffix('_probe')}: the features of a test picture were {was}, "
                f"now {now[name]}. Continue with the old one, or begin a new run with another --out."
            )
    old, new = {**before, **packages, "packages": None}, {**now, **now["packages"], "packages": None}
    return [f"{name} {old.get(name)} -> {new[name]}" for name in new if old.get(name) != new[name]]
