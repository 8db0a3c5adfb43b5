"""How many names are taken for nonsense: a row for each kind of names, as the page has them."""

from tests.benchmarks.test_sections import of_the_page, titles
from training.votes import nonsense


def test_a_row_counts_what_is_taken_for_nonsense_and_shows_some():
    row = nonsense.row("made up", ["cat", "qwrtzx", "xkcdqj", "dog", "zxqwvb"])
    assert row == "| made up | 5 | 3 | 60.0% | qwrtzx, xkcdqj |"


def test_the_page_has_every_kind(tmp_path, monkeypatch):
    monkeypatch.setattr(nonsense, "other_names", lambda data: [("of LVIS", ["mug"])])
    made = list(nonsense.table(tmp_path))
    written = of_the_page("training.votes.nonsense")
    assert made[:2] == written[:2]
    assert made[2] == written[2]  # of the lists that ship
    assert made[3] == written[3]
    assert titles(made[-4:]) == titles(written[-4:])
    assert nonsense.nonsense.is_nonsense("qwertyuiop")
