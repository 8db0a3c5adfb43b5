"""The tables of the classifier as it ships, from recorded answers."""

import json

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
from benchmarks import shipped
from benchmarks.real_clip import read
from benchmarks.shipped import MODELS, by_set, ece, records, table, zero_shot_table

from .test_sections import of_the_page, titles


def lines(name, n, *, plain, right, views=(1, 2)):
    """Photographs of label 1, of which the source view knows the first `plain` and the vote the first `right`."""
    return [
        {
            "image": f"{name}/a/{i}.jpg",
            "target": 1,
            "source": [int(i < plain), 0.5],
            "vote": [int(i < right), 0.9],
            "views": views[i % 2],
        }
        for i in range(n)
    ]


def test_gains_views_and_errors_of_what_ships_are_in_the_form_of_the_page():
    made = list(table(by_set([*lines("eurosat", 10, plain=4, right=2), *lines("imagenet", 10, plain=0, right=6)])))
    # calibration: 0% right where 50% were said, 60% where 90% were; then 40% and 50%, 20% and 90%
    assert made[2] == "| imagenet | 10 | 0.0% | 60.0% | +60.0 (6 / 0)* | 1.5 | 50.0 | 30.0 |"
    assert made[3] == "| eurosat | 10 | 40.0% | 20.0% | -20.0 (0 / 2) | 1.5 | 10.0 | 70.0 |"
    assert made[4] == "| mean | | | | +20.0 | 1.5 | 30.0 | 50.0 |"
    assert made[5] == "| worst | | | | -20.0 | 1.5 | 50.0 | 70.0 |"
    for model in MODELS:
        assert made[:2] == of_the_page("benchmarks.shipped", model)[:2]


def test_zero_shot_has_wilsons_interval_and_the_other_model_beside_it():
    clip = by_set(lines("imagenet", 10, plain=6, right=6))
    made = list(zero_shot_table(clip, by_set(lines("imagenet", 10, plain=7, right=0))))
    assert made[2] == "| imagenet | 10 | 60.0 | 31.3 to 83.2 | 70.0 |"
    assert made[:2] == of_the_page("benchmarks.shipped", "zero-shot")[:2]


def test_a_calibration_error_is_of_fifteen_bins():
    # two confidences in the bin from 14/15 on, one of them right, and one in the bin of 0.5, right
    assert ece(np.float32([0.95, 0.97, 0.5]), np.array([True, False, True])) == pytest.approx(100 * (0.92 + 0.5) / 3)


@pytest.mark.parametrize("model", MODELS)
def test_every_recorded_photograph_is_there_once(model):
    images = [line["image"] for line in read(records(model))]
    assert len(images) == len(set(images))


def test_the_records_make_the_table_of_the_page():
    made = list(table(by_set(read(records("pocket")))))
    assert made == of_the_page("benchmarks.shipped", "pocket")
    assert len(titles(made)) == 2 + 11 + 2


def test_only_photographs_that_are_not_recorded_are_asked(tmp_path, monkeypatch):
    class Toy:
        model_id, fingerprint = "toy", "abc"

    file = tmp_path / "shipped-toy.jsonl"
    first, second = lines("eurosat", 2, plain=1, right=1)
    asked = []

    def answers(data, encoder, name, done):
        del data, encoder, name
        asked.append(set(done))
        return iter([second] if done else [first])

    monkeypatch.setattr(shipped, "answers", answers)
    for _ in range(2):
        shipped.measure(tmp_path, Toy(), ["eurosat"], file)
    assert asked == [set(), {"eurosat/a/0.jpg"}]
    assert json.loads(file.read_text().splitlines()[0])["models"] == {"toy": "abc"}
    assert read(file, {"toy": "abc"}) == [first, second]
