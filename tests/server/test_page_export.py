"""What leaves the page: tables, files, links and code that does the same."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from PIL import Image

from tests.server.browser import RED, badges, png
from tests.server.living import COLOURS


def test_settings_are_in_the_address_and_the_photo_is_not(toy):
    toy.open()
    toy.give(png("secret.png", RED))
    toy.settle()
    toy.find("#adaptive").click()
    toy.run("const k = document.querySelector('#keep'); k.value = 50; k.dispatchEvent(new Event('input'))")
    toy.label("very red")
    toy.settle()
    address = toy.driver.current_url
    assert address.split("#")[1] == "label=red&label=green&label=blue&label=very+red&views=adaptive&keep=0.5"
    toy.open(f"#{address.split('#')[1]}")
    assert toy.texts(".chip span:nth-child(2)") == [*COLOURS, "very red"]
    assert toy.find("#adaptive").is_selected()
    assert toy.text("#keep-shown") == "50%"
    toy.find("#reset").click()
    toy.wait(lambda: toy.driver.current_url.endswith("#label=red&label=green&label=blue&label=very+red"))


def test_all_photos_most_doubtful_first(pocket, folder):
    pocket.open("#unsure=0.985")
    pocket.give(("notes.txt", "text/plain", b"hello"))
    pocket.find("#examples").click()
    pocket.wait(lambda: len(badges(pocket)) == 5)
    pocket.settle()
    pocket.wait(lambda: pocket.run("return document.querySelectorAll('#film .badge').length === 5"))
    pocket.find("#show-all").click()
    pocket.wait(lambda: len(pocket.all("#grid li")) == 5)
    pocket.find("#save-csv").click()
    rows = list(csv.DictReader(io.StringIO(pocket.downloaded(folder, "viewvote.csv").decode())))
    assert rows[0]["path"] == "notes.txt"
    assert "cannot decode notes.txt" in rows[0]["error"]
    likely = [float(row["probability"]) for row in rows[1:]]
    assert likely == sorted(likely)
    assert len(likely) == 4
    assert [row["label"] == "" for row in rows[1:]] == [p < 0.985 for p in likely]
    assert {row["best_guess"] for row in rows[1:]} == {"astronaut", "cat", "coffee cup", "rocket"}
    assert pocket.violations() == []
    pocket.run("[...document.querySelectorAll('#filters button')].find((b) => b.textContent.startsWith('cat')).click()")
    assert len(pocket.all("#grid li")) == 1
    pocket.find("#grid button").click()
    assert pocket.text("#answer-label") == "cat"


def test_the_answer_and_its_picture_can_be_saved(toy, folder, client):
    toy.open()
    photo = png("red.png", RED)
    toy.give(photo)
    toy.wait(lambda: badges(toy) == ["red"])
    toy.settle()
    toy.find("#save-json").click()
    saved = json.loads(toy.downloaded(folder, "red.json"))
    expected = client.classify(photo[2], trace=True).json["predictions"][0]
    assert saved | {"timings": None} == expected | {"timings": None, "path": "red.png"}
    toy.find("#save-picture").click()
    explained = Image.open(io.BytesIO(toy.downloaded(folder, "red-explained.png")))
    assert explained.format == "PNG"
    assert explained.width > 500


def shown_code(page, language):
    page.find(f'[data-code="{language}"]').click()
    return page.text("#code")


@pytest.mark.parametrize("language", ["python", "cli", "curl"])
@pytest.mark.parametrize(
    "settings",
    [
        "",
        "&views=adaptive&keep=0.5&templates=a+drawing+of+a+%7B%7D",
        "&multi=true&none=true",
        "&texts=" + quote_plus(json.dumps({"red": ["red", 'it\'s a "red" thing']})),
    ],
)
def test_the_code_to_copy_gives_the_same_answer(toy, tmp_path, language, settings):
    labels = ["red", 'it\'s "blue"', "green, or so"]
    name = "it's a photo.png"
    (tmp_path / name).write_bytes(png(name, RED)[2])
    toy.open("#" + "&".join(f"label={quote_plus(label)}" for label in labels) + settings)
    toy.give(png(name, RED))
    toy.settle()
    expected = json.loads(
        toy.run("return JSON.stringify([...document.querySelectorAll('#bars .count')].map((e) => e.textContent))")
    )
    code = shown_code(toy, language)
    (tmp_path / "code.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "code.py"] if language == "python" else ["bash", "-e", "-c", code]
    if language == "cli":
        command[-1] += " --format json"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    if language == "python":
        assert done.stdout.startswith("red ")
        return
    answer = json.loads(done.stdout)
    prediction = answer["predictions"][0] if language == "curl" else (answer[0] if isinstance(answer, list) else answer)
    assert prediction["label"] == "red"
    asked = "multi" in settings
    assert set(prediction["votes"]) == {*labels, *(["none of these"] if asked else [])}
    assert ("shown" in prediction) is asked
    votes = sorted((prediction["votes"][label] for label in labels), reverse=True)
    assert [f"{n} vote{'s' * (n != 1)}" for n in votes] == expected


def test_the_link_is_copied(toy):
    toy.open("#views=5")
    toy.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    toy.find("#copy-link").click()
    toy.wait(lambda: toy.text("#export-words") == "The link is copied; it has the settings and no photo.")
    read = "navigator.clipboard.readText().then(arguments[0], (e) => arguments[0](String(e)))"
    assert toy.driver.execute_async_script(read) == f"{toy.url}/#views=5"
