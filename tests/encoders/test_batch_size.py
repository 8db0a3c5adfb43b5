"""The batch size is measured where it can matter, once, and the cache may be anything."""

import json

import pytest

from viewvote import ToyEncoder
from viewvote.encoders import batch_size
from viewvote.encoders.batch_size import DEFAULT, SIZES, explain_batch, fastest_batch, measure_batch


class Overhead(ToyEncoder):
    """Views may share a call freely; on its own clock a call takes 3 s up to 32 views, and 1 s a view beyond."""

    model_id = "overhead"
    linear_cost = False

    def __init__(self):
        super().__init__(size=8)
        self.calls = []
        self.clock = 0.0

    def encode_images(self, views):
        self.calls.append(len(views))
        self.clock += 3 if len(views) <= 32 else len(views)
        return super().encode_images(views)


def test_the_fastest_per_view_is_found(monkeypatch):
    encoder = Overhead()
    monkeypatch.setattr(batch_size, "perf_counter", lambda: encoder.clock)
    assert measure_batch(encoder, seconds=1000) == 32
    assert measure_batch(encoder, seconds=7) == 16  # a warm-up and two measurements take 9


def test_a_slow_encoder_is_not_measured_for_long(monkeypatch):
    encoder = Overhead()
    monkeypatch.setattr(batch_size, "perf_counter", lambda: 0.0)  # a clock may tick more slowly than a call takes
    assert measure_batch(encoder, seconds=0.0) == SIZES[0]
    assert encoder.calls == [SIZES[0]] * 2  # a warm-up and one measurement


def test_it_is_measured_once_and_remembered(tmp_path):
    first, second = Overhead(), Overhead()
    found = fastest_batch(first, cache_dir=tmp_path)
    assert found in SIZES
    assert fastest_batch(second, cache_dir=tmp_path) == found
    assert second.calls == []
    second.fingerprint = "other weights"
    fastest_batch(second, cache_dir=tmp_path)
    assert second.calls != []


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"views": 0}', '{"views": "many"}'])
def test_a_damaged_cache_is_measured_again(tmp_path, text):
    fastest_batch(Overhead(), cache_dir=tmp_path)
    (path,) = (tmp_path / "batch-views").iterdir()
    path.write_text(text)
    assert fastest_batch(Overhead(), cache_dir=tmp_path) in SIZES
    assert json.loads(path.read_text())["views"] in SIZES


def test_a_place_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    assert fastest_batch(Overhead(), cache_dir=tmp_path / "file") in SIZES


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"linear_cost": True, "block_views": 1}, "costs the same"),
        ({"block_views": 8}, "blocks of 8 views"),
        ({"block_views": None}, "one image at a time"),
    ],
)
def test_nothing_is_measured_where_the_size_cannot_matter(tmp_path, attributes, reason):
    encoder = Overhead()
    for name, value in attributes.items():
        setattr(encoder, name, value)
    size = explain_batch(encoder, cache_dir=tmp_path)
    assert size.views == DEFAULT
    assert reason in size.reason
    assert encoder.calls == []
