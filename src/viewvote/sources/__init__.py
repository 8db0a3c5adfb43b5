"""Where unlabelled images come from: paths, folders, patterns, standard input, a watched folder."""

from .paths import STDIN, find_images, find_listed
from .skipped import Skipped
from .stdin import listed_paths, read_stdin
from .watch import Watcher

__all__ = ["STDIN", "Skipped", "Watcher", "find_images", "find_listed", "listed_paths", "read_stdin"]
