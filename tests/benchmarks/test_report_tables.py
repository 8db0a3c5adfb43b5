"""The tables of docs/results/reports.md in the form that their commands give them."""

import json

from benchmarks.macro_interval import SHAPES, TRUTHS, coverage
from benchmarks.macro_interval import table as macro_table
from benchmarks.rescore import COMMANDS, DISTINCT, measured, synthetic_lines, write_run
from benchmarks.rescore import table as rescore_table
from tests.benchmarks.test_sections import of_the_page, titles


def test_the_cost_of_reports_is_in_the_form_of_the_page():
    made = list(rescore_table({name: {"cpu": 2.04, "mb": 128.6} for name in COMMANDS}))
    written = of_the_page("benchmarks.rescore")
    assert written[0].startswith("50,000 records of 64 views, ")
    assert made[:2] == written[2:4]
    assert titles(made) == titles(written[2:])
    assert made[2] == "| `report RUN` | 2.0 | 129 MB |"


def test_a_command_is_measured_in_a_process_of_its_own(tmp_path):
    assert write_run(tmp_path, 4, 8, 10) > 0
    found = measured(["rescore", str(tmp_path), "--keep", "0.5"])
    assert found["cpu"] > 0
    assert found["mb"] > 10


def test_synthetic_records_repeat_under_other_keys():
    lines = [json.loads(line) for line in synthetic_lines(DISTINCT + 1, 4, 10)]
    assert len({line.pop("key") for line in lines}) == DISTINCT + 1
    assert lines[0]["votes"] == lines[DISTINCT]["votes"]


def test_the_coverage_of_macro_accuracy_is_in_the_form_of_the_page():
    made = list(macro_table({shape: dict.fromkeys(TRUTHS, 0.9375) for shape in SHAPES}))
    written = of_the_page("benchmarks.macro_interval")
    assert made[:2] == written[:2]
    assert titles(made) == titles(written)
    assert made[2] == "| 196 x 1 |" + " 93.8% |" * len(TRUTHS)


def test_an_interval_that_holds_everything_covers_the_truth():
    assert coverage(1, 1, 0.5, samples=20) == 1.0  # of one image it is nearly all of [0, 1]
