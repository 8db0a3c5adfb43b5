"""What the page asks beside the vote (whether none fits, each label alone), and labels with texts of their own."""

import csv
import io
import json
from urllib.parse import quote_plus

import pytest

from tests.server.browser import BLUE, RED, badges, png
from viewvote.labels.files import read_labels


def chips(page):
    return page.texts(".chip span:nth-child(2)")


def test_none_of_these_is_asked_and_answered(pocket):
    pocket.open("#label=banana&label=zebra")
    assert pocket.text("#answer-label") in ("banana", "zebra")
    assert not pocket.shown("#none-words")
    pocket.find("#none").click()
    pocket.wait(lambda: pocket.text("#answer-label") == "None of these")
    pocket.settle()
    assert pocket.driver.current_url.endswith("#label=banana&label=zebra&none=true")
    assert pocket.text("#sentence").startswith("None of your labels fits. Closest: ")
    assert pocket.text("#likely").endswith("% likely")
    assert pocket.texts("#bars .name") in (["banana", "zebra"], ["zebra", "banana"])
    assert badges(pocket)[0] == "none fits"
    assert pocket.violations() == []
    pocket.find("#show-all").click()
    pocket.wait(lambda: "none of these" in " ".join(pocket.texts("#filters button")))
    assert any(text.startswith("closest: ") for text in pocket.texts("#grid small"))
    assert pocket.console() == []


def test_where_a_label_fits_it_is_said_how_likely_none_does(pocket):
    pocket.open("#label=astronaut&label=cat&none=true")
    assert pocket.find("#none").is_selected()
    assert pocket.text("#answer-label") == "astronaut"
    assert pocket.text("#none-words").startswith("That none of these fits is ")
    assert "none of these" not in pocket.texts("#bars .name")


def test_each_label_alone_is_asked_and_answered(pocket, folder):
    pocket.open("#label=astronaut&label=space+suit&label=banana")
    assert not pocket.shown("#each-body")
    pocket.find("#multi").click()
    pocket.wait(lambda: pocket.shown("#each-body"))
    pocket.settle()
    assert pocket.driver.current_url.endswith("&multi=true")
    each = dict(zip(pocket.texts("#each .name"), pocket.texts("#each .count"), strict=True))
    assert set(each) == {"astronaut", "space suit", "banana"}
    assert each["astronaut"].startswith("yes · ")
    assert each["banana"].startswith("no · ")
    there = [label for label, words in each.items() if words.startswith("yes")]
    assert all(label in pocket.text("#each-words") for label in there)
    assert "banana" not in pocket.text("#each-words")
    assert pocket.violations() == []
    pocket.find("#show-all").click()
    pocket.wait(lambda: len(pocket.all("#grid li")) == 4)
    pocket.find("#save-csv").click()
    rows = list(csv.DictReader(io.StringIO(pocket.downloaded(folder, "viewvote.csv").decode())))
    assert {row["path"]: row["shown"].split("; ") for row in rows}["astronaut.jpg"] == there
    assert pocket.console() == []


def test_the_controls_go_back_with_reset(toy):
    toy.open("#none=true&multi=true&label=red")
    assert toy.find("#none").is_selected()
    assert toy.find("#multi").is_selected()
    toy.find("#reset").click()
    toy.wait(lambda: not toy.find("#none").is_selected() and not toy.find("#multi").is_selected())
    assert toy.driver.current_url.endswith("#label=red")


FILES = {
    "texts.json": '{"warm": ["red", "a red thing"], "cold": "blue", "grey": "grey"}',
    "within.json": '{"labels": {"warm": ["red", "a red thing"], "cold": "blue", "grey": ["grey"]}}',
    "objects.json": '[{"label": "warm", "texts": ["red", "a red thing"]}, {"label": "cold", "text": "blue"}, "grey"]',
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_labels_may_have_texts(toy, tmp_path, name):
    file = tmp_path / name
    file.write_text(FILES[name], encoding="utf-8")
    toy.open("#label=green")
    toy.find("#labels-input").send_keys(str(file))
    toy.wait(lambda: chips(toy) == ["green", "warm", "cold", "grey"])
    assert toy.texts(".chip small") == ["", "2 texts", "1 text", ""]
    assert toy.run("return document.querySelectorAll('.chip span:nth-child(2)')[1].title") == "red\na red thing"
    toy.give(png("red.png", RED), png("blue.png", BLUE))
    toy.wait(lambda: badges(toy) == ["warm", "cold"])
    toy.settle()
    address = toy.driver.current_url
    texts = {"warm": ["red", "a red thing"], "cold": ["blue"]}
    assert quote_plus(json.dumps(texts, separators=(",", ":"))) in address
    known = read_labels(file)
    assert {label: own for label, own in known.items() if label in texts} | {"cold": ["blue"]} == texts
    toy.open(f"#{address.split('#')[1]}")
    assert toy.texts(".chip small") == ["", "2 texts", "1 text", ""]
    toy.find('[aria-label="Remove warm"]').click()
    toy.wait(lambda: "a+red" not in toy.driver.current_url)
    assert toy.violations() == []
    assert toy.console() == []


def test_a_pasted_object_of_labels_has_texts_too(toy):
    toy.open("#label=green")
    toy.run("document.querySelector('#draft').focus()")
    toy.run(
        "const t = new DataTransfer(); t.setData('text', arguments[0]);"
        "document.querySelector('#draft').dispatchEvent(new ClipboardEvent('paste',"
        " {clipboardData: t, bubbles: true, cancelable: true}))",
        '{"warm": ["red", "a red thing"]}',
    )
    toy.wait(lambda: chips(toy) == ["green", "warm"])
    assert toy.texts(".chip small") == ["", "2 texts"]
