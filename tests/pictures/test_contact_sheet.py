"""The contact sheet shows each class once, evenly spread, whatever the images are."""

import numpy as np

from tests.datasets.miniature import colour_folders
from viewvote.datasets import open_dataset
from viewvote.pictures.contact_sheet import CAPTION, CELL, GAP, MARGIN, contact_sheet
from viewvote.pictures.drawing import SCALE


def test_every_class_is_shown_by_its_first_image_in_the_order_of_labels(tmp_path):
    colours = {"a": (250, 0, 0), "b": (0, 250, 0), "c": (0, 0, 250)}
    dataset = open_dataset(colour_folders(tmp_path, per_class=2, colours=colours))
    sheet = np.asarray(contact_sheet(dataset)).astype(int)
    y = MARGIN + 30 * SCALE + CELL // 2
    for n, colour in enumerate(colours.values()):
        shown = sheet[y, MARGIN + n * (CELL + GAP) + CELL // 2]
        assert np.abs(shown - colour).max() < 12
    assert (sheet[y, MARGIN + 3 * (CELL + GAP) + CELL // 2] == 255).all()


def test_many_classes_are_thinned_evenly_from_the_first_to_the_last(tmp_path):
    colours = {f"{i:03}": (i, 0, 0) for i in range(0, 250, 10)}  # 25 classes, redder and redder
    dataset = open_dataset(colour_folders(tmp_path, per_class=1, colours={f"x{k}": v for k, v in colours.items()}))
    sheet = np.asarray(contact_sheet(dataset, most=5)).astype(int)
    y = MARGIN + 30 * SCALE + CELL // 2
    reds = [sheet[y, MARGIN + n * (CELL + GAP) + CELL // 2][0] for n in range(5)]
    assert np.abs(np.array(reds) - [0, 60, 120, 180, 240]).max() < 8


def test_an_unreadable_image_is_a_crossed_cell(tmp_path):
    colour_folders(tmp_path, per_class=1)
    (tmp_path / "blue" / "000.jpg").write_bytes(b"nothing")
    sheet = contact_sheet(open_dataset(tmp_path))
    assert sheet.height == MARGIN + 30 * SCALE + CELL + CAPTION + GAP + MARGIN
    assert sheet.getpixel((MARGIN + CELL // 2, MARGIN + 30 * SCALE + CELL // 2)) == (0x76, 0x76, 0x76)
