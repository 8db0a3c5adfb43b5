"""The page of explanations: in order, escaped, alone, and as a reader uses it."""

import re

import pytest
from PIL import Image

from tests.server import browser
from viewvote.images.photo import open_photo
from viewvote.pictures.gallery import THUMBNAIL, Shown, gallery_page, thumbnail_of


def shown(name, label, probability, votes="3 of 4"):
    return Shown(f"photos/{name}.jpg", f"{name}.webp", f"thumbnails/{name}.webp", label, probability, votes)


ODD = "a <b>\" & 'c' #1 100% 日本"
SHOWN = [shown("sure", "cat", 0.99), shown(ODD, "<i>dog", 0.2), shown("middle", "cat", 0.5), shown("none", None, 0.3)]


def test_the_most_doubtful_come_first():
    page = gallery_page(SHOWN)
    assert re.findall(r"<span>(\d+%)</span></b>", page) == ["20%", "30%", "50%", "99%"]
    assert "<title>4 images classified by viewvote</title>" in page
    assert "<title>1 image classified by viewvote</title>" in gallery_page(SHOWN[:1])


def test_names_are_text_and_links_are_links():
    page = gallery_page(SHOWN)
    assert "<i>dog" not in page
    assert "&lt;i&gt;dog" in page
    assert 'href="a%20%3Cb%3E%22%20%26%20%27c%27%20%231%20100%25%20%E6%97%A5%E6%9C%AC.webp"' in page
    assert "(abstained)" in page


def test_the_votes_stand_behind_a_name_of_any_direction():
    page = gallery_page([shown("\u0642\u0637\u0629", "cat", 0.5)])  # Arabic
    assert "<small><bdi>\u0642\u0637\u0629.jpg</bdi> &middot; 3 of 4 votes</small>" in page


def test_names_that_are_no_text_do_not_stop_it():
    page = gallery_page([Shown("\udcff.jpg", "\udcff.webp", "t/\udcff.webp", "cat", 0.5, "")])
    assert 'href="%FF.webp"' in page
    page.encode()


def test_it_asks_no_server():
    assert not re.search(r"(?:https?:)?//\w", gallery_page(SHOWN))


def test_a_thumbnail_fills_its_shape():
    for size in ((5000, 300), (30, 20), (1, 400)):
        assert thumbnail_of(open_photo(Image.new("RGB", size))).size == THUMBNAIL


@pytest.mark.skipif(browser.missing() is not None, reason=str(browser.missing()))
def test_a_reader_filters_opens_and_steps(tmp_path):
    (tmp_path / "thumbnails").mkdir()
    for one in SHOWN:
        Image.new("RGB", (90, 60), "red").save(tmp_path / one.picture)
        Image.new("RGB", (90, 60), "red").save(tmp_path / one.thumbnail)
    (tmp_path / "index.html").write_text(gallery_page(SHOWN), encoding="utf-8")
    with browser.chromium(tmp_path) as driver:
        driver.get((tmp_path / "index.html").as_uri())
        run = driver.execute_script
        assert run("return [...document.images].slice(0, 4).every(image => image.complete && image.naturalWidth > 0)")
        buttons = driver.find_elements("css selector", "#filters button")
        assert [button.text for button in buttons] == ["All 4", "cat 2", "<i>dog 1", "(abstained) 1"]
        buttons[1].click()
        visible = [item for item in driver.find_elements("css selector", "li") if item.is_displayed()]
        assert [item.get_attribute("data-name") for item in visible] == ["middle.jpg", "sure.jpg"]
        visible[0].click()
        named = "return [dialog.open, dialog.querySelector('span').textContent, "
        named += "dialog.querySelector('img').naturalWidth > 0]"
        dialog = "const dialog = document.querySelector('dialog'); "
        assert run(dialog + "return dialog.querySelector('img').decode()") is None
        assert run(dialog + named) == [True, "middle.jpg", True]
        driver.find_element("css selector", "dialog button[value='1']").click()
        assert run(dialog + named)[:2] == [True, "sure.jpg"]
        driver.find_element("css selector", "dialog button[value='1']").click()
        assert run(dialog + named)[:2] == [True, "middle.jpg"]
        driver.find_element("css selector", "dialog button[aria-label='Close']").click()
        assert run(dialog + "return dialog.open") is False
        assert [entry["message"] for entry in driver.get_log("browser")] == []
