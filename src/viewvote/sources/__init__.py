"""Where unlabelled images come from: paths, patterns, shards, tables, addresses, standard input, a watched folder."""

from .item import SourceItem
from .open import Source, open_source
from .paths import STDIN, find_images, find_listed
from .skipped import Skipped
from .stdin import listed_paths, read_stdin
from .watch import Watcher

__all__ = [
    "STDIN",
    "Skipped",
    "Source",
    "SourceItem",
    "Watcher",
    "find_images",
    "find_listed",
    "listed_paths",
    "open_source",
    "read_stdin",
]
