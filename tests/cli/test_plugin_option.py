"""`--plugin FILE.py` on the commands that take it."""

import json

import pytest
from PIL import Image

from tests.cli.as_process import viewvote

ENCODER = '''
import viewvote


def load(rest, options):
    """Toy colours, by another name."""
    return viewvote.ToyEncoder()


viewvote.register_encoder("mirror", load)
'''


@pytest.fixture
def plugin(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(ENCODER)
    return file


@pytest.fixture
def photo(tmp_path):
    """A red picture, in a folder of class folders."""
    for colour, level in (("red", (250, 0, 0)), ("green", (0, 250, 0))):
        (tmp_path / "colours" / colour).mkdir(parents=True)
        Image.new("RGB", (30, 20), level).save(tmp_path / "colours" / colour / "0.png")
    return tmp_path / "colours" / "red" / "0.png"


def test_models_lists_what_a_plugin_registers_and_only_then(plugin):
    rows = json.loads(viewvote("models", "--json", "--plugin", plugin).stdout)
    assert {row["model"]: row["summary"] for row in rows}["mirror"] == "Toy colours, by another name."
    assert "mirror" not in viewvote("models").stdout.decode()


def test_classify_uses_the_model_of_a_plugin(plugin, photo):
    done = viewvote("classify", photo, "--labels", "red,green", "--model", "mirror", "--views", "4", "--plugin", plugin)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().splitlines()[1].endswith("99%      4    1 of 1  red  (green 1%)")


def test_eval_uses_the_model_of_a_plugin(plugin, photo, tmp_path):
    flags = ["--model", "mirror", "--views", "4", "--out", tmp_path / "runs", "--format", "json"]
    done = viewvote("eval", "--dataset", photo.parents[1], *flags, "--plugin", plugin)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["top1"] == 1.0


CARDS = """
import viewvote
from pathlib import Path

viewvote.register_dataset(Path(__file__).with_name("cards.toml"))
"""


def test_datasets_lists_and_checks_what_a_plugin_registers(plugin, photo):
    plugin.write_text(CARDS)
    card = 'reader = "folders"\nfolders = ["colours"]\nclasses = ["red", "green"]\nimages = 2\n'
    plugin.with_name("cards.toml").write_text(f"[cards.mine]\n{card}")
    rows = json.loads(viewvote("datasets", "--format", "json", "--plugin", plugin).stdout)
    assert {row["name"]: row["folder"] for row in rows}["mine"] == str(photo.parents[1])
    checked = viewvote("datasets", "check", "mine", "--plugin", plugin)
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.decode().endswith("the full test split\n")
    assert viewvote("datasets", "check", "mine").returncode == 2


@pytest.mark.parametrize(
    "command", [["models"], ["methods"], ["datasets"], ["classify", "x.png", "--labels", "a"], ["eval"]]
)
def test_a_plugin_that_is_not_there_or_fails_is_a_usage_mistake_in_one_line(command, plugin):
    plugin.write_text("\n1 / 0\n")
    for file, message in ((plugin, "mine.py fails in line 2: ZeroDivisionError"), ("no.py", "cannot read the plugin")):
        done = viewvote(*command, "--plugin", file)
        assert (done.returncode, done.stdout) == (2, b"")
        assert message in done.stderr.decode()
        assert len(done.stderr.splitlines()) == 1
