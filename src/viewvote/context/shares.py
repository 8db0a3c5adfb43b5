"""The mix of labels that a user knows, from a file."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import UsageError
from ..reading import read_json


def read_shares(path: Path, labels: Sequence[str]) -> list[float]:
    """The share of each label in a JSON object {label: share}; they need not sum to 1, and each label has one."""
    data = read_json(path, error=UsageError)
    missing, unknown = [one for one in labels if one not in data], [one for one in data if one not in labels]
    if missing or unknown:
        which = f"has no share of {missing[0]!r}" if missing else f"has {unknown[0]!r}, which is no label"
        raise UsageError(f"{path} {which}; expected a JSON object with a share for each label, such as 0.2.")
    for label, share in data.items():
        if isinstance(share, bool) or not isinstance(share, int | float):
            raise UsageError(f"{path}: the share of {label!r} is {share!r}, expected a number of at least 0.")
    return [float(data[label]) for label in labels]
