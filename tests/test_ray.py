"""The callable class for pipelines of one's own, called as Ray Data calls it and by Ray Data itself."""

import subprocess
import sys

import numpy as np
import pytest

from benchmarks.shelves import LABELS, label, picture
from viewvote import Classifier
from viewvote.errors import UsageError
from viewvote.ray import ClassifyBatch

pytestmark = [
    # Ray leaves sockets and files to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.timeout(600),
]


def column(values):
    cells = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        cells[i] = value
    return cells


@pytest.fixture
def classify():
    return ClassifyBatch(LABELS, model="toy", n_views=4)


def test_a_batch_comes_back_with_the_answers_of_a_classifier(classify):
    images = [picture(i) for i in range(5)]
    found = classify({"id": np.arange(5), "image": column(images)})
    answers = list(Classifier("toy", labels=LABELS, n_views=4).predict_many(images))
    assert found["id"].tolist() == [0, 1, 2, 3, 4]
    assert "image" not in found
    assert found["label"].tolist() == [label(i) for i in range(5)]
    assert found["probability"].tolist() == [answer.probability for answer in answers]
    assert [best[0]["label"] for best in found["top"]] == [label(i) for i in range(5)]
    assert found["error"].tolist() == [None] * 5


def test_every_form_of_a_cell_and_cells_that_hold_none(classify, tmp_path):
    (tmp_path / "1.png").write_bytes(picture(1))
    pixels = np.full((20, 20, 3), (0, 0, 250), dtype=np.uint8)
    cells = [picture(0), str(tmp_path / "1.png"), {"bytes": picture(2), "path": None}, pixels, b"none", None]
    found = classify({"image": column(cells)})
    assert found["label"].tolist() == ["red", "green", "blue", "blue", None, None]
    assert "cannot decode" in found["error"][4]
    assert found["error"][5] == "the cell holds no image."


def test_pixels_of_one_size_as_ray_gives_them(classify):
    images = np.zeros((2, 20, 20, 3), dtype=np.uint8)
    images[0, ..., 0] = images[1, ..., 1] = 250
    assert classify({"image": images})["label"].tolist() == ["red", "green"]


def test_the_image_may_stay(classify):
    keeping = ClassifyBatch(LABELS, model="toy", n_views=4, keep_image=True)
    assert "image" in keeping({"image": column([picture(0)])})


def test_mistakes_are_told(classify):
    with pytest.raises(UsageError, match="no column 'image'; it has id"):
        classify({"id": np.arange(2)})
    with pytest.raises(UsageError, match="got list: leave batch_format out"):
        classify([picture(0)])


def test_importing_it_loads_no_ray():
    code = "import viewvote.ray, sys; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_in_a_pipeline_of_ray_data(monkeypatch):
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        rows = ray.data.from_items([{"id": i, "image": picture(i)} for i in range(12)])
        answered = rows.map_batches(
            ClassifyBatch,
            fn_constructor_kwargs={"labels": LABELS, "model": "toy", "n_views": 4},
            concurrency=1,
            num_cpus=1,
            batch_size=4,
        )
        found = {row["id"]: row["label"] for row in answered.take_all()}
    finally:
        ray.shutdown()
    assert found == {i: label(i) for i in range(12)}
