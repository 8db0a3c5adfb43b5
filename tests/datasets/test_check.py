"""What is present, and what a check counts."""

from tests.datasets.miniature import build, put_images
from viewvote.datasets import open_dataset
from viewvote.datasets.check import check, survey


def test_the_survey_tells_found_incomplete_and_missing_apart(tmp_path):
    build(tmp_path, "eurosat", layout="zero")
    (tmp_path / "dtd").mkdir()
    rows = {row.name: row for row in survey(tmp_path)}
    assert len(rows) == 15
    assert (rows["eurosat"].state, rows["eurosat"].folder) == ("found", str(tmp_path / "eurosat"))
    assert (rows["dtd"].state, rows["dtd"].folder) == ("incomplete", None)
    assert rows["cars"].state == "missing"
    assert rows["imagenet"].suites == ("nds", "all")
    assert {row.state for row in survey(None)} == {"not looked for"}


def test_a_check_counts_images_and_classes(tmp_path):
    put_images(tmp_path / "mine", ["cat/1.jpg", "cat/2.jpg", "cat/3.jpg", "dog/1.jpg"])
    (tmp_path / "mine" / "emu").mkdir()
    found = check(open_dataset(tmp_path / "mine"))
    assert (found.images, found.expected_images, found.classes, found.classes_with_images) == (4, None, 2, 2)
    assert found.images_per_class == (1, 2, 3)
    assert found.ok
    assert found.notes == ("1 folders hold no images: emu.",)


def test_a_check_of_a_catalog_dataset_knows_the_full_split(tmp_path):
    build(tmp_path, "eurosat", per_class=2)
    found = check(open_dataset("eurosat", root=tmp_path))
    assert (found.images, found.expected_images, found.complete, found.ok) == (20, 8100, False, False)
    assert found.problems[0] == "20 images; the full test split has 8,100."
