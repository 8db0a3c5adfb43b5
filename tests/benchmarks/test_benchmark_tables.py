"""The arithmetic behind the benchmark's tables."""

import numpy as np
import pytest

from benchmarks.accuracy import winner
from benchmarks.cost_plot import draw_plot
from benchmarks.kept import Kept
from benchmarks.modes import Answer
from benchmarks.tables import cost_table, quality_table, seconds_of, shares
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
    """One photo, one round: the reference takes 9 s, or 6 with its memory kept; int8 4 s for 64 views, 0.5 s for 8."""
    single = {"reference": [["p", 0, 9.0, 18.0, 0.0, 0.0]], "int8": [["p", 0, 4.0, 8.0, 0.2, 0.4]]}
    single["reference, memory kept"] = [["p", 0, 6.0, 12.0, 0.0, 0.0]]
    single["int8, 8 views in rounds"] = [["p", 0, 0.5, 1.0, 0.2, 0.05]]
    single["int8, 8 views"] = [["p", 0, 0.1, 0.2, 0.2, 0.05]]
    model = {
        "single": single | {"torch": [], "fp32": []},
        "stream": {"reference": [[0, 8.0, 16.0]], "reference, memory kept": [[0, 5.0, 10.0]], "int8": [[0, 2.0, 4.0]]},
    }
    return {"pocket": model | {"peak": {"reference": 900.0, "int8": 100.0}}, "quality": [quality] if quality else []}


def test_the_cost_of_stopping_is_the_mean_over_the_views_it_used_as_they_cost_in_rounds():
    found = results(set="imagenet", mode="int8, default", used=[8, 36, 64])
    ((photo, number, *spent),) = seconds_of(found, "pocket", "int8, default")
    assert (photo, number, spent) == ("p", 0, pytest.approx([2.25, 4.5, 0.2, 0.225]))  # 36 views: halfway
    assert seconds_of(found, "pocket", "int8, default", photos="pacs_sketch") == []


def test_exact_stopping_looks_at_eight_views_a_round_and_costs_what_they_cost_at_once():
    found = results(set="imagenet", mode="int8, anchored, exact", used=[8])
    assert seconds_of(found, "pocket", "int8, anchored, exact") == [["p", 0, 0.1, 0.2, 0.2, 0.05]]


def test_the_table_gives_ratios_to_both_readings_of_the_reference():
    found = results(set="imagenet", mode="int8, default", used=[8, 36, 64])
    rows = [line for line in cost_table(found, "pocket").splitlines() if line.startswith(("| int8", "| ref"))]
    assert rows == [
        "| reference | 9.000 | **1.00** (1.00-1.00) | 0.67 | 1.00 |  |  | 8.000 | 1.00 | 0.62 | 900 |",
        "| reference, memory kept | 6.000 | **1.50** (1.50-1.50) | 1.00 | 1.50 |  |  | 5.000 | 1.60 | 1.00 |  |",
        "| int8 | 4.000 | **2.25** (2.25-2.25) | 1.50 | 2.25 | 5% | 10% | 2.000 | 4.00 | 2.50 | 100 |",
        "| int8, default | 2.250 | **4.00** (4.00-4.00) | 2.67 | 4.00 | 9% | 10% |  |  |  |  |",
    ]


def test_a_run_that_was_cut_off_measures_only_what_is_missing(tmp_path):
    path, done = tmp_path / "kept.jsonl", []

    def work(found):
        done.append(found)
        return found

    first = Kept(path, {"rounds": 2})
    assert first.unit(["single", "p", 0], lambda: work({"int8": [1.5]})) == {"int8": [1.5]}
    first.unit(["single", "p", 1], lambda: work({"int8": [2.5]}))
    path.write_bytes(path.read_bytes()[:-9])  # the process was ended while it wrote
    again = Kept(path, {"rounds": 2})
    assert again.unit(["single", "p", 0], lambda: work({"int8": [9.9]})) == {"int8": [1.5]}
    assert again.unit(["single", "p", 1], lambda: work({"int8": [3.5]})) == {"int8": [3.5]}
    assert done == [{"int8": [1.5]}, {"int8": [2.5]}, {"int8": [3.5]}]
    third = Kept(path, {"rounds": 2})
    assert third.unit(["single", "p", 1], lambda: work("again")) == {"int8": [3.5]}
    assert len(third.loads) == 2


def test_what_was_measured_with_other_settings_is_not_taken(tmp_path):
    path = tmp_path / "kept.jsonl"
    Kept(path, {"rounds": 2}).unit(["a"], lambda: 1)
    with pytest.raises(SystemExit, match="--anew"):
        Kept(path, {"rounds": 3})
    assert Kept(path, {"rounds": 3}, anew=True).unit(["a"], lambda: 2) == 2


def test_shares_are_told_from_the_least_photo_to_the_most():
    runs = [["small", 0, 1.0, 2.0, 0.0, 0.1], ["small", 1, 3.0, 2.0, 0.0, 0.1], ["large", 0, 2.0, 2.0, 0.5, 0.4]]
    assert shares(runs, column=4) == "0%-25%"
    assert shares(runs, column=5) == "5%-20%"  # small: 0.2 of 4 s
    assert shares(runs[:1], column=4) == ""


def test_agreement_is_told_with_its_interval():
    row = {"set": "imagenet", "mode": "int8, default", "n": 2, "accuracy": 50.0, "half": 9.0, "same": 75.0}
    row |= {"used": [8, 16], "same as full budget": {"value": 0.991, "low": 0.98, "high": 0.996, "n": 2}}
    line = quality_table([row]).splitlines()[-1]
    assert line == "| imagenet | int8, default | 2 | 50.0 ± 9.0 | 75.0% | 99.1% (98.0-99.6) | 12.0 |"


def test_the_plot_shows_exact_stopping_at_the_accuracy_of_all_views(tmp_path):
    pytest.importorskip("matplotlib")
    single = {"reference": [["p", 0, 9.0, 18.0, 0.0, 0.0]]}
    single["int8, 8 views in rounds"] = [["p", 0, 0.5, 1.0, 0.2, 0.05]]
    for precision in ("fp32", "int8"):
        single |= {precision: [["p", 0, 4.0, 8.0, 0.2, 0.4]], f"{precision}, 8 views": [["p", 0, 0.5, 1.0, 0.2, 0.05]]}
    rows = [
        {"mode": mode, "accuracy": 70.0, "used": [64], "fewer": {"8": 60.0, "64": 70.0}} for mode in ("fp32", "int8")
    ]
    rows += [{"mode": mode, "accuracy": 10.0, "used": [60]} for mode in ("reference", "fp32, exact stop")]
    rows += [{"mode": "int8, default", "accuracy": 65.0, "used": [8]}]
    quality = [row | {"set": "imagenet", "n": 5} for row in rows]
    draw_plot({"pocket": {"single": single}, "quality": quality}, tmp_path / "plot.svg")
    texts = (tmp_path / "plot.svg").read_text()
    assert "<!-- fp32, exact stop: fp32's answers -->" in texts
    assert "<!-- 60 -->" in texts  # the axis ends with what was measured on all photographs
    assert "<!-- 20 -->" not in texts
