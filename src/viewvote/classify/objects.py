"""Small things that classifiers do as Python objects."""

from collections.abc import Callable, Sequence
from weakref import ref

from ..views.sample import Keyed

SHOWN = 3


def shortened(labels: Sequence[str]) -> str:
    """The labels as a repr shows them: the first few, and how many more there are."""
    more = len(labels) - SHOWN
    listed = ", ".join(map(repr, labels[:SHOWN]))
    return f"[{listed}]" if more <= 0 else f"[{listed}, ... {more} more]"


def weakly(image: object) -> Callable[[], object] | None:
    """What returns the image as long as somebody else keeps it; None for paths, bytes, and files, which are read."""
    source = image.image if isinstance(image, Keyed) else image
    if hasattr(source, "read"):
        return None
    try:
        return ref(source)
    except TypeError:
        return None
