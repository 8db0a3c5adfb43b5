"""The tables of the paper's studies, from the rows that the studies find."""

import pytest

pytest.importorskip("onnxruntime")
from benchmarks.studies import (
    OF_VIEWS,
    SETS,
    TIMED,
    TUNED,
    calibration_table,
    cost_table,
    invariance_table,
    kept,
    specs_of,
    views_table,
)

from .test_sections import of_the_page, titles


def ends(key, value, low, high):
    return {key: value, f"{key}_low": low, f"{key}_high": high}


def test_calibration_and_gain_are_in_the_form_of_the_page():
    both = {"source_accuracy": 0.73, "kept_accuracy": 0.749, "n": 200}
    both |= ends("source_ece", 0.09, 0.055, 0.128) | ends("kept_ece", 0.156, 0.11, 0.205)
    gaps = {"a": (0.1, -0.01), "b": (0.2, -0.02), "c": (0.3, -0.04), "d": (0.4, -0.03)}
    found = {
        "overconfidence": [{"dataset": name, **both} for name in gaps],
        "error-gap": [{"gap": gap, **ends("improvement", gain, -0.05, 0.1)} for gap, gain in gaps.values()],
    }
    made = list(calibration_table(found))
    errors = "0.090 [0.055, 0.128] | 0.156 [0.110, 0.205]"
    assert made[2] == f"| a | 200 | 73.0 | 74.9 | {errors} | -1.0 [-5.0, +10.0] |"
    # of ranks 1 2 3 4 and 4 3 1 2: 1 - 6 x (9 + 1 + 4 + 4) / (4 x 15) = -0.8
    assert made[-1].startswith("Spearman's coefficient of error gap and improvement over the 4 sets: -0.80 [")
    assert made[:2] == of_the_page("benchmarks.studies", "calibration")[:2]


def test_each_set_has_its_jury_risk_ties_and_voters():
    jury = {"dataset": "a", "expected": 0.3, "marginal": 0.25, **ends("difference", -0.05, -0.1, 0.0)}
    risks = [
        {"dataset": name, "over": over, "loss": "squared", "marginal": risk, "views": 0.437, "holds": 1.0}
        for name, over, risk in (("b", "all views", 0.1), ("a", "kept views", 0.2), ("a", "all views", 0.341))
    ]
    ties = [{"dataset": "a", "ties": 4, "share": 0.02}, {"dataset": "a", "ties": 9, "share": 0.5}]
    pairs = [{"dataset": "a", "correlation": part, "kept": 19} for part in (0.23, 0.6, 0.5)]
    found = {"jury": [jury], "risk": risks, "ties": ties, "independence": pairs}
    made = list(views_table(found))
    # 19 / (1 + 18 x 0.5) = 1.9
    cells = "30.0 | 25.0 | -5.0 [-10.0, +0.0] | 0.341 | 0.437 | 100.0% | 4 (2.0%) | 0.50 | 0.23 | 1.9 of 19"
    assert made[2] == f"| a | {cells} |"
    assert made[:2] == of_the_page("benchmarks.studies", "views")[:2]


def test_invariance_has_a_deviation_where_there_are_seeds():
    row = {"dataset": "a", "n": 70, "seeds": 2, "same": 0.993, "std": 0.01, "low": 0.936, "high": 0.999, "rose": 1.0}
    made = list(invariance_table([row, row | {"dataset": "b", "seeds": 1, "std": None}]))
    assert made[2:] == [
        "| a | 70, 2 | 99.3 ±1.0 [93.6, 99.9] | 100.0 |",
        "| b | 70, 1 | 99.3 [93.6, 99.9] | 100.0 |",
    ]
    assert made[:2] == of_the_page("benchmarks.studies", "invariance")[:2]


def test_costs_are_multiples_of_zero_with_the_same_teacher():
    seconds = (0.5, 1.0, 2.0, 3.0, 2.5)
    rows = [ends("forward", s, s - 0.1, s + 0.1) | {"memory_mb": 1125, "above_mb": 334, "n": 6} for s in seconds]
    made, written = list(cost_table(rows, "a machine")), of_the_page("benchmarks.studies", "cost")
    assert made[2] == "| zero | 0.500 [0.400, 0.600] | 1 | 1,125 (334) | 1 |"
    # the paper's 0.57 s beside 0.06, and 1.20 beside 0.08
    assert made[3] == "| tpt | 1.000 [0.900, 1.100] | 2.0 | 1,125 (334) | 9.5 |"
    assert made[5].startswith("| rlcf, prompt, 3 steps, teacher | 3.000 [2.900, 3.100] | 1.5 |")
    assert made[5].endswith("| 15.0 |")
    assert made[-1] == "Measured on a machine; 6 photographs."
    assert made[:2] == written[:2]
    assert titles(made)[:-1] == titles(written)[:-1] == [*titles(made)[:2], *(f"| {title}" for title in TIMED), ""]


def test_what_is_kept_makes_the_tables_of_the_page():
    found = {name: kept(name)["rows"] for name in OF_VIEWS}
    assert list(calibration_table(found)) == of_the_page("benchmarks.studies", "calibration")
    assert list(views_table(found)) == of_the_page("benchmarks.studies", "views")


def test_the_runs_are_of_every_set_and_seed(tmp_path):
    views = specs_of("views", tmp_path)
    assert [(spec.dataset.split("/")[-1], spec.limit) for spec in views] == list(SETS.items())
    assert {(spec.model, spec.method, spec.views, spec.detail) for spec in views} == {("pocket", "zero", 64, True)}
    tuned = specs_of("invariance", tmp_path)
    assert len(tuned) == sum(len(seeds) for _, seeds in TUNED.values())
    assert {(spec.model, spec.method, spec.views) for spec in tuned} == {("pocket-torch", "tpt", 32)}
    assert len({spec.digest for spec in (*views, *tuned)}) == len(views) + len(tuned)
