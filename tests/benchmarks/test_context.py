"""The benchmark of contexts: gains by hand, many images decided at once, sets that choose nothing for themselves."""

import numpy as np
import pytest

from benchmarks.context import FIXED, GRID, decided, grid_offsets, left_out, put_back, right, table_of
from benchmarks.context import Policy as Constants
from benchmarks.context import Scored as ScoredSet
from tests.context.test_pull import folder
from viewvote import ToyEncoder
from viewvote.context.pull import softmax
from viewvote.context.rule import estimate
from viewvote.methods import ViewLogits
from viewvote.methods.anchored import Anchored
from viewvote.methods.baselines import ZeroShot
from viewvote.methods.zero import Zero
from viewvote.studies.mixes import MIXES


def rows_of(name, better):
    """A folder of each mix of which every method has half right, and with all constants as many points more."""
    more = {one: [50.0 + better] * 3 for one in [*(policy.name for policy in GRID), "shipped"]}
    fixed = {one: [50.0] * 3 for one in ("none", *FIXED)}
    return [{"set": name, "mix": mix, "n": 100, "share": 1.0} | fixed | more for mix in MIXES]


def test_the_gains_are_points_by_mix_and_set():
    table = table_of([*rows_of("a", 20), *rows_of("b", -10)], "shipped")
    assert table.sets == ("a", "b")
    assert table.gains["half"] == pytest.approx(np.array([[20.0] * 3, [-10.0] * 3]))
    assert table_of(rows_of("a", 20), "none").gains["one"] == pytest.approx(np.zeros((1, 3)))


def test_a_varied_folder_is_compared_with_zero_shot_and_another_with_its_own_method():
    row = {"set": "a", "mix": "balanced", "none": [50.0, 60.0, 70.0], "shipped": [55.0, 61.0, 72.0]}
    rows = [row | {"mix": mix} for mix in MIXES]
    table = table_of(rows, "shipped")
    assert table.gains["zipf"].tolist() == [[5.0, 11.0, 22.0]]
    assert table.gains["two"].tolist() == [[5.0, 1.0, 2.0]]


def test_a_set_is_measured_with_what_the_others_choose():
    helped, hurt = rows_of("helped", 0), rows_of("hurt", 0)
    first, last = GRID[0].name, GRID[-1].name
    for row in helped:
        row |= {first: [80.0] * 3}
    for row in hurt:
        row |= {first: [10.0] * 3, last: [70.0] * 3}
    tables, policies = left_out({"m": [*helped, *hurt]})
    assert policies == [GRID[-1], GRID[0]]
    assert tables["m"].gains["balanced"][:, 0] == pytest.approx([0, -40])


def test_what_ships_is_among_the_constants_and_takes_off_the_same():
    assert Constants() in GRID
    for counts in ([30] * 5, [4, 60, 10, 6, 4], [0, 60, 0, 0, 0], [1] * 5):
        logits = folder(counts, bias=[1.2, 0, 0, 0, 0], sure=6.0).astype(np.float32)
        found = grid_offsets(logits.astype(np.float64))[Constants().name]
        assert found == pytest.approx(estimate(logits).offsets, abs=1e-5)


@pytest.mark.parametrize("weight", [0.7, 7.0])
def test_many_images_at_once_are_decided_as_each_by_its_method(weight):
    logits = np.random.default_rng(0).normal(0, 1, (300, 10, 4)).astype(np.float32)  # 3 of 10 views vote: many ties
    methods = (ZeroShot(), Zero(), Anchored(weight=weight))
    expected = [[one.decide(ViewLogits(views, tie_draw=0.0)).index for views in logits] for one in methods]
    assert [found.tolist() for found in decided(logits, weight)] == expected


def test_methods_decide_on_logits_less_the_offsets():
    logits = np.array([[[1.0, 0.5, 0.0]], [[0.0, 0.2, 0.1]]], dtype=np.float32)
    one = ScoredSet("toy", logits, np.array([1, 1]), 0.0, ToyEncoder())
    found = [right(one, np.array([0, 1]), np.array(off))[0].tolist() for off in ([0, 0, 0], [0.6, 0, 0])]
    assert found == [[False, True], [True, True]]


def test_a_known_mix_put_back_leaves_the_bias_alone():
    counts = [60, 20, 20]
    logits = folder(counts, bias=[0, 0, 0], sure=8.0, noise=0.1)
    shares = np.array(counts) / 100
    left = softmax(logits - put_back(logits, shares))
    assert left.mean(axis=0) == pytest.approx(shares, abs=0.02)
