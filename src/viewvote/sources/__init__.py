"""Where unlabelled images come from: paths, folders, patterns, standard input."""

from .paths import STDIN, find_images
from .skipped import Skipped
from .stdin import read_stdin

__all__ = ["STDIN", "Skipped", "find_images", "read_stdin"]
