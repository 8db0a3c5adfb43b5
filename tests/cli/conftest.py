"""Pictures of one colour each."""

import pytest
from PIL import Image


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    (folder / "deep").mkdir(parents=True)
    Image.new("RGB", (30, 20), (250, 0, 0)).save(folder / "a red.png")
    Image.new("RGB", (30, 20), (0, 250, 0)).save(folder / "b.jpg")
    Image.new("RGB", (30, 20), (0, 0, 250)).save(folder / "deep" / "c.webp")
    (folder / "notes.txt").write_text("not a picture")
    return folder
