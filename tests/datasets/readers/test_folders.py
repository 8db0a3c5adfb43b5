"""The folder reader: labels come from what folders are called, never from their rank."""

import os

import pytest

from tests.datasets.miniature import colour_folders, picture, put_images
from tests.unprivileged import as_nobody
from viewvote.datasets.classes import ClassList
from viewvote.datasets.readers.folders import read_folders
from viewvote.errors import DatasetError, DatasetNotFoundError

THREE = ClassList(("tench", "great white shark", "kite (bird of prey)"), ("n01440764", "n01484850", "n01608432"))


def test_classes_are_the_folders_and_images_come_sorted_by_path(tmp_path):
    put_images(tmp_path, ["red_fox/b.jpg", "red_fox/a.JPG", "cat/deep/er/x.png", "cat/z.jpg"])
    dataset = read_folders(tmp_path, name="zoo")
    assert dataset.class_names == ("cat", "red fox")
    assert [(item.key, item.target) for item in dataset] == [
        ("cat/deep/er/x.png", 0),
        ("cat/z.jpg", 0),
        ("red_fox/a.JPG", 1),
        ("red_fox/b.jpg", 1),
    ]
    assert next(item.image for item in dataset) == tmp_path / "cat/deep/er/x.png"
    assert len(dataset) == 4 == len(list(dataset))
    assert [dataset[i] for i in range(4)] == list(dataset)
    assert not dataset.complete


def test_hidden_files_other_files_and_empty_folders_are_no_images(tmp_path):
    put_images(tmp_path, ["cat/a.jpg", "cat/.a.jpg", "cat/.cache/b.jpg", ".git/c.jpg", "cat/notes.txt", "loose.jpg"])
    (tmp_path / "dog").mkdir()
    dataset = read_folders(tmp_path)
    assert dataset.keys == ("cat/a.jpg",)
    assert dataset.name == tmp_path.name
    assert dataset.notes == ("1 folders hold no images: dog.",)


def test_numbered_folders_carry_their_label(tmp_path):
    put_images(tmp_path, [f"{i}_class_{chr(97 + i)}/x.jpg" for i in range(11)])
    dataset = read_folders(tmp_path)
    assert dataset.class_names[10] == "class k"  # "10_class_k" sorts before "2_class_c"
    assert {item.key: item.target for item in dataset}["10_class_k/x.jpg"] == 10


def test_numbers_that_do_not_count_are_part_of_the_name(tmp_path):
    put_images(tmp_path, ["2011_Audi_S6/x.jpg", "2012_Audi_S6/x.jpg"])
    assert read_folders(tmp_path).class_names == ("2011 Audi S6", "2012 Audi S6")


@pytest.mark.parametrize("folder", ["n01484850", "1", "001", "1_great_white_shark", "Great-White Shark"])
def test_a_folder_may_name_its_class_in_four_ways(tmp_path, folder):
    put_images(tmp_path, [f"{folder}/x.jpg"])
    dataset = read_folders(tmp_path, classes=THREE)
    assert dataset.targets == (1,)
    assert dataset.class_names == THREE.names


@pytest.mark.parametrize("folder", ["n99999999", "3", "1_tench", "hammerhead"])
def test_a_folder_that_is_no_class_is_an_error_that_names_it(tmp_path, folder):
    put_images(tmp_path, [f"{folder}/x.jpg", "tench/x.jpg"])
    with pytest.raises(DatasetError, match=rf"1 of the 2 folders .* are none of the 3 classes: {folder}\."):
        read_folders(tmp_path, classes=THREE)


def test_two_folders_of_one_class_are_an_error(tmp_path):
    put_images(tmp_path, ["n01440764/x.jpg", "tench/y.jpg"])
    with pytest.raises(DatasetError, match=r"'n01440764' and 'tench' .* are both class 0 \(tench\)"):
        read_folders(tmp_path, classes=THREE)


def test_a_missing_folder_shifts_no_label(tmp_path):
    put_images(tmp_path, ["n01440764/x.jpg", "n01608432/x.jpg"])
    assert read_folders(tmp_path, classes=THREE).targets == (0, 2)


def test_a_name_that_two_classes_share_names_neither(tmp_path):
    missiles = ClassList(("missile", "tench", "missile"))
    assert missiles.index_of("missile") is None
    assert missiles.index_of("2_missile") == 2
    put_images(tmp_path, ["0_missile/x.jpg", "2_missile/x.jpg"])
    assert read_folders(tmp_path, classes=missiles).notes == (
        "class names that repeat: missile. Answers count by label, not by name.",
    )


def test_what_is_not_a_folder_of_class_folders_is_said_so(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="no such folder"):
        read_folders(tmp_path / "nowhere")
    put_images(tmp_path / "flat", ["a.jpg", "b.jpg"])
    with pytest.raises(DatasetNotFoundError, match=r"expected .*/CLASS/IMAGE"):
        read_folders(tmp_path / "flat")
    put_images(tmp_path / "splits", ["train/cat/a.jpg", "val/cat/b.jpg"])
    with pytest.raises(DatasetError, match=r"splits, not classes; name one of them instead: .*/train, .*/val"):
        read_folders(tmp_path / "splits")


def test_links_are_followed_but_a_loop_ends(tmp_path):
    put_images(tmp_path / "real", ["x.jpg"])
    (tmp_path / "set" / "cat").mkdir(parents=True)
    (tmp_path / "set" / "cat" / "linked").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "set" / "cat" / "loop").symlink_to(tmp_path / "set" / "cat", target_is_directory=True)
    assert read_folders(tmp_path / "set").keys == ("cat/linked/x.jpg",)


def test_the_fingerprint_changes_with_names_keys_and_labels_but_not_with_the_place(tmp_path):
    first = read_folders(colour_folders(tmp_path / "a"), name="colours")
    again = read_folders(colour_folders(tmp_path / "b"), name="colours")
    assert first.fingerprint == again.fingerprint
    assert len(first.fingerprint) == 64
    renamed = read_folders(tmp_path / "b", name="other")
    (tmp_path / "b" / "red" / "extra.jpg").write_bytes(picture())
    larger = read_folders(tmp_path / "b", name="colours")
    relabelled = read_folders(tmp_path / "a", name="colours", classes=ClassList(("yellow", "red", "green", "blue")))
    prints = {first.fingerprint, renamed.fingerprint, larger.fingerprint, relabelled.fingerprint}
    assert len(prints) == 4


@pytest.mark.skipif(os.name == "nt", reason="no such permissions there")
@pytest.mark.parametrize("closed", ["data/cat", "data/cat/inner", "data"])
def test_a_folder_that_cannot_be_listed_is_an_error_and_not_an_empty_class(tmp_path, closed):
    for name in ("cat/inner/a.jpg", "cat/b.jpg", "dog/c.jpg"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).touch()
    assert len(read_folders(tmp_path / "data")) == 3
    (tmp_path / closed).chmod(0)
    try:
        with as_nobody(tmp_path), pytest.raises(DatasetError, match=f"cannot list .*{closed}: Permission denied"):
            read_folders(tmp_path / "data")
    finally:
        (tmp_path / closed).chmod(0o755)
