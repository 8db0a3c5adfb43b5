"""Where viewvote keeps what can be made again, and how a file gets there: whole or not at all."""

import os
import tempfile
from pathlib import Path

import platformdirs


def default_cache_dir() -> Path:
    """Where viewvote keeps what can be made again; the environment variable VIEWVOTE_CACHE moves it."""
    return Path(os.environ.get("VIEWVOTE_CACHE") or platformdirs.user_cache_dir("viewvote", appauthor=False))


def leave(path: Path, data: bytes) -> None:
    """Leave the data for the next start, whole or not at all; a place that cannot be written is no error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
            file.write(data)
        os.replace(file.name, path)  # noqa: PTH105 - atomic on every platform
    except OSError:
        return
