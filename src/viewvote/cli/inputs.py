"""The images that a command is given: by its arguments, or as paths on standard input."""

from dataclasses import dataclass

from ..errors import UsageError
from ..sources import STDIN, Skipped, find_images, find_listed, listed_paths, read_stdin
from .classify import ClassifyOptions
from .guard import complain
from .values import read_limits


@dataclass(frozen=True)
class Inputs:
    """The paths, "-" among them for an image on standard input, which is `piped`."""

    paths: list[str]
    piped: bytes = b""


def find_inputs(asked: ClassifyOptions) -> Inputs:
    """What is to be classified at first; files that are skipped are reported."""
    arguments = asked.images or []
    if not arguments and asked.watch is None:
        raise UsageError("name what to classify: images, folders, patterns, - for standard input, or --watch FOLDER.")
    skipped = Skipped()
    piped = b""
    paths: dict[str, None] = {}
    for argument in arguments:
        listed = None
        if argument == STDIN and not piped:
            piped = read_stdin(read_limits(asked.max_pixels, asked.max_bytes))
            listed = listed_paths(piped)
        if listed is None:
            found = find_images([argument], report=complain, skipped=skipped)
        else:
            found = find_listed(listed, report=complain, skipped=skipped)
        paths.update(dict.fromkeys(found))
    if skipped and not asked.quiet:
        complain(str(skipped))
    return Inputs([*paths], piped)
