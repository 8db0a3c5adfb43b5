"""What every engine does: records of items in order, batches that hold positions."""

from tests.runs.colour_runs import colour_folder
from viewvote.datasets import Item
from viewvote.runs import RunSpec
from viewvote.runs.job import open_job
from viewvote.runs.shard import run_shard


def test_records_are_in_order_and_views_follow_the_key(tmp_path):
    job = open_job(RunSpec(str(colour_folder(tmp_path / "colours", each=2)), model="toy", views=4))
    records = list(run_shard(job.classifier(), job.samples.items(range(6)), job=job))
    assert [record.key for record in records] == list(job.samples.keys)
    twice = [Item(key, job.dataset[0].image, 0) for key in ("one", "two", "one")]
    one, two, again = run_shard(job.classifier(), twice, job=job)
    assert one.views == again.views
    assert one.views != two.views
