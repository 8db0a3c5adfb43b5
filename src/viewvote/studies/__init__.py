"""One file per table or figure of the paper that explains ZERO: pure maths over records, then a finding to print."""

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import UsageError
from ..registry import Entry, Registry
from .base import Finding, Options

STUDIES: Registry[Callable[..., Finding]] = Registry(
    "study",
    {
        name: Entry(f"viewvote.studies.{name.replace('-', '_')}:study", summary)
        for name, summary in {
            "jury": "Fig. 1a: the error of p-bar over a class's images against the expected error",
            "overconfidence": "Fig. 1b, app. C: calibration and accuracy of source and kept views",
            "invariance": "App. A: how often entropy minimisation leaves the argmax of p-bar as it was",
            "risk": "App. D: the risk of p-bar and the mean risk of the views",
            "ties": "App. E: the seven tie rules on the same views, and how often ties occur",
            "failure": "App. F: accuracy on source and augmented images, and the most confident views",
            "error-gap": "App. G: error gap, improvement and Spearman's coefficient over datasets",
            "independence": "App. H: agreement and error correlation of views against their overlap",
            "context": "other photos as context: zero-shot's gain by mix and by the number of photos",
            "cost": "Table 3: seconds and peak memory of several methods in one interleaved run",
        }.items()
    },
)

TAKES: Mapping[str, tuple[str, ...]] = {
    "jury": ("by",),
    "overconfidence": ("keep", "bins"),
    "invariance": ("by", "bins"),
    "failure": ("keep", "bins", "images"),
    "error-gap": ("keep",),
    "independence": ("bins",),
    "cost": ("images",),
}
"""Which options each study takes; the others take none."""


def checked_options(name: str, given: Mapping[str, Any]) -> Options:
    """The options of a study; UsageError where one is given that it does not take."""
    taken = TAKES.get(name, ())
    for option in given:
        if option not in taken:
            others = f"it takes {', '.join(f'--{one}' for one in taken)}" if taken else "it takes none"
            raise UsageError(f"the study {name} does not take --{option}; {others}.")
    return Options(**given)


__all__ = ["STUDIES", "Finding", "checked_options"]
