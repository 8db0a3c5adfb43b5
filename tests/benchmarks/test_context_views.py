"""What adaptive views do in context: each set by level, and all sets weighted by their images."""

from benchmarks import context_views
from tests.benchmarks.test_sections import of_the_page, titles
from viewvote.rates import Rate
from viewvote.stopping.calibrate import Outcome


def outcome(views, agreeing, n):
    rate = Rate(agreeing / n, 0.0, 1.0, n)
    return Outcome(views, rate, rate, rate)


def test_sets_count_by_their_images():
    small, large = outcome(2.0, 90, 100), outcome(4.0, 300, 300)
    found = {name: dict.fromkeys(context_views.LEVELS, (one, one)) for name, one in (("a", small), ("b", large))}
    made = list(context_views.table(found))
    assert made[:2] == of_the_page("benchmarks.context_views")[:2]
    assert made[2] == "| a | 100 | `noise` | 2.0 | 10.0% | 2.0 | 10.0% |"
    assert made[-1] == "| all | 400 | `strict` | 3.5 | 2.5% | 3.5 | 2.5% |"  # (100 x 2 + 300 x 4) / 400; 10 of 400


def test_the_page_has_the_sets_of_its_other_tables():
    written = titles(of_the_page("benchmarks.context_views"))
    assert [title.strip("| ") for title in written[2::2]] == [*context_views.BOTH, "all"]
