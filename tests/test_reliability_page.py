"""Every promise of docs/reliability.md names a test that holds it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
TEST = re.compile(r"`(tests/(?:\w+/)*test_\w+\.py)`")


def promises(text):
    """The rows below `| promise | held by |`, as pairs of cells."""
    tables = re.findall(r"^\| promise \| held by \|\n\|---\|---\|\n((?:\|.*\n)+)", text, flags=re.MULTILINE)
    return [tuple(row.strip("| ").rsplit(" | ", 1)) for table in tables for row in table.splitlines()]


@pytest.mark.parametrize(("promise", "held_by"), promises(PAGE))
def test_every_promise_names_a_test_file_that_exists(promise, held_by):
    named = TEST.findall(held_by)
    assert named, promise
    assert held_by == ", ".join(f"`{path}`" for path in named)
    for path in named:
        assert (ROOT / path).is_file(), path


def test_no_promise_is_made_twice():
    made = [promise for promise, _ in promises(PAGE)]
    assert len(made) > 80
    assert len({*made}) == len(made)


def test_every_section_has_promises_alone_or_is_of_how_limits_are_set():
    sections = re.split(r"^##+ (.+)\n", PAGE, flags=re.MULTILINE)
    without = [title for title, text in zip(sections[1::2], sections[2::2], strict=True) if not promises(text)]
    assert without == ["Setting the limits"]


def test_the_defaults_of_limits_are_those_of_the_page():
    from viewvote.images.photo import ImageLimits

    table = PAGE.split("### Setting the limits", 1)[1].split("\n## ", 1)[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")
    ][2:]
    assert {row[1].strip("`") for row in rows} == set(ImageLimits.__dataclass_fields__)
    assert {row[-1].split(" (")[0] for row in rows} == {"100 MB", "178,956,970", "65,535", "100", "1 GB", "20"}
    told = ImageLimits()
    assert (told.max_bytes, told.max_pixels, told.max_side) == (100_000_000, 178_956_970, 65_535)
    assert (told.max_scans, told.decode_memory, told.decode_seconds) == (100, 1_000_000_000, 20.0)
