"""Plugins: methods, encoders and datasets of other packages and of single files.

An installed package names its parts as entry points, and viewvote finds them when a name is unknown or names are
listed; the entry point's name is the public name, its value the object that the group asks for:

    [project.entry-points."viewvote.methods"]     # a method's class
    [project.entry-points."viewvote.encoders"]    # a function of (rest of the model id, LoadOptions) to an Encoder
    [project.entry-points."viewvote.datasets"]    # a Card, the path of a file of cards, or a function that returns one

A file is run by `--plugin FILE.py`, by `load_plugin`, or because VIEWVOTE_PLUGINS names it, and calls
`viewvote.register_method`, `register_encoder` or `register_dataset` itself.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from operator import attrgetter
from pathlib import Path
from typing import Any
from zlib import crc32

from .errors import UsageError, ViewvoteError
from .reading import read_bytes

VARIABLE = "VIEWVOTE_PLUGINS"
"""The environment variable whose files, separated as in PATH, are loaded in every process."""

_loaded: dict[Path, bytes] = {}  # the files that were run, in order, and what was in them


@dataclass(frozen=True)
class Advertised:
    """An object that an installed package offers under a name; nothing of the package was imported."""

    name: str
    target: str  # "module:attribute"
    summary: str
    package: str

    def load(self) -> Any:
        """Import the object."""
        return imported(self.target)


def advertised(group: str) -> Iterator[Advertised]:
    """What installed packages offer in a group of entry points, in order of name."""
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        if (package := point.dist) is not None:
            about = package.metadata.json.get("summary", "")
            summary = f"{about} (package {package.name})".strip()
            yield Advertised(point.name, f"{point.module}:{point.attr}", summary, package.name)


def imported(target: str) -> Any:
    """The object at "module:attribute"."""
    module, _, attribute = target.partition(":")
    return attrgetter(attribute)(import_module(module))


def load_plugin(path: str | Path) -> None:
    """Run a file of Python that registers methods, encoders or datasets; a file that has not changed runs once.

    Raises UsageError with the file and the line where it cannot be read or fails.
    """
    file = Path(path).expanduser().resolve()
    source = read_bytes(file, error=UsageError, what="the plugin")
    if _loaded.get(file) != source:
        _run(file)
        _loaded[file] = source


def loaded_plugins() -> tuple[str, ...]:
    """The files that were loaded in this process, for another process to load."""
    return tuple(str(path) for path in _loaded)


def load_named_plugins() -> None:
    """Load the files that the environment variable VIEWVOTE_PLUGINS names."""
    for path in os.environ.get(VARIABLE, "").split(os.pathsep):
        if path:
            load_plugin(path)


def _run(file: Path) -> None:
    """Import the file as a module of a name that no other module has, so that its objects can be pickled."""
    name = f"_viewvote_plugin_{file.stem}_{crc32(str(file).encode()):08x}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"the plugin {file} is no file of Python; expected a name that ends in .py.")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        what = str(error) if isinstance(error, ViewvoteError) else f"{type(error).__name__}: {error}"
        raise UsageError(f"the plugin {file} fails{_line(error, file)}: {what}") from error


def _line(error: BaseException, file: Path) -> str:
    """The words " in line 3" for an error that a line of the file led to."""
    import traceback

    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f" in line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f" in line {lines[-1]}" if lines else ""
