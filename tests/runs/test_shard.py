"""What every engine does: records of items in order, batches that hold positions."""

import pytest
from PIL import Image

from tests.runs.colour_runs import colour_folder
from viewvote.datasets import Item
from viewvote.images import apart
from viewvote.runs import RunSpec
from viewvote.runs.job import open_job
from viewvote.runs.shard import run_shard
from viewvote.views import draw


def test_records_are_in_order_and_views_follow_the_key(tmp_path):
    job = open_job(RunSpec(str(colour_folder(tmp_path / "colours", each=2)), model="toy", views=4))
    records = list(run_shard(job.classifier(), job.samples.items(range(6)), job=job))
    assert [record.key for record in records] == list(job.samples.keys)
    twice = [Item(key, job.dataset[0].image, 0) for key in ("one", "two", "one")]
    one, two, again = run_shard(job.classifier(), twice, job=job)
    assert one.views == again.views
    assert one.views != two.views


@pytest.mark.parametrize(("place", "stage"), [(apart, "header_of"), (apart, "decode"), (draw, "_render_source")])
def test_a_foreign_exception_is_the_record_of_its_image(tmp_path, monkeypatch, place, stage):
    """What is injected fails for the second image alone, in whatever stage."""
    job = open_job(RunSpec(str(colour_folder(tmp_path / "colours", each=1)), model="toy", views=4))
    classifier, bad = job.classifier(), job.dataset[1].image
    Image.new("RGB", (77, 55)).save(bad)
    data, original = bad.read_bytes(), getattr(place, stage)

    def failing(first, *args, **kwargs):
        if first == data or getattr(first, "size", None) == (77, 55):
            raise ZeroDivisionError("of another's making")
        return original(first, *args, **kwargs)

    monkeypatch.setattr(place, stage, failing)
    if stage == "header_of":
        monkeypatch.setattr("viewvote.images.photo.header_of", failing)
    good, failed, last = run_shard(classifier, job.samples.items(range(3)), job=job)
    assert (good.error, last.error) == (None, None)
    assert failed.key == list(job.samples.keys)[1]
    assert "of another's making" in failed.error
