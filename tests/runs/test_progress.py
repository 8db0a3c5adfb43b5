"""The numbers that a watcher is told."""

from viewvote.runs.progress import Meter, Progress


def test_the_numbers_by_hand():
    moment = Progress(done=30, total=3630, correct=14, errors=2, computed=10, seconds=5.0)
    assert moment.accuracy == 0.5
    assert moment.rate == 2.0
    assert moment.seconds_left == 1800
    assert str(moment) == "30/3630 images, accuracy 50.00%, 2 errors, 2.00 images/s, 0:30:00 left"


def test_before_the_first_sample_nothing_is_made_up():
    moment = Progress(done=0, total=5, correct=0, errors=0, computed=0, seconds=0.0)
    assert (moment.accuracy, moment.rate, moment.seconds_left) == (None, None, None)
    assert str(moment) == "0/5 images"


def test_the_meter_counts_and_tells():
    seen = []
    meter = Meter(total=5, done=2, correct=1, errors=1, watch=seen.append)
    meter.step(correct=True, failed=False)
    meter.step(correct=False, failed=True)
    assert [(m.done, m.correct, m.errors, m.computed) for m in seen] == [(3, 2, 1, 1), (4, 2, 2, 2)]
