"""Image files from what a user writes: the path of an image, a folder, a pattern, or - for standard input."""

import glob
import os
import stat
from collections.abc import Callable, Iterable, Sequence

from ..errors import UsageError
from ..files import walk_images
from ..images.photo import EXTENSIONS

STDIN = "-"


def find_images(arguments: Sequence[str], *, report: Callable[[str], None]) -> list[str]:
    """The image files that the arguments name, in order and without repeats.

    A folder stands for the images anywhere below it, a pattern (`photos/**/*.png`) for the files it matches, and "-"
    for itself: an image on standard input. An argument that names nothing raises UsageError.

    Args:
        arguments: What the user wrote.
        report: Called with one line for each folder that cannot be searched and is left out.
    """
    found: dict[str, None] = {}
    for argument in arguments:
        found.update(dict.fromkeys(_find(argument, report)))
    return list(found)


def _find(argument: str, report: Callable[[str], None]) -> Iterable[str]:
    if argument == STDIN:
        return [argument]
    try:
        if stat.S_ISDIR(os.stat(argument).st_mode):  # noqa: PTH116 - Path("") would be the working directory
            return _images_below(argument, report)
    except OSError as error:
        if glob.has_magic(argument):
            return _matches(argument)
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise UsageError(f"no such file or folder: {argument or repr(argument)}") from error
        raise UsageError(f"cannot look at {argument}: {error.strerror or error}.") from error
    return [argument]  # also a pipe, as of <(curl ...)


def _images_below(folder: str, report: Callable[[str], None]) -> list[str]:
    """The images anywhere below a folder, sorted; a folder inside that cannot be searched is reported and left out."""

    def left_out(error: OSError) -> None:
        if error.filename == folder:
            raise error
        report(f"cannot look at {error.filename}: {error.strerror}; it is left out.")

    paths = walk_images(folder, endings=EXTENSIONS, on_error=left_out)
    found = sorted(path for path in paths if os.path.isfile(path))  # noqa: PTH113 - Path.is_file may raise
    if not found:
        raise UsageError(f"folder {folder} holds no images (looked for {' '.join(sorted(EXTENSIONS))}).")
    return found


def _matches(pattern: str) -> list[str]:
    """The files that a pattern names, sorted. The older module serves here: Path.glob refuses absolute patterns."""
    found = glob.glob(pattern, recursive=True)  # noqa: PTH207
    matches = sorted(match for match in found if os.path.isfile(match))  # noqa: PTH113 - Path.is_file may raise
    if not matches:
        raise UsageError(f"pattern {pattern} matches no file.")
    return matches
