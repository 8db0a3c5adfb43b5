"""`classify --watch`: images as they come into a folder, until Ctrl-C."""

import time
from typing import TYPE_CHECKING

from ..sources import Watcher
from .guard import complain

if TYPE_CHECKING:
    from .answers import Answering

SECONDS = 1.0
"""Between two looks at the folder: how long a file must stay as it is."""


def answer_what_comes(answering: "Answering", watcher: Watcher) -> None:
    """Answer what is in the folder and what comes into it; Ctrl-C is the end, not an error.

    An image at whose answer Ctrl-C comes has none; a later run with --resume finds it.
    """
    try:
        while True:
            ready = watcher.look()
            if ready:
                _answer(answering, watcher, ready)
            time.sleep(SECONDS)
    except KeyboardInterrupt:
        if not answering.quiet:
            complain("no longer watching.")


def _answer(answering: "Answering", watcher: Watcher, ready: list[str]) -> None:
    if answering.explainer is not None:
        answering.explainer.add(ready)
    for path in answering.answer(ready):
        watcher.failed(path)
    if answering.explainer is not None:
        answering.explainer.write_page()
