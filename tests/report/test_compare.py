"""Two runs compared: on common images only, in numbers and words."""

import pytest

from tests.records.record_files import plain_record
from tests.report.run_folders import answers, write_run
from viewvote.errors import UsageError
from viewvote.records.record import failed_record
from viewvote.report.compare import compare
from viewvote.runs.read import load_run


def runs(tmp_path, first, second, **spec_of_second):
    one = write_run(tmp_path / "one", first, method="zero-shot")
    two = write_run(tmp_path / "two", second, **({"method": "zero"} | spec_of_second))
    return load_run(one), load_run(two)


def test_a_large_difference_is_real_and_said_so(tmp_path):
    found = compare(*runs(tmp_path, answers(50, 50), answers(70, 30)))
    assert (found.test.only_first, found.test.only_second) == (0, 20)
    assert found.difference.value == pytest.approx(0.2)
    assert found.difference.low > 0
    assert found.real
    text = str(found)
    assert "zero-shot: 50.00% [40.38%, 59.62%], n = 100" in text
    assert "+20.00 points [+" in text
    assert "0 images are right only in the first, 20 only in the second" in text
    assert "is real" in text
    assert "100 images that both runs answered." in text


def test_a_small_one_may_be_chance(tmp_path):
    found = compare(*runs(tmp_path, answers(51, 49), answers(49, 51)))
    assert not found.real
    assert "may be chance" in str(found)
    assert found.difference.value == pytest.approx(-0.02)


def test_only_common_usable_images_count_and_the_others_are_told(tmp_path):
    first = [
        *answers(10, 10),
        failed_record(OSError("gone"), key="gone", target=1),
        plain_record("x", target=0, index=0),
    ]
    second = [*reversed(answers(15, 5)), plain_record("gone", target=1, index=1), plain_record("y", target=0, index=0)]
    found = compare(*runs(tmp_path, first, second))
    assert (found.difference.n, found.left_out) == (20, 3)
    assert (found.test.only_first, found.test.only_second) == (0, 5)
    assert "3 others" in str(found)


@pytest.mark.parametrize("change", [{"dataset": "cars"}, {"fingerprint": "other"}])
def test_other_data_is_refused(tmp_path, change):
    with pytest.raises(UsageError, match="not over the same dataset"):
        compare(*runs(tmp_path, answers(1, 1), answers(1, 1), **change))


def test_no_common_image_and_other_labels_are_refused(tmp_path):
    with pytest.raises(UsageError, match="no image in common"):
        compare(*runs(tmp_path, answers(2, 2), answers(2, 2, start=9)))
    with pytest.raises(UsageError, match="different labels"):
        compare(*runs(tmp_path, [plain_record("0", target=0, index=0)], [plain_record("0", target=1, index=0)]))


@pytest.mark.parametrize(
    ("second", "names"),
    [
        ({"method": "zero-shot", "model": "m"}, ("zero-shot, pocket", "zero-shot, m")),
        ({"method": "zero-shot", "seed": 4}, ("zero-shot, seed 0", "zero-shot, seed 4")),
    ],
)
def test_runs_are_called_by_what_tells_them_apart(tmp_path, second, names):
    found = compare(*runs(tmp_path, answers(2, 2), answers(2, 2), **second))
    assert (found.first, found.second) == names
    same = compare(*runs(tmp_path, answers(2, 2), answers(2, 2), method="zero-shot"))
    assert (same.first, same.second) == (str(tmp_path / "one"), str(tmp_path / "two"))


def test_a_run_over_a_table_can_be_compared_before_it_is_complete(tmp_path):
    one = write_run(tmp_path / "one", answers(3, 1), dataset="birds")
    (one / "spec.toml").write_text('dataset = "/data/birds.csv"\n')
    two = write_run(tmp_path / "two", answers(1, 1), dataset="/data/birds.csv", complete=False)
    assert compare(load_run(one), load_run(two)).dataset == "birds"
