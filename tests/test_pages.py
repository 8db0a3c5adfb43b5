"""Every block of the site's pages runs as it is written, in a folder with photographs, shards and runs.

What needs more than a checkout has (a hub's weights, a data set, a store, a cluster) is not run: its commands must
still have the options that they are written with, and its Python must compile. README, start, python, serve and extend
have tests of their own.
"""

import json
import re
import shlex
import shutil
import tarfile
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image
from typer.main import get_command

from tests.test_extend import BLOCK, run
from viewvote.cli.commands import app

ROOT = Path(__file__).parents[1]
ELSEWHERE = {"start.md", "python.md", "serve.md"}
ROOMS = ("", "reference", "results")
PAGES = sorted(page for room in ROOMS for page in (ROOT / "docs" / room).glob("*.md") if page.name not in ELSEWHERE)
MISSING = {
    "open_clip:": "weights of a hub",
    "s3://": "a store",
    "--ray-address": "a cluster",
    "imagenet": "a data set",
    "--root": "data sets",
    "calibrate-stop": "hundreds of images",
    "--stop ": "what calibrate-stop would have written",
    "viewvote serve": "is tested with the service",
    "reproduce": "is tested with the studies",
}
OTHERS = ("pip", "ray", "make", "curl")
"""Programs that are not ours; each use is tested where it belongs."""
LABELS = ("astronaut", "cat", "coffee cup", "rocket")


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory):
    """What the pages speak of: photographs in class folders, shards, labels, and a run of two seeds with details."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in LABELS))
    photos = [Image.open(photo).resize((192, 192)) for photo in sorted((ROOT / "examples" / "photos").glob("*.jpg"))]
    for label, photo, other in zip(LABELS, photos, [*photos[1:], photos[0]], strict=True):
        (folder / "photos" / label).mkdir(parents=True)
        for i in range(13):  # 52 in all: a calibration asks for 50; the last are hard, so that seeds differ
            shown = photo.copy()
            shown.paste(other.crop((0, 0, 13 * i, 192)), (0, 0))
            shown.save(folder / "photos" / label / f"{i:02}.jpg")
    shutil.copy(folder / "photos/rocket/00.jpg", folder / "photos/cat/mistake.jpg")
    shutil.copytree(folder / "photos", folder / "my-photos")
    shutil.copy(ROOT / "examples" / "photos" / "cat.jpg", folder / "photo.jpg")
    shutil.copy(ROOT / "examples" / "photos" / "rocket.jpg", folder / "new.jpg")
    (folder / "shards").mkdir()
    for shard in ("000", "001"):
        with tarfile.open(folder / "shards" / f"{shard}.tar", "w") as tar:
            (folder / "beside.json").write_text(json.dumps({"url": shard}))
            tar.add(folder / "photo.jpg", f"{shard}.jpg")
            tar.add(folder / "beside.json", f"{shard}.json")
    for method in ("zero", "anchored"):
        line = f"viewvote eval --dataset photos --views 8 --method {method} --seeds 0,1 --detail --format json"
        run("bash", line, folder)
    return folder


def filled(text, folder):
    """The block with our runs and shards in the place of the reader's."""
    found = sorted(path.parent for path in (folder / "runs").glob("*/spec.toml"))
    zero = [path for path in found if "-zero-" in path.name]
    text = text.replace("{000..127}", "{000..001}")
    text = re.sub(r"\bRUN RUN\b", f"{zero[0]} {found[0]}", text)
    text = re.sub(r"\bRUN\.\.\.", " ".join(map(str, zero)), text)
    return re.sub(r"\bRUN\b", str(zero[0]), text)


def commands(text):
    """The command lines of a block of bash, without comments; lines that end in a backslash go on."""
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [words for words in (shlex.split(line, comments=True) for line in lines) if words]


def lacking(text):
    return next((why for word, why in MISSING.items() if word in text), None)


def check_options(words):
    """The command's own parser takes the line; nothing is run."""
    if words[0] == "python":
        assert words[1] == "-m"
        source = Path(find_spec(words[2]).origin).with_name(
            "__main__.py" if words[2] == "fuzz" else f"{words[2].split('.')[-1]}.py"
        )
        text = source.read_text(encoding="utf-8")
        assert all(f'"{word}"' in text for word in words if word.startswith("--")), words
    elif words[0] == "viewvote":
        command, rest = get_command(app), words[1:]
        while rest and rest[0] in getattr(command, "commands", ()):
            command, rest = command.commands[rest[0]], rest[1:]
        command.make_context("viewvote", rest)
    else:
        assert words[0] in OTHERS, words


def check(language, text, folder):
    """Runs a block, or checks what can be checked of it."""
    if language == "json":
        json.loads(text)
    elif language == "toml":
        tomllib.loads(text)
    elif language == "python":
        compile(text, "a block", "exec")
        if not lacking(text):
            run("python", text, folder)
    elif language == "bash":
        for words in commands(text):
            check_options(words)
            if words[0] == "viewvote" and not lacking(" ".join(words)):
                run("bash", shlex.join(words), folder)
    else:
        assert language in ("text", "ini"), f"nothing checks a block of {language}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run(page, surroundings, tmp_path):
    folder = tmp_path / "page"
    shutil.copytree(surroundings, folder)
    (folder / "examples").symlink_to(ROOT / "examples")
    text = page.read_text(encoding="utf-8")
    assert "\n\n    " not in re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), "code without a language is not run"
    for language, block in BLOCK.findall(text):
        check(language, filled(block, folder), folder)


def test_an_option_that_is_not_there_is_found():
    with pytest.raises(Exception, match="no-such-option"):
        check_options(shlex.split("viewvote classify photos --no-such-option"))
    with pytest.raises(AssertionError):
        check_options(["python", "-m", "benchmarks.votes", "--no-such-option"])
