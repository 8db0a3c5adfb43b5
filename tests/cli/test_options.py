"""The options that commands share, and what typer makes of a dataclass of options."""

import re
from dataclasses import dataclass, fields, replace
from typing import Annotated, get_args, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

from viewvote import Classifier
from viewvote.cli import options
from viewvote.cli.answers import classifier_of
from viewvote.cli.classify import ClassifyOptions
from viewvote.cli.commands import app
from viewvote.cli.evaluate import EvalOptions
from viewvote.encoders import base
from viewvote.runs import RunSpec
from viewvote.views import sample


@dataclass(frozen=True)
class Given:
    """Options of a command."""

    name: Annotated[str, typer.Argument()]
    times: Annotated[int, typer.Option("--times", "-n", min=1)] = 2
    words: Annotated[list[str] | None, typer.Option("--word")] = None


@pytest.fixture
def commands():
    """A command line whose command returns 3, and what it was called with."""
    calls = []
    app = typer.Typer()

    @app.command()
    @options.takes(Given)
    def greet(given: Given) -> int:
        """Greet someone."""
        calls.append(given)
        return 3

    return app, calls


def test_a_command_gets_its_options_in_one_dataclass_and_returns_its_exit_code(commands):
    app, calls = commands
    assert CliRunner().invoke(app, ["Ada"]).exit_code == 3
    assert CliRunner().invoke(app, ["Ada", "-n", "5", "--word", "a", "--word", "b"]).exit_code == 3
    assert calls == [Given("Ada"), Given("Ada", times=5, words=["a", "b"])]


def test_options_of_a_dataclass_are_checked_and_shown_as_those_of_a_function(commands):
    app, calls = commands
    assert CliRunner().invoke(app, ["Ada", "--times", "0"]).exit_code == 2
    assert CliRunner().invoke(app, []).exit_code == 2
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert "Greet someone." in shown
    assert "--times" in shown
    assert calls == []


@pytest.mark.parametrize("kind", ["Dtype", "Runtime", "Precision"])
def test_choices_of_models_are_those_of_the_encoders(kind):
    assert getattr(options, kind) == getattr(base, kind)


def test_choices_of_views_are_those_of_the_views():
    assert options.Augment == sample.Augment


def shown_defaults(kind):
    """The defaults that `--help` shows in words, by option."""
    hints = get_type_hints(kind, include_extras=True)
    infos = {name: get_args(hint)[1] for name, hint in hints.items()}
    return {name: info.show_default for name, info in infos.items() if isinstance(info.show_default, str)}


SHARED = ["model", "augment", "device", "dtype", "runtime", "precision"]


@pytest.mark.parametrize("name", SHARED)
def test_the_default_that_help_shows_is_the_one_of_classify_and_of_a_run(name):
    of_classify = {field.name: field.default for field in fields(ClassifyOptions)}
    of_runs = {field.name: field.default for field in fields(RunSpec)}
    assert str(of_classify[name]) in (str(of_runs[name]), "None")
    assert shown_defaults(ClassifyOptions)[name] == shown_defaults(EvalOptions)[name] == str(of_runs[name])


@pytest.mark.parametrize(("name", "default"), [("method", "auto"), ("views", None)])
def test_classify_chooses_by_itself_and_a_run_is_the_papers_and_help_shows_both(name, default):
    of_runs = {field.name: field.default for field in fields(RunSpec)}
    assert {field.name: field.default for field in fields(ClassifyOptions)}[name] == default
    assert shown_defaults(ClassifyOptions)[name].startswith("auto, ")
    assert shown_defaults(ClassifyOptions)[name].endswith(f"; eval: {of_runs[name]}")


def test_what_classify_leaves_open_is_the_default_of_a_classifier():
    classifier, other = classifier_of(ClassifyOptions(labels="red,green")), Classifier(labels=["red", "green"])
    assert replace(classifier.plan, encoder=other.encoder, limits=other.limits) == other.plan
    assert (classifier.method, classifier.rule) == (other.method, other.rule)


@pytest.mark.parametrize(
    ("command", "option", "choices"),
    [
        ("classify", "--format", ["table", "json", "jsonl", "csv"]),
        ("classify", "--augment", ["crops", "augmix"]),
        ("classify", "--precision", ["auto", "fp32", "int8"]),
        ("classify", "--runtime", ["auto", "onnxruntime", "openvino"]),
        ("classify", "--dtype", ["fp32", "fp16", "bf16"]),
        ("eval", "--format", ["table", "json"]),
        ("eval", "--engine", ["local", "ray"]),
        ("eval", "--order", ["dataset", "shuffled"]),
        ("eval", "--augment", ["crops", "augmix"]),
    ],
)
def test_a_wrong_choice_is_a_usage_mistake_that_names_the_right_ones(command, option, choices, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    done = CliRunner().invoke(app, [command, "x", option, "wrong"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.search(f"Invalid value for .*{option}.*'wrong' is not one of", done.stderr)
    assert all(repr(choice) in done.stderr for choice in choices)


@pytest.mark.parametrize("columns", [60, 100])
@pytest.mark.parametrize(
    ("command", "panels"),
    [
        ("classify", ["What to ask", "Model", "Views and vote", "Output", "Shards and tables", "Cluster", "Other"]),
        ("eval", ["What to ask", "Model", "Views and vote", "Output", "Run", "Cluster"]),
    ],
)
def test_help_shows_options_in_groups(command, panels, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = CliRunner().invoke(app, [command, "--help"]).stdout
    assert re.findall(r"^╭─ ([\w ]+?) ─", shown, flags=re.MULTILINE)[-len(panels) :] == panels
    assert max(map(len, shown.splitlines())) <= columns


UNGROUPED = {"--quiet", "--plugin", "--json"}
FEW = 6


def all_commands(group):
    for each in getattr(group, "commands", {}).values():
        yield each
        yield from all_commands(each)


def groups_of(command):
    """The options of a command by the group of `--help` they are in; None is the first one."""
    found = {}
    for parameter in command.params:
        if parameter.param_type_name == "option":
            found.setdefault(parameter.rich_help_panel, []).append(parameter.opts[0])
    return found


def test_help_of_many_options_is_in_groups():
    command_line = typer.main.get_command(app)
    many = [one for one in all_commands(command_line) if sum(map(len, groups_of(one).values())) > FEW]
    many += [each for each in all_commands(command_line) if each.name in ("export", "statistics", "calibrate")]
    assert len(many) > 10
    for command in many:
        if command.name not in ("classify", "metrics", "check"):
            assert set(groups_of(command).get(None, [])) <= UNGROUPED, command.name


def test_help_of_classify_starts_with_what_a_newcomer_needs():
    groups = groups_of(typer.main.get_command(app).commands["classify"])
    assert groups[None] == ["--labels", "--labels-file", "--model", "--views", "--output", "--explain"]
    assert groups["Other"] == ["--plugin", "--quiet"]
