"""The arithmetic behind the benchmark's tables."""

import numpy as np
import pytest

from benchmarks.accuracy import winner
from benchmarks.cost_plot import draw_plot
from benchmarks.modes import Answer
from benchmarks.tables import BEGIN, END, cost_table, quality_table, seconds_of, shares, write_section
from viewvote.methods.base import ViewLogits
from viewvote.methods.zero import Zero
from viewvote.vote import entropy_of, log_softmax


@pytest.mark.parametrize("n", [1, 2, 8, 32, 64])
def test_the_winner_among_the_first_views_is_the_vote_on_their_logits(n):
    ties = 0
    for seed in range(40):
        logits = np.random.default_rng(seed).normal(0, 2, (64, 5)).astype(np.float32)
        answer = Answer(0, 0.0, 0.0, logits.argmax(axis=1), entropy_of(log_softmax(logits)))
        expected = Zero().decide(ViewLogits(logits=logits[:n]))
        ties += expected.tie_break is not None
        assert winner(answer, n) == expected.index
    assert ties or n < 8


def results(**quality):
    """One photo, one round: the reference takes 9 s, int8 takes 4 s for 64 views and 0.5 s for 8."""
    single = {"reference": [["p", 0, 9.0, 18.0, 0.0, 0.0]], "int8": [["p", 0, 4.0, 8.0, 0.2, 0.4]]}
    single["int8, 8 views"] = [["p", 0, 0.5, 1.0, 0.2, 0.05]]
    model = {
        "single": single | {"torch": [], "fp32": []},
        "stream": {"reference": [[0, 8.0, 16.0]], "int8": [[0, 2.0, 4.0]]},
    }
    return {"pocket": model | {"peak": {"reference": 900.0, "int8": 100.0}}, "quality": [quality] if quality else []}


def test_the_cost_of_stopping_is_the_mean_over_the_views_it_used():
    found = results(set="imagenet", mode="int8, adaptive", used=[8, 36, 64])
    ((photo, number, *spent),) = seconds_of(found, "pocket", "int8, adaptive")
    assert (photo, number, spent) == ("p", 0, pytest.approx([2.25, 4.5, 0.2, 0.225]))  # 36 views: halfway
    assert seconds_of(found, "pocket", "int8, adaptive", photos="pacs_sketch") == []


def test_the_table_gives_ratios_to_the_reference():
    found = results(set="imagenet", mode="int8, adaptive", used=[8, 36, 64])
    rows = [line for line in cost_table(found, "pocket").splitlines() if line.startswith(("| int8", "| ref"))]
    assert rows == [
        "| reference | 9.00 | **1.00** (1.00-1.00) | 1.00 |  |  | 8.00 | 1.00 | 900 |",
        "| int8 | 4.00 | **2.25** (2.25-2.25) | 2.25 | 5% | 10% | 2.00 | 4.00 | 100 |",
        "| int8, adaptive | 2.25 | **4.00** (4.00-4.00) | 4.00 | 9% | 10% |  |  | 100 |",
    ]


def test_shares_are_told_from_the_least_photo_to_the_most():
    runs = [["small", 0, 1.0, 2.0, 0.0, 0.1], ["small", 1, 3.0, 2.0, 0.0, 0.1], ["large", 0, 2.0, 2.0, 0.5, 0.4]]
    assert shares(runs, column=4) == "0%-25%"
    assert shares(runs, column=5) == "5%-20%"  # small: 0.2 of 4 s
    assert shares(runs[:1], column=4) == ""


def test_agreement_is_told_with_its_interval():
    row = {"set": "imagenet", "mode": "int8, adaptive", "n": 2, "accuracy": 50.0, "half": 9.0, "same": 75.0}
    row |= {"used": [8, 16], "same as full budget": {"value": 0.991, "low": 0.98, "high": 0.996, "n": 2}}
    line = quality_table([row]).splitlines()[-1]
    assert line == "| imagenet | int8, adaptive | 2 | 50.0 ± 9.0 | 75.0% | 99.1% (98.0-99.6) | 12.0 |"


def test_the_plot_shows_exact_stopping_at_the_accuracy_of_all_views(tmp_path):
    pytest.importorskip("matplotlib")
    single = {"reference": [["p", 0, 9.0, 18.0, 0.0, 0.0]]}
    for precision in ("fp32", "int8"):
        single |= {precision: [["p", 0, 4.0, 8.0, 0.2, 0.4]], f"{precision}, 8 views": [["p", 0, 0.5, 1.0, 0.2, 0.05]]}
    rows = [
        {"mode": mode, "accuracy": 70.0, "used": [64], "fewer": {"8": 60.0, "64": 70.0}} for mode in ("fp32", "int8")
    ]
    rows += [{"mode": mode, "accuracy": 10.0, "used": [60]} for mode in ("reference", "fp32, exact stop")]
    rows += [{"mode": "int8, adaptive", "accuracy": 65.0, "used": [8]}]
    quality = [row | {"set": "imagenet", "n": 5} for row in rows]
    draw_plot({"pocket": {"single": single}, "quality": quality}, tmp_path / "plot.svg")
    texts = (tmp_path / "plot.svg").read_text()
    assert "<!-- fp32, exact stop: fp32's answers -->" in texts
    assert "<!-- 60 -->" in texts  # the axis ends with what was measured on all photographs
    assert "<!-- 20 -->" not in texts


def test_only_the_section_between_the_marks_is_replaced(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_section(page, "new")
    write_section(page, "newer")
    assert page.read_text() == f"before\n{BEGIN}\n\nnewer\n{END}\nafter\n"
