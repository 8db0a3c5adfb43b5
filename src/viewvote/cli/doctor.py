"""`viewvote doctor`: versions, runtimes, device, extras, caches, and a self-test of a few seconds."""

import os
import platform
import sys
from typing import Annotated, Any

import typer

from ..errors import UsageError
from .guard import guarded
from .printing import print_json
from .sharing import block

CORE = ("numpy", "pillow", "onnxruntime", "tokenizers", "huggingface-hub", "typer", "rich", "platformdirs")
EXTRAS = {
    "torch": ("torch", "torchvision", "open-clip-torch", "transformers", "safetensors", "onnx"),
    "openvino": ("openvino",),
    "ray": ("ray",),
    "serve": ("fastapi", "uvicorn", "python-multipart", "prometheus-client"),
    "ray-serve": ("ray", "grpcio", "aiohttp"),
    "plots": ("matplotlib",),
    "datasets": ("datasets",),
    "heic": ("pillow-heif",),
    "raw": ("rawpy",),
    "bulk": ("pyarrow", "fsspec", "aiohttp"),
}


@guarded
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
    share: Annotated[bool, typer.Option("--share", help="A block for an issue, without your paths.")] = False,
) -> int:
    """Check this installation: versions, extras, devices, caches and a short self-test."""
    if as_json and share:
        raise UsageError("--json and --share are two formats: give one of them.")
    report = examine()
    if share:
        typer.echo(block(report))
    elif as_json:
        print_json(report)
    else:
        for title, rows in report.items():
            typer.echo(title)
            for key, value in rows.items():
                typer.echo(f"  {key:16} {value}")
    return 0 if report["self-test"]["result"] == "passed" else 1


def examine() -> dict[str, dict[str, Any]]:
    """Everything the command prints."""
    return {
        "viewvote": {
            "version": _version("viewvote"),
            "python": platform.python_version(),
            "platform": platform.platform(),
        },
        "core": {name: _version(name) for name in CORE},
        "extras": {extra: _extra(extra, names) for extra, names in EXTRAS.items()},
        "device": _device(),
        "caches": _caches(),
        "batches": _batches(),
        "self-test": _self_test(),
    }


def _version(name: str) -> str:
    from ..runs.environment import version_of

    return version_of(name) or "missing"


def _extra(extra: str, names: tuple[str, ...]) -> str:
    missing = [name for name in names if _version(name) == "missing"]
    if not missing:
        return "installed: " + ", ".join(f"{name} {_version(name)}" for name in names)
    return f'not installed ({", ".join(missing)} missing): pip install "viewvote[{extra}]"'


def _device() -> dict[str, Any]:
    found: dict[str, Any] = {"cpu cores": os.cpu_count()}
    if _version("torch") != "missing":
        import torch

        found["cuda"] = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none"
        found["mps"] = "available" if torch.backends.mps.is_available() else "none"
    return found


def _caches() -> dict[str, str]:
    from ..files import default_cache_dir

    ours = default_cache_dir()
    probe = ours
    while not probe.exists():
        probe = probe.parent
    writable = "writable" if os.access(probe, os.W_OK) and probe.is_dir() else "NOT writable: set VIEWVOTE_CACHE"
    home = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    return {"text heads": f"{ours} ({writable})", "hub weights": f"{home} (HF_HOME)"}


def _batches() -> dict[str, str]:
    """How many views of the embedded model are encoded at once, and why."""
    from ..encoders import load_encoder
    from ..encoders.batch_size import explain_batch
    from ..errors import ViewvoteError

    try:
        size = explain_batch(load_encoder("pocket"))
    except ViewvoteError as error:
        return {"pocket": f"unknown: {error}"}
    return {"pocket": f"{size.views} views ({size.reason})"}


def _self_test() -> dict[str, Any]:
    """The embedded model must see the cat in a shipped photograph, twice the same, from decoding to vote."""
    import time

    from ..classify.classifier import Classifier
    from ..errors import ViewvoteError
    from ..files import example_photos

    start = time.perf_counter()
    try:
        photo = next(path for path in example_photos() if path.stem == "cat")
        classifier = Classifier("pocket", labels=["cat", "dog", "rocket"], n_views=8)
        first, second = (classifier(photo).to_dict(trace=True) for _ in range(2))
        same = first["trace"] == second["trace"]
        result = "passed" if first["label"] == "cat" and same else f"FAILED: {first['label']}, repeatable: {same}"
    except (ViewvoteError, OSError, RuntimeError, StopIteration) as error:
        result = f"FAILED: {error!r}"
    return {"result": result, "seconds": round(time.perf_counter() - start, 2), "executable": sys.executable}
