"""Datasets of the Hugging Face library, saved to disk by the library itself."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.datasets.miniature import picture
from viewvote.datasets import CATALOG, open_dataset
from viewvote.errors import (
    DatasetError,
    DatasetNotFoundError,
    MissingExtraError,
    UnknownNameError,
    UnreadableImageError,
)
from viewvote.images.photo import open_photo

# Not find_spec("datasets"): these tests lie in a folder of that name, which is importable without the library.
INSTALLED = find_spec("pyarrow") is not None and find_spec("datasets.arrow_dataset") is not None
needs_datasets = pytest.mark.skipif(not INSTALLED, reason='needs pip install "viewvote[datasets]"')


@pytest.fixture
def library():
    import datasets

    datasets.disable_progress_bars()
    return datasets


def saved(library, folder, labels, label_feature, **splits):
    """A dataset on disk with these labels, or one per named split."""
    features = library.Features({"img": library.Image(), "answer": label_feature})
    images = [{"bytes": picture((i, 0, 0)), "path": None} for i in range(len(labels))]
    rows = library.Dataset.from_dict({"img": images, "answer": labels}, features=features)
    (library.DatasetDict(dict.fromkeys(splits, rows)) if splits else rows).save_to_disk(folder)
    return f"hf:{folder}"


@needs_datasets
def test_a_dataset_saved_to_disk_is_read_lazily_and_again(library, tmp_path):
    place = saved(library, tmp_path / "pets", [1, 0, 1], library.ClassLabel(names=["cat", "red_fox"]))
    dataset = open_dataset(place)
    assert (dataset.name, len(dataset), dataset.class_names) == ("pets", 3, ("cat", "red fox"))
    for _ in range(2):
        assert [(item.key, item.target) for item in dataset] == [("all/0", 1), ("all/1", 0), ("all/2", 1)]
    photo = open_photo(next(item.image for item in dataset))
    assert photo.size == (24, 24)
    assert dataset.fingerprint == open_dataset(place).fingerprint
    assert not dataset.complete


@needs_datasets
def test_the_test_split_comes_first_and_others_by_name(library, tmp_path):
    labels = library.ClassLabel(names=["a", "b"])
    place = saved(library, tmp_path / "d", [0, 1], labels, train=1, test=1)
    assert next(iter(open_dataset(place))).key == "test/0"
    assert next(iter(open_dataset(f"{place}?split=train"))).key == "train/0"
    with pytest.raises(UnknownNameError, match=r" has no split 'val'\. .*Known: test, train"):
        open_dataset(f"{place}?split=val")
    with pytest.raises(UnknownNameError, match=r"a Hugging Face dataset has no option 'splt'\. Did you mean 'split'"):
        open_dataset(f"{place}?splt=train")
    with pytest.raises(UnknownNameError, match=r" has no column 'fine'\. .*Known: answer, img"):
        open_dataset(f"{place}?label=fine")


@needs_datasets
def test_labels_in_words_are_sorted_and_numbers_need_classes(library, tmp_path):
    place = saved(library, tmp_path / "words", ["river", "forest"], library.Value("string"))
    dataset = open_dataset(f"{place}?label=answer")
    assert (dataset.class_names, dataset.targets) == (("forest", "river"), (1, 0))
    among = open_dataset(f"{place}?label=answer", classes="eurosat")
    assert (among.card, among.targets, len(among.class_names)) == ("eurosat", (8, 1), 10)
    numbers = saved(library, tmp_path / "numbers", [3, 1], library.Value("int64"))
    with pytest.raises(DatasetError, match=r"column 'answer' of .* are numbers"):
        open_dataset(f"{numbers}?label=answer")
    assert open_dataset(f"{numbers}?label=answer", classes="eurosat").targets == (3, 1)


@needs_datasets
def test_given_classes_are_found_by_name_in_another_order_or_else_by_number(library, tmp_path):
    names = list(CATALOG["eurosat"].class_list.names)
    turned = saved(library, tmp_path / "turned", [0, 9], library.ClassLabel(names=names[::-1]))
    assert open_dataset(turned, classes="eurosat").targets == (9, 0)
    coded = saved(library, tmp_path / "coded", [0, 9], library.ClassLabel(names=[f"code {i}" for i in range(10)]))
    assert open_dataset(coded, classes="eurosat").targets == (0, 9)
    fewer = saved(library, tmp_path / "fewer", [0, 1], library.ClassLabel(names=["code a", "code b"]))
    with pytest.raises(DatasetError, match="none of the 10 classes: code a, code b"):
        open_dataset(fewer, classes="eurosat")


@needs_datasets
def test_rows_without_a_label_are_an_error(library, tmp_path):
    place = saved(library, tmp_path / "hidden", [0, -1], library.ClassLabel(names=["a"]))
    with pytest.raises(DatasetError, match="rows without a label"):
        open_dataset(place)


@needs_datasets
def test_what_has_no_image_column_or_no_image_is_said_so(library, tmp_path):
    names = library.ClassLabel(names=["a"])
    library.Dataset.from_dict({"text": ["x"]}).save_to_disk(tmp_path / "texts")
    with pytest.raises(DatasetError, match=r"no column of type Image; name one with \?image=COLUMN: \['text'\]"):
        open_dataset(f"hf:{tmp_path / 'texts'}")
    features = library.Features({"img": library.Image(), "answer": names})
    rows = library.Dataset.from_dict({"img": [None, {"bytes": picture(), "path": None}], "answer": [0, 0]}, features)
    rows.save_to_disk(tmp_path / "hollow")
    without, with_one = (item.image for item in open_dataset(f"hf:{tmp_path / 'hollow'}"))
    assert open_photo(with_one).size == (24, 24)
    with pytest.raises(UnreadableImageError):  # met by the run, which reports and counts it
        open_photo(without)


@needs_datasets
def test_a_folder_that_the_library_did_not_write_is_said_so(library, tmp_path):
    with pytest.raises(DatasetNotFoundError, match="a folder written by save_to_disk, or owner/name of the hub"):
        open_dataset(f"hf:{tmp_path}")


@pytest.mark.skipif(INSTALLED, reason="tells what happens without the library, which is installed")
def test_without_the_library_the_extra_is_named(tmp_path):
    with pytest.raises(MissingExtraError, match=r'pip install "viewvote\[datasets\]"'):
        open_dataset(f"hf:{tmp_path}")


def test_opening_folders_loads_neither_the_library_nor_torch():
    code = (
        "import sys, viewvote.datasets as d; print({'torch', 'datasets', 'pyarrow', 'onnxruntime'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
