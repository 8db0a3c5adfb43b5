"""What only a terminal sees: the progress bar, and what the tab key offers."""

import json
import os
import re
import subprocess
import sys

import pytest
from PIL import Image

from tests.runs.colour_runs import colour_folder

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX")
COMMAND = [sys.executable, "-m", "viewvote"]
OPTIONS = ["--labels", "red,green", "--model", "toy", "--views", "8"]


@pytest.fixture
def many(tmp_path):
    for i in range(40):
        Image.new("RGB", (300, 200), (250, 0, 0) if i % 2 else (0, 250, 0)).save(tmp_path / f"{i:02}.png")
    return tmp_path


def on_a_terminal(*args, stdout, columns=100):
    """What the terminal got, the return code, and what went to `stdout` if that is a pipe."""
    ours, theirs = pty.openpty()
    env = os.environ | {"COLUMNS": str(columns), "TERM": "xterm"}
    env.pop("FORCE_COLOR", None)
    with subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdin=theirs,
        stdout=theirs if stdout == "terminal" else stdout,
        stderr=theirs,
        env=env,
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux says so when the other side is closed
                break
            if not piece:
                break
            shown += piece
        piped = process.stdout.read() if process.stdout else b""
    os.close(ours)
    return shown.decode(), process.returncode, piped


def plain(shown):
    """The text without colours and cursor movements."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)


def screen(shown, *, columns=100):
    """The lines a terminal of this width shows in the end, without the spaces at their ends."""
    lines, row, column = [[]], 0, 0
    for code, motion, character in re.findall(r"\x1b\[([0-9;?]*)([a-zA-Z])|(.)", shown, flags=re.DOTALL):
        if motion == "A":
            row = max(0, row - int(code or 1))
        elif motion == "K":
            lines[row] = [] if code == "2" else lines[row][:column]
        elif character == "\r":
            column = 0
        elif character == "\n" or (character and column == columns):
            row += 1
            lines.extend([[]] * (row + 1 - len(lines)))
            column = 0
        if character and character not in "\r\n":
            line = lines[row] + [" "] * (column + 1 - len(lines[row]))
            lines[row] = [*line[:column], character, *line[column + 1 :]]
            column += 1
    return [text for line in lines if (text := "".join(line).rstrip())]


def test_a_terminal_shows_images_done_rate_and_time_left_while_the_pipe_gets_lines_only(many):
    shown, code, piped = on_a_terminal("classify", many, *OPTIONS, "--format", "jsonl", stdout=subprocess.PIPE)
    assert code == 0
    assert len([json.loads(line) for line in piped.splitlines()]) == 40
    done = [int(n) for n in re.findall(r"(\d+)/40 images", plain(shown))]
    assert done
    assert max(done) == 40
    assert done == sorted(done)
    assert re.search(r"\d+\.\d/s", plain(shown))
    assert re.search(r"\d:\d\d:\d\d", plain(shown))  # time left


def test_results_on_the_same_terminal_stand_above_the_bar(many):
    shown, code, _ = on_a_terminal("classify", many, *OPTIONS, stdout="terminal")
    assert code == 0
    assert "/40 images" in plain(shown)
    header, *rows, summary = screen(shown)
    assert header.split() == ["image", "likely", "views", "votes", "label"]
    assert [row.split()[1:7] for row in rows] == [
        ["99%", "8", "2", "of", "2", "red" if i % 2 else "green"] for i in range(40)
    ]
    assert summary == "viewvote: 40 classified, 0 failed."


def test_long_results_and_complaints_are_wrapped_by_the_terminal_only(many):
    (many / "07.png").write_bytes(b"not an image")
    shown, code, _ = on_a_terminal("classify", many, *OPTIONS, "--format", "json", stdout="terminal", columns=40)
    assert code == 1
    *lines, summary = screen(shown, columns=10_000)
    told = [line for line in lines if line.startswith("viewvote: ")]
    assert len(told) == 1
    assert "07.png: it is not an image" in told[0]
    rows = json.loads("".join(line for line in lines if line not in told))
    assert [row["path"][-6:] for row in rows] == [f"{i:02}.png" for i in range(40) if i != 7]
    assert summary == "viewvote: 39 classified, 1 failed."


def test_a_narrow_terminal_is_no_trouble(many):
    _, code, piped = on_a_terminal("classify", many, *OPTIONS, "--format", "jsonl", stdout=subprocess.PIPE, columns=12)
    assert code == 0
    assert len(piped.splitlines()) == 40


def test_quiet_shows_nothing_even_on_a_terminal(many):
    shown, code, piped = on_a_terminal(
        "classify", many, *OPTIONS, "--format", "jsonl", "--quiet", stdout=subprocess.PIPE
    )
    assert (code, shown) == (0, "")
    assert len(piped.splitlines()) == 40


def test_eval_shows_running_accuracy_rate_and_time_left(tmp_path):
    photos = colour_folder(tmp_path / "colours", each=15)
    options = ["--model", "toy", "--views", "8", "--out", tmp_path / "runs", "--format", "json"]
    shown, code, piped = on_a_terminal("eval", "--dataset", photos, *options, stdout=subprocess.PIPE)
    assert code == 0
    assert json.loads(piped)[0]["n"] == 45
    assert re.search(r"\d+/45 images, accuracy \d+\.\d\d%, \d+\.\d\d images/s, \d:\d\d:\d\d left", plain(shown))


def told_to_bash(asked, **variables):
    """What the command tells bash when it is asked as bash's completion asks."""
    env = os.environ | {"_VIEWVOTE_COMPLETE": asked} | variables
    script = "from viewvote.cli.commands import app; app(prog_name='viewvote')"
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


def offered(*words):
    """What bash is told to offer after these words."""
    return told_to_bash("complete_bash", COMP_WORDS=" ".join(["viewvote", *words]), COMP_CWORD=str(len(words))).split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("cla",), ["classify"]),
        (("classify", "--met"), ["--method"]),
        (("classify", "--method", "zero"), ["zero", "zero-shot"]),
        (("classify", "--format", "js"), ["json", "jsonl"]),
        (("classify", "--templates", "ens"), ["ensemble"]),
        (("datasets", "check", "imagenet-r"), ["imagenet-r"]),
        (("eval", "--dataset", "imagenet-s"), ["imagenet-sketch"]),
        (("eval", "--engine", "r"), ["ray"]),
        (("classify", "--model", "poc"), ["pocket", "pocket-torch"]),
        (("classify", "--augment", "a"), ["augmix"]),
    ],
)
def test_the_tab_key_offers_commands_options_and_names(words, expected):
    assert offered(*words) == expected


def test_the_completion_script_is_one_that_bash_can_read():
    script = told_to_bash("source_bash")
    assert "_VIEWVOTE_COMPLETE=complete_bash" in script
    checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, timeout=60)
    assert (checked.returncode, checked.stderr) == (0, "")
