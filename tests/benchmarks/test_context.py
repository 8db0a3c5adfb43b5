"""The benchmark of contexts: gains by hand, the nearest share measured, and sets that choose nothing for themselves."""

import numpy as np
import pytest

from benchmarks.context import GRID, METHODS_SHOWN, SETTINGS, SHIPPED, Policy, left_out, right, table_of
from benchmarks.context import Scored as ScoredSet
from viewvote import ToyEncoder
from viewvote.methods import METHODS
from viewvote.studies.mixes import MIXES


def row(name, mix, *, better, varied=1.0, n=100):
    """A folder of which every method has half right, and with the whole pull of the rule as many more as `better`."""
    found = {"set": name, "mix": mix, "n": n, "varied": varied, "share": 1.0}
    for method in METHODS_SHOWN:
        found |= {f"{pull} {share} {method}": [True, False] * 5 for pull, share in [("none", 0), *SETTINGS]}
        found |= {f"rule 1.0 {method}": [True] * (5 + better) + [False] * (5 - better)}
        found[f"shipped {method}"] = found[f"rule 1.0 {method}"]
    return found


def rows_of(name, better):
    return [row(name, mix, better=better) for mix in MIXES]


def test_the_gains_are_points_by_mix_and_set():
    table = table_of([*rows_of("a", 2), *rows_of("b", -1)], Policy("rule", 1.0))
    assert table.sets == ("a", "b")
    assert table.gains["half"] == pytest.approx(np.array([[20.0] * 3, [-10.0] * 3]))
    assert table_of(rows_of("a", 2), None).gains["one"] == pytest.approx(np.zeros((1, 3)))
    assert table_of(rows_of("a", 2), SHIPPED).gains["two"] == pytest.approx(np.full((1, 3), 20.0))


@pytest.mark.parametrize(
    ("varied", "n", "key"),
    [
        (0.7, 1000, "none 0"),
        (1.0, 1000, "rule 1.0"),
        (0.85, 4000, "rule 0.5"),
        (1.0, 40, "rule 0.5"),
        (1.0, 7, "none 0"),
    ],
)
def test_a_policy_takes_the_measured_share_that_is_nearest(varied, n, key):
    assert Policy("rule", 1.0, 0.8, 0.9, 40).key({"varied": varied, "n": n}) == key


def test_a_set_is_measured_with_what_the_others_choose():
    measured = {"m": [*rows_of("helped", 3), *rows_of("hurt", -4)]}
    tables, policies = left_out(measured)
    helped, hurt = tables["m"].gains["balanced"][:, 0]
    assert hurt == pytest.approx(-40)  # the set that is helped wants all of it
    assert helped == pytest.approx(0)  # the set that is hurt wants as little as there is
    assert set(policies) <= set(GRID)


def test_methods_decide_on_logits_less_the_offsets():
    logits = np.array([[[1.0, 0.5, 0.0]], [[0.0, 0.2, 0.1]]], dtype=np.float32)
    one = ScoredSet("toy", logits, np.array([1, 1]), 0.0, ToyEncoder())
    methods = {"zero-shot": METHODS.get("zero-shot")()}
    found = [right(one, np.array([0, 1]), np.array(off), methods)["zero-shot"] for off in ([0, 0, 0], [0.6, 0, 0])]
    assert found == [[False, True], [True, True]]
