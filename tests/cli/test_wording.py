"""Errors in the words of the command line."""

from typing import Annotated

import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from viewvote.cli.commands import app
from viewvote.cli.wording import in_options, options_of


def ask(
    photo: Annotated[str, typer.Argument()],
    views: Annotated[int, typer.Option()] = 64,
    stop: Annotated[str | None, typer.Option("--stop", "-s")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set")] = None,
    abstain_below: Annotated[float, typer.Option()] = 0.0,
    multi_label: Annotated[bool, typer.Option("--multi-label")] = False,
) -> None:
    """Some of the options of `viewvote classify`."""


def test_options_are_found_by_the_names_of_their_arguments():
    assert options_of(ask) == {
        "views": "--views",
        "n_views": "--views",
        "stop": "--stop",
        "settings": "--set",
        "abstain_below": "--abstain-below",
        "multi_label": "--multi-label",
    }


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("ask for n_views=8, or encode again.", "ask for --views 8, or encode again."),
        ("Ask for n_views=8.", "Ask for --views 8."),
        ('leave stop="exact" out', "leave --stop exact out"),
        ("ask for it: multi_label=True.", "ask for it: --multi-label."),
        ("multi_label=False holds", "multi_label=False holds"),
        ("n_views must be a number", "--views must be a number"),
        ("abstain_below must be between 0 and 1", "--abstain-below must be between 0 and 1"),
        ("leave out `stop`.", "leave out --stop."),
        ("views are counted and stop there", "views are counted and stop there"),
        ("no setting 'views=8' and keep=0.1", "no setting 'views=8' and keep=0.1"),
        ("write ?stop=NAME, --set stop=1", "write ?stop=NAME, --set stop=1"),
        ("make it with `viewvote calibrate-stop`", "make it with `viewvote calibrate-stop`"),
        ("photo must be a file", "photo must be a file"),
    ],
)
def test_an_argument_is_called_by_its_option_where_the_command_has_one(said, expected):
    assert in_options(said, ask) == expected


def commands():
    """Every command by its words."""
    found = []

    def walk(group, words):
        for name, each in getattr(group, "commands", {}).items():
            walk(each, (*words, name))
        if group.callback is not None and words:
            found.append(pytest.param(group, id=" ".join(words)))

    walk(typer.main.get_command(app), ())
    return found


@pytest.mark.parametrize("one", commands())
def test_every_option_that_errors_may_name_exists(one):
    real = {spelled for parameter in one.params for spelled in parameter.opts}
    assert set(options_of(one.callback).values()) <= real


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--views", "0"], "--views must be a whole number of at least 1"),
        (["--keep", "2"], "--keep must be above 0"),
        (["--stop", "exact", "--disagreement", "0.1"], "--stop exact never disagrees with the full budget"),
        (["--stop", "exact", "--disagreement", "0.1"], "leave out --disagreement."),
        (["--stop", "s.json", "--disagreement", "exact"], "--disagreement exact reads no thresholds"),
        (["--views", "8", "--disagreement", "0.1"], "--disagreement belongs to adaptive views"),
        (["--disagreement", "0.00001"], "or use --stop exact."),
        (["--stop", "exact", "--method", "zero", "--set", "compat=paper"], "--stop exact counts whole votes"),
        (["--threshold", "0.3"], "ask for that too: --multi-label."),
        (["--multi-label", "--threshold", "3"], "--threshold must be between 0 and 1"),
        (["--abstain-below", "3"], "--abstain-below must be between 0 and 1"),
    ],
)
def test_classify_names_the_options_that_are_wrong(tmp_path, options, said):
    Image.new("RGB", (30, 20), (250, 0, 0)).save(tmp_path / "a.png")
    asked = ["classify", str(tmp_path / "a.png"), "--labels", "red,green", "--model", "toy", *options]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_folder_that_is_there_is_replaced_with_the_commands_option(tmp_path):
    Image.new("RGB", (30, 20), (250, 0, 0)).save(tmp_path / "a.png")
    encode = ["encode", str(tmp_path / "a.png"), "--out", str(tmp_path / "f"), "--model", "toy", "--views", "4"]
    assert CliRunner().invoke(app, encode).exit_code == 0
    done = CliRunner().invoke(app, encode)
    assert "continue them with --resume, or replace them with --overwrite." in done.stderr
    features = ["classify", "--features", str(tmp_path / "f"), "--labels", "red,green", "--views", "9"]
    assert "ask for --views 4, or" in CliRunner().invoke(app, features).stderr
    done = CliRunner().invoke(app, ["export", "toy", "--out", str(tmp_path)])
    assert "choose another folder, or replace it with --overwrite." in done.stderr
