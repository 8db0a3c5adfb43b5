"""Image files from what a user writes: the path of an image, a folder, a pattern, or - for standard input."""

import glob
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from ..errors import UsageError
from ..files import walk_images
from ..images.photo import image_endings
from .skipped import Skipped

STDIN = "-"


def find_images(
    arguments: Sequence[str], *, report: Callable[[str], None], skipped: Skipped | None = None
) -> list[str]:
    """The image files that the arguments name, in order and without repeats.

    A folder stands for the images anywhere below it, a pattern (`photos/**/*.png`) for the files it matches, and "-"
    for itself: an image on standard input. An argument that names nothing raises UsageError.

    Args:
        arguments: What the user wrote.
        report: Called with one line for each folder that cannot be searched and is left out.
        skipped: Counts the files of folders that are no images.
    """
    found: dict[str, None] = {}
    for argument in arguments:
        found.update(dict.fromkeys(_find(argument, report, Skipped() if skipped is None else skipped)))
    return list(found)


def find_listed(paths: Sequence[str], *, report: Callable[[str], None], skipped: Skipped) -> list[str]:
    """The images of a list that a program wrote: folders stand for those below them, if any, and all else for itself.

    What is not there is an error of its own when it is opened; the others go on.
    """
    found: dict[str, None] = {}
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir may raise
            with suppress(UsageError):
                found.update(dict.fromkeys(images_below(path, report=report, skipped=skipped)))
        else:
            found[path] = None
    return list(found)


def _find(argument: str, report: Callable[[str], None], skipped: Skipped) -> Iterable[str]:
    if argument == STDIN:
        return [argument]
    try:
        if stat.S_ISDIR(os.stat(argument).st_mode):  # noqa: PTH116 - Path("") would be the working directory
            return images_below(argument, report=report, skipped=skipped)
    except OSError as error:
        if glob.has_magic(argument):
            return _matches(argument)
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise UsageError(f"no such file or folder: {argument or repr(argument)}") from error
        raise UsageError(f"cannot look at {argument}: {error.strerror or error}.") from error
    return [argument]  # whatever it is: what is no regular file is that image's error


def images_below(folder: str, *, report: Callable[[str], None], skipped: Skipped) -> list[str]:
    """The images anywhere below a folder, sorted; a folder inside that cannot be searched is reported and left out."""

    def left_out(error: OSError) -> None:
        if error.filename == folder:
            raise error
        report(f"cannot look at {error.filename}: {error.strerror}; it is left out.")

    endings, here = image_endings(), Skipped()
    found = []
    for path in walk_images(folder, endings=None, on_error=left_out):
        ending = os.path.splitext(path)[1].lower()  # noqa: PTH122 - quick
        if ending in endings and os.path.isfile(path):  # noqa: PTH113 - Path.is_file may raise
            found.append(path)
        else:
            here.add(path)
    if not found:
        besides = f" {here}" if here else ""
        raise UsageError(f"folder {folder} holds no images (looked for {' '.join(sorted(endings))}).{besides}")
    skipped.kinds += here.kinds
    return sorted(found)


def _matches(pattern: str) -> list[str]:
    """The files that a pattern names, sorted. The older module serves here: Path.glob refuses absolute patterns."""
    found = glob.glob(pattern, recursive=True)  # noqa: PTH207
    matches = sorted(match for match in found if os.path.isfile(match))  # noqa: PTH113 - Path.is_file may raise
    if not matches:
        raise UsageError(f"pattern {pattern} matches no file.")
    return matches
