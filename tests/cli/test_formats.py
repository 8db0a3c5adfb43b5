"""The format of what is written."""

from pathlib import Path

import pytest

from viewvote.cli.formats import format_of
from viewvote.errors import UsageError

ENDINGS = {".csv": "csv", ".json": "json"}


@pytest.mark.parametrize(
    ("asked", "output", "found"),
    [
        (None, None, "table"),
        ("csv", None, "csv"),
        (None, "a.csv", "csv"),
        (None, "b/A.JSON", "json"),
        ("json", "a.json", "json"),
        ("csv", "a.out", "csv"),
        (None, "csv", "table"),
    ],
)
def test_the_ending_decides_unless_the_format_is_given(asked, output, found):
    path = None if output is None else Path(output)
    assert format_of(asked, path, endings=ENDINGS, default="table") == found


def test_a_contradiction_is_a_usage_mistake():
    with pytest.raises(UsageError, match=r"a\.csv is csv by its ending, and --format asks for json"):
        format_of("json", Path("a.csv"), endings=ENDINGS, default="table")
