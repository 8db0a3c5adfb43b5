"""The table on a terminal and as a page."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.report.run_folders import answers, odd_table, write_run
from viewvote.cli.commands import app
from viewvote.report.formats.render import html, render


class Seen(HTMLParser):
    """The tags, links and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.words = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_columns_are_aligned_to_the_right_of_their_names(tmp_path: Path) -> None:
    lines = render(odd_table(tmp_path), "table").splitlines()
    assert lines[0].startswith("Method ")
    assert lines[0].endswith("a_b & <c>|%")
    assert set(lines[1]) == {"-"}
    assert lines[2].rstrip().endswith("75.00")
    assert {len(line) for line in (lines[0], lines[2])} == {len(lines[1])}


def test_a_page_has_title_date_chart_and_links_and_escapes_them(tmp_path: Path) -> None:
    page = Seen(html(odd_table(tmp_path), made="Made today.", links=[("../a&b/", "a&b <run>")]))
    assert "viewvote report: a_b & <c>|%" in page.words
    assert "Made today." in page.words
    assert page.links == ["../a&b/"]
    assert "a&b <run>" in page.words
    assert {"svg", "circle"} <= set(page.tags)
    assert "script" not in page.tags
    assert "75.00% [65.70%, 82.45%], n = 100" in page.words


def test_the_command_links_the_runs_from_where_the_page_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path / "runs" / "one", answers(3, 1))
    (tmp_path / "pages").mkdir()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    words = ["report", str(tmp_path / "runs"), "--format", "html", "--output", str(tmp_path / "pages" / "r.html")]
    assert CliRunner().invoke(app, words).exit_code == 0
    page = Seen((tmp_path / "pages" / "r.html").read_text())
    assert page.links == ["../runs/one/"]
    assert "Made on 14 November 2023, 22:13 UTC of 1 run." in page.words
