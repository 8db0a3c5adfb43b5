"""Catalog datasets: both layouts read alike, and what is wrong or missing is said."""

import json
import shutil
from dataclasses import replace
from hashlib import sha256

import pytest

from tests.datasets.miniature import IMAGES, LAYOUTS, build, put_images, write_car_tables, write_split
from viewvote.datasets import CATALOG, open_dataset
from viewvote.datasets.official import open_card
from viewvote.datasets.readers.splits import coop_rows
from viewvote.errors import DatasetError, DatasetNotFoundError, UsageError


@pytest.mark.parametrize("name", CATALOG)
def test_both_layouts_read_as_the_same_dataset(tmp_path, name):
    prints = set()
    for layout in LAYOUTS:
        labels = build(tmp_path / layout, name, layout=layout)
        dataset = open_dataset(name, root=tmp_path / layout)
        assert {item.key: item.target for item in dataset} == labels
        assert [item.key for item in dataset] == sorted(labels)
        assert all(item.image.is_file() for item in dataset)
        assert dataset.name == dataset.card == name
        assert dataset.class_names == CATALOG[name].class_list.names
        assert dataset.templates == (CATALOG[name].template,)
        assert not dataset.complete
        assert dataset.problems[0] == f"{len(labels):,} images; the full test split has {CATALOG[name].images:,}."
        prints.add(dataset.fingerprint)
    assert len(prints) == 1


@pytest.mark.parametrize("name", CATALOG)
def test_what_is_missing_is_asked_for_by_place_and_source(tmp_path, name):
    with pytest.raises(DatasetNotFoundError) as error:
        open_dataset(name, root=tmp_path)
    for folder in CATALOG[name].folders:
        assert str(tmp_path / folder) in str(error.value)
    assert CATALOG[name].source in str(error.value)


def test_the_root_may_come_from_the_environment(tmp_path, monkeypatch):
    build(tmp_path, "eurosat")
    monkeypatch.delenv("VIEWVOTE_DATA", raising=False)
    with pytest.raises(UsageError, match="set VIEWVOTE_DATA"):
        open_dataset("eurosat")
    monkeypatch.setenv("VIEWVOTE_DATA", str(tmp_path))
    assert len(open_dataset("eurosat")) == 10
    monkeypatch.setenv("VIEWVOTE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="is not a folder"):
        open_dataset("eurosat")


def test_seven_thousand_five_hundred_images_of_imagenet_a_are_counted(tmp_path):
    wnids = CATALOG["imagenet-a"].class_list.wnids
    for i in range(7_500):
        path = tmp_path / "imagenet-a" / wnids[i % 200] / f"{i}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "imagenet-a" / "README.txt").touch()
    whole = open_dataset("imagenet-a", root=tmp_path)
    assert whole.complete
    assert whole.problems == whole.notes == ()
    path.unlink()
    less = open_dataset("imagenet-a", root=tmp_path)
    assert not less.complete
    assert less.problems == ("7,499 images; the full test split has 7,500.",)


def test_imagenet_v2_is_labelled_by_number_and_not_by_the_order_of_strings(tmp_path):
    build(tmp_path, "imagenet-v2")
    dataset = open_dataset("imagenet-v2", root=tmp_path)
    labels = {item.key: item.target for item in dataset}
    assert (labels["2/0.JPEG"], labels["10/0.JPEG"]) == (2, 10)  # "10" sorts before "2"
    assert dataset.class_names[10] == "brambling"
    shutil.rmtree(tmp_path / IMAGES["imagenet-v2"][0] / "1")
    less = open_dataset("imagenet-v2", root=tmp_path)
    assert {item.key: item.target for item in less}["2/0.JPEG"] == 2
    assert "1 of the 1000 classes have no image: goldfish." in less.problems


def test_an_imagenet_v2_sorted_into_wordnet_ids_is_read_too(tmp_path):
    wnids = CATALOG["imagenet"].class_list.wnids
    put_images(tmp_path / IMAGES["imagenet-v2"][1], [f"{wnids[7]}/a.jpeg", f"{wnids[2]}/a.jpeg"])
    assert open_dataset("imagenet-v2", root=tmp_path).targets == (2, 7)


def test_one_imagenet_cannot_pass_for_another(tmp_path):
    build(tmp_path / "r", "imagenet-r", layout="zero")
    (tmp_path / "r" / "imagenet-r").rename(tmp_path / "r" / "imagenet-a")
    with pytest.raises(DatasetError, match=r"114 of the 200 folders .* are none of the 200 classes"):
        open_dataset("imagenet-a", root=tmp_path / "r")


def test_validation_images_that_were_never_sorted_into_folders_are_recognised(tmp_path):
    put_images(tmp_path / "imagenet" / "val", ["ILSVRC2012_val_00000001.JPEG"])
    with pytest.raises(DatasetNotFoundError, match=r"holds none of the 1000 class folders .* WordNet id \(n01440764\)"):
        open_dataset("imagenet", root=tmp_path)


def test_uneven_classes_are_noted_where_the_split_is_even(tmp_path):
    build(tmp_path, "imagenet", per_class=1)
    put_images(tmp_path / IMAGES["imagenet"][0], [f"n01440764/{i}.JPEG" for i in range(50)])
    dataset = open_dataset("imagenet", root=tmp_path)
    assert dataset.problems[1] == (
        "999 classes have other than 50 images: goldfish, great white shark, tiger shark, hammerhead shark, "
        "electric ray and 994 more."
    )
    assert dataset.notes[:2] == dataset.problems
    assert dataset.notes[2].startswith("class names that repeat: missile, sunglasses.")


def test_a_split_is_complete_when_it_is_coops_and_every_image_is_there(tmp_path):
    labels = build(tmp_path, "pets", per_class=2)
    lines = "".join(sorted(f"{path}\t{label}\n" for path, label in labels.items()))
    mine = replace(CATALOG["pets"], images=74, test=sha256(lines.encode()).hexdigest())
    assert open_card(mine, tmp_path).complete
    assert open_card(mine, tmp_path).problems == ()
    other = open_card(replace(mine, test="0" * 64), tmp_path)
    assert not other.complete
    assert other.problems[0].endswith("split_zhou_OxfordPets.json is not the test split that CoOp published.")
    (tmp_path / "oxford_pets/images/abyssinian_1.jpg").unlink()
    less = open_card(mine, tmp_path)
    assert not less.complete
    assert len(less) == 74  # the run meets the missing image, reports and counts it
    assert less.problems[0].startswith("1 of the 74 images of the split are missing")
    assert "abyssinian_1.jpg" in less.problems[0]


def test_the_real_split_files_are_those_of_the_cards(photos):
    for card in CATALOG.values():
        if card.test is None:
            continue
        rows = coop_rows(photos / "metadata" / "coop_splits" / card.split, card.class_list)
        lines = "".join(sorted(f"{row.path}\t{row.label}\n" for row in rows))
        assert sha256(lines.encode()).hexdigest() == card.test
        assert len(rows) == card.images
        counts = {sum(row.label == label for row in rows) for label in range(len(card.class_list.names))}
        assert card.per_class is None or counts == {card.per_class}


def spoil(path, change):
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def swap_names(data):
    for row in data["test"]:
        row[2] = {"cheesecake": "cheese plate", "cheese plate": "cheesecake"}.get(row[2], row[2])


def swap_labels_and_names(data):
    for row in data["test"]:
        if row[1] in (16, 17):
            row[1] = 33 - row[1]
            row[2] = ["cheese plate", "cheesecake"][row[1] - 16]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (swap_names, "calls label 16 'cheesecake', but it is 'cheese plate'"),
        (swap_labels_and_names, r"labels cheese_plate/.* as 17 \(cheesecake\), but its folder is class 16"),
        (lambda data: data.pop("test"), r"not one of CoOp's split files .*expected lists of \[path, label"),
        (lambda data: data["test"].append(["x.jpg"]), "not one of CoOp's split files"),
        (lambda data: data["test"].append(["x/y.jpg", 101, "steak"]), "labels x/y.jpg as 101; the 101 classes"),
        (lambda data: data["test"].append(data["test"][0]), "lists images more than once: apple_pie/apple_pie_0.jpg"),
    ],
)
def test_a_split_with_wrong_labels_is_an_error(tmp_path, change, message):
    build(tmp_path, "food101")
    spoil(tmp_path / "food-101/split_zhou_Food101.json", change)
    with pytest.raises(DatasetError, match=message):
        open_dataset("food101", root=tmp_path)


def test_a_split_that_is_not_json_is_an_error(tmp_path):
    build(tmp_path, "dtd")
    (tmp_path / "dtd/split_zhou_DescribableTextures.json").write_bytes(b"\xff\xfe<html>")
    with pytest.raises(DatasetError, match="is not UTF-8 text"):
        open_dataset("dtd", root=tmp_path)


def test_images_without_their_split_file_ask_for_it(tmp_path):
    build(tmp_path, "ucf101")
    split = tmp_path / "ucf101/split_zhou_UCF101.json"
    split.rename(tmp_path / "kept")
    with pytest.raises(DatasetNotFoundError) as error:
        open_dataset("ucf101", root=tmp_path)
    assert f"expected {split} or " in str(error.value)
    assert "CoOp/blob/main/DATASETS.md" in str(error.value)
    (tmp_path / "data_splits").mkdir()
    (tmp_path / "kept").rename(tmp_path / "data_splits" / split.name)  # TPT's way
    assert len(open_dataset("ucf101", root=tmp_path)) == 101


def test_a_split_without_its_images_asks_for_them(tmp_path):
    build(tmp_path, "caltech101")
    shutil.rmtree(tmp_path / IMAGES["caltech101"][0])
    with pytest.raises(DatasetNotFoundError) as error:
        open_dataset("caltech101", root=tmp_path)
    assert f"expected {tmp_path}/caltech-101/101_ObjectCategories/" in str(error.value)
    assert f" or {tmp_path}/caltech-101/images/" in str(error.value)


def test_aircraft_follows_the_order_of_its_variants(tmp_path):
    build(tmp_path, "aircraft")
    folder = tmp_path / "fgvc_aircraft"
    dataset = open_dataset("aircraft", root=tmp_path)
    assert dataset.class_names[71:73] == ("Eurofighter Typhoon", "F-16A/B")
    lines = (folder / "images_variant_test.txt").read_text()
    (folder / "images_variant_test.txt").write_text(lines + "1234567 Concorde\n")
    with pytest.raises(DatasetError, match=r"line 101 of .* names no variant of variants.txt: '1234567 Concorde'"):
        open_dataset("aircraft", root=tmp_path)
    variants = (folder / "variants.txt").read_text().splitlines()
    (folder / "variants.txt").write_text("\n".join(reversed(variants)))
    with pytest.raises(DatasetError, match=r"does not list the 100 variants in their order, 707-320 first"):
        open_dataset("aircraft", root=tmp_path)
    (folder / "variants.txt").unlink()
    with pytest.raises(DatasetNotFoundError, match=r"cannot read .*variants.txt: No such file"):
        open_dataset("aircraft", root=tmp_path)


def test_zeros_tables_for_stanford_cars_are_read_where_there_is_no_split_file(tmp_path):
    labels = {f"test/{i:05}.jpg": i for i in range(196)}
    folder = tmp_path / "stanford_cars"
    write_car_tables(folder, labels)
    put_images(folder / "images", labels)
    dataset = open_dataset("cars", root=tmp_path)
    assert {item.key: item.target for item in dataset} == labels
    assert all(item.image.is_file() for item in dataset)
    (folder / "annots/labels.csv").write_text("filename,class_idx\n")
    with pytest.raises(DatasetError, match=r"labels.csv has no label for test/00000.jpg"):
        open_dataset("cars", root=tmp_path)
    (folder / "annots/labels.csv").write_text("file,class\n")
    with pytest.raises(DatasetError, match=r"expected filename and class_idx"):
        open_dataset("cars", root=tmp_path)


def test_a_folder_named_for_another_class_is_only_compared_where_it_names_one(tmp_path):
    names = CATALOG["sun397"].class_list.names
    office, cubicle = names.index("office"), names.index("office cubicle")
    rows = [("c/cubicle/office/a.jpg", cubicle, "office cubicle"), ("o/office/b.jpg", office, "office")]
    put_images(tmp_path / "sun397/SUN397", [row[0] for row in rows])
    write_split(tmp_path / "sun397/split_zhou_SUN397.json", rows)
    assert open_dataset("sun397", root=tmp_path).targets == (cubicle, office)
