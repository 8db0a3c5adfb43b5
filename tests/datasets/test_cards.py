"""The catalog is data: fifteen cards, their classes in the right order, the suites of the paper's tables."""

import json
from pathlib import Path

import pytest

from viewvote.datasets import CATALOG, SUITES, suite
from viewvote.datasets.catalog import card, class_list
from viewvote.datasets.classes import name_notes, plain
from viewvote.errors import UnknownNameError
from viewvote.labels.templates import resolve_templates

# (classes, test images), from the datasets' and CoOp's papers.
SIZES = {
    "imagenet": (1000, 50_000),
    "imagenet-a": (200, 7_500),
    "imagenet-v2": (1000, 10_000),
    "imagenet-r": (200, 30_000),
    "imagenet-sketch": (1000, 50_889),
    "flowers102": (102, 2_463),
    "dtd": (47, 1_692),
    "pets": (37, 3_669),
    "cars": (196, 8_041),
    "ucf101": (101, 3_783),
    "caltech101": (100, 2_465),
    "food101": (101, 30_300),
    "sun397": (397, 19_850),
    "aircraft": (100, 3_333),
    "eurosat": (10, 8_100),
}
COOP = {
    "flowers102": "OxfordFlowers",
    "dtd": "DescribableTextures",
    "pets": "OxfordPets",
    "cars": "StanfordCars",
    "ucf101": "UCF101",
    "caltech101": "Caltech101",
    "eurosat": "EuroSAT",
}
TEMPLATES = {
    **COOP,
    "food101": "Food101",
    "sun397": "SUN397",
    "aircraft": "FGVCAircraft",
    "imagenet": "ImageNet",
    "imagenet-a": "ImageNetA",
    "imagenet-v2": "ImageNetV2",
    "imagenet-r": "ImageNetR",
    "imagenet-sketch": "ImageNetSketch",
}


def test_there_are_fifteen_cards_with_their_sizes():
    assert {name: (len(found.class_list.names), found.images) for name, found in CATALOG.items()} == SIZES
    assert all(found.per_class in (None, found.images / SIZES[name][0]) for name, found in CATALOG.items())


def test_suites_are_the_columns_of_the_papers_tables():
    assert [CATALOG[name].column for name in suite("nds")] == ["ImageNet", "A", "V2", "R", "Sketch"]
    columns = ["FLWR", "DTD", "PETS", "CARS", "UCF", "CAL", "FOOD", "SUN", "AIR", "ESAT"]
    assert [CATALOG[name].column for name in suite("fine-grained")] == columns
    assert suite("all") == suite("nds") + suite("fine-grained") == list(CATALOG)
    assert set(SUITES) == {"nds", "fine-grained", "all"}


def test_unknown_names_suggest_what_was_meant():
    with pytest.raises(UnknownNameError, match="Did you mean 'flowers102'"):
        card("flower102")
    with pytest.raises(UnknownNameError, match="Known: all, fine-grained, nds"):
        suite("ood")


@pytest.mark.parametrize("name", CATALOG)
def test_a_card_can_be_used_as_it_stands(name):
    found = CATALOG[name]
    assert resolve_templates(found.template) == (found.template,)
    assert found.source.startswith("https://")
    assert found.source in found.described_at
    assert ("CoOp" in found.described_at) == (found.reader == "split")
    assert len(found.folders) >= 2
    assert bool(found.inside) == bool(found.split) == (found.reader != "folders")
    names = found.class_list.names
    assert all(n == n.strip() and "_" not in n for n in names)
    assert len({*map(plain, names)}) == len({*names})  # no two names are told apart by a hyphen alone


def test_the_documentation_lists_every_card_as_it_is():
    text = (Path(__file__).parents[2] / "docs" / "guides" / "datasets.md").read_text(encoding="utf-8")
    rows = {row[0].strip(" `"): row for row in (line.split("|")[1:-1] for line in text.splitlines() if "| `" in line)}
    assert set(rows) == set(CATALOG)
    for name, (classes, images) in SIZES.items():
        _, n, c, places, split = (cell.strip() for cell in rows[name])
        assert (n, c) == (f"{images:,}", f"{classes:,}")
        assert f"`{CATALOG[name].folders[0]}" in places or CATALOG[name].reader == "folders"
        assert CATALOG[name].split in split


def test_imagenet_is_in_the_order_of_wordnet_ids_with_two_names_that_repeat():
    classes = class_list("imagenet")
    assert list(classes.wnids) == sorted(classes.wnids)
    assert (classes.names[0], classes.wnids[0], classes.names[999]) == ("tench", "n01440764", "toilet paper")
    assert classes.names[657] == classes.names[744] == "missile"
    assert classes.names[836] == classes.names[837] == "sunglasses"
    assert name_notes(classes.names)[0].startswith("class names that repeat: missile, sunglasses.")
    others = {name for name in CATALOG if name_notes(CATALOG[name].class_list.names)}
    assert others == {"imagenet", "imagenet-v2", "imagenet-sketch"}


def test_imagenet_a_and_r_are_two_hundred_classes_each_that_share_eighty_six():
    a, r = class_list("imagenet-a"), class_list("imagenet-r")
    assert (a.names[0], a.wnids[0]) == ("stingray", "n01498041")
    assert (r.names[0], r.wnids[0]) == ("goldfish", "n01443537")
    assert len(set(a.wnids)) == len(set(r.wnids)) == 200
    assert len({*a.wnids} & {*r.wnids}) == 86


def test_food101s_cheese_plate_comes_before_its_cheesecake():
    # ETH's own list and TPT's have them the other way round; CoOp labelled the folders in alphabetical order.
    names = class_list("food101").names
    assert names[16:18] == ("cheese plate", "cheesecake")
    assert sorted(name.replace(" ", "_") for name in names) == [name.replace(" ", "_") for name in names]


def test_sun397_names_turn_the_special_before_the_general():
    names = class_list("sun397").names
    assert names[0] == "abbey"
    assert names[8] == "outdoor apartment building"
    assert names[-1] == "youth hostel"


def test_names_and_templates_are_those_of_the_metadata(photos):
    metadata = photos / "metadata"
    imagenet = json.loads((metadata / "imagenet_classes.json").read_text())
    assert class_list("imagenet").names == tuple(entry["clip_name"] for entry in imagenet)
    coop = json.loads((metadata / "coop_classnames.json").read_text())
    for name, key in COOP.items():
        assert class_list(name).names == tuple(n.replace("_", " ") for n in coop[key])
    templates = json.loads((metadata / "coop_custom_templates.json").read_text())
    assert {name: found.template for name, found in CATALOG.items()} == {n: templates[k] for n, k in TEMPLATES.items()}
