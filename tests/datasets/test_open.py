"""Opening anything: what a folder's classes mean is found out where it is certain, and asked for where it is not."""

import pytest

from tests.datasets.miniature import build, colour_folders, put_images
from viewvote.datasets import CATALOG, open_dataset
from viewvote.errors import DatasetError, UnknownNameError, UsageError

IMAGENET = CATALOG["imagenet"].class_list
PETS = CATALOG["pets"].class_list.names


def test_a_folder_of_your_own_takes_its_names_from_the_folders(tmp_path):
    dataset = open_dataset(colour_folders(tmp_path / "colours", per_class=2))
    assert (dataset.name, dataset.card, len(dataset)) == ("colours", None, 8)
    assert dataset.class_names == ("blue", "green", "red", "yellow")
    assert dataset.templates == ("a photo of a {}.",)


def test_all_classes_of_a_card_are_recognised_with_their_exact_names(tmp_path):
    put_images(tmp_path, [f"{i:03}_{name.replace(' ', '_')}/x.jpg" for i, name in enumerate(PETS)])
    dataset = open_dataset(tmp_path)
    assert (dataset.card, dataset.class_names, dataset.complete) == ("pets", PETS, False)
    assert dataset.templates == ("a photo of a {}, a type of pet.",)


def test_a_part_of_a_cards_classes_is_a_dataset_of_its_own_unless_the_card_is_named(tmp_path):
    put_images(tmp_path, [f"{i:03}_{CATALOG['dtd'].class_list.names[i]}/x.jpg" for i in range(10)])
    alone, among = open_dataset(tmp_path), open_dataset(tmp_path, classes="dtd")
    assert (alone.card, len(alone.class_names), alone.targets) == (None, 10, tuple(range(10)))
    assert (among.card, len(among.class_names), among.targets) == ("dtd", 47, tuple(range(10)))


@pytest.mark.parametrize(
    ("place", "card"),
    [("imagenet/val", "imagenet"), ("imagenet-sketch/images", "imagenet-sketch"), ("mine", None)],
)
def test_a_thousand_wordnet_ids_are_imagenets_classes_and_their_place_says_which_dataset(tmp_path, place, card):
    for wnid in IMAGENET.wnids:
        (tmp_path / place / wnid).mkdir(parents=True)
    put_images(tmp_path / place, ["n01484850/x.jpg"])
    dataset = open_dataset(tmp_path / place)
    assert (dataset.card, dataset.class_names, dataset.targets) == (card, IMAGENET.names, (2,))


def test_some_of_imagenets_wordnet_ids_are_those_classes(tmp_path):
    put_images(tmp_path, ["n01484850/x.jpg", "n01440764/x.jpg"])
    dataset = open_dataset(tmp_path)
    assert (dataset.class_names, dataset.targets) == (("tench", "great white shark"), (0, 1))


def test_folders_that_are_numbers_ask_what_they_count(tmp_path):
    put_images(tmp_path / "mine", ["0/x.jpg", "10/x.jpg", "2/x.jpg"])
    with pytest.raises(DatasetError, match=r"are numbers .*--classes"):
        open_dataset(tmp_path / "mine")
    assert open_dataset(tmp_path / "mine", classes="imagenet-v2").targets == (0, 10, 2)
    (tmp_path / "digits.txt").write_text("\n".join(f"digit {i}" for i in range(11)) + "\n\n")
    assert open_dataset(tmp_path / "mine", classes=tmp_path / "digits.txt").class_names[10] == "digit 10"


def test_numbers_need_no_asking_where_imagenet_v2_lies(tmp_path):
    build(tmp_path, "imagenet-v2", layout="zero")
    dataset = open_dataset(tmp_path / "imagenetv2-matched-frequency-format-val")
    assert dataset.card == "imagenet-v2"
    assert {item.key: item.target for item in dataset}["10/0.JPEG"] == 10


def test_classes_that_cannot_be_had_are_an_error(tmp_path):
    colour_folders(tmp_path / "colours", per_class=1)
    with pytest.raises(UnknownNameError, match=r"no dataset 'pet'. Did you mean 'pets'"):
        open_dataset(tmp_path / "colours", classes="pet")
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(DatasetError, match="holds no class names"):
        open_dataset(tmp_path / "colours", classes=tmp_path / "empty.txt")
    with pytest.raises(UsageError, match="has its own classes"):
        open_dataset("pets", root=tmp_path, classes="dtd")


def test_names_that_open_nothing_say_what_would():
    with pytest.raises(UnknownNameError, match=r"no dataset 'imagenetv2'. Did you mean 'imagenet-v2'\?"):
        open_dataset("imagenetv2")
    with pytest.raises(UsageError, match=r"no such file: nope\.csv"):
        open_dataset("nope.csv")
    with pytest.raises(UsageError, match="no such folder or file: photos/cats"):
        open_dataset("photos/cats")
    with pytest.raises(UsageError, match="'nds' is a suite of 5 datasets; open one of: imagenet, imagenet-a"):
        open_dataset("nds")


@pytest.mark.photos
def test_the_evaluation_packs_are_scored_with_the_exact_class_names(photos):
    cards = {
        "imagenet": "imagenet",
        "oxford_pets": "pets",
        "oxford_flowers": "flowers102",
        "caltech101": "caltech101",
        "eurosat": "eurosat",
        "stanford_cars": "cars",
    }
    for folder, card in cards.items():
        dataset = open_dataset(photos / "eval" / folder)
        assert (dataset.name, dataset.card, dataset.complete) == (folder, card, False)
        assert dataset.class_names == CATALOG[card].class_list.names
        assert all(int(item.key.partition("_")[0]) == item.target for item in dataset)
    assert len(open_dataset(photos / "eval" / "dtd_10classes").class_names) == 10
    pacs = open_dataset(photos / "eval" / "pacs_sketch")
    assert pacs.class_names == ("dog", "elephant", "giraffe", "guitar", "horse", "house", "person")
