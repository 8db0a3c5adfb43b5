"""`viewvote sort`: the command around the sorting."""

import signal
import subprocess
import sys

import pytest
from PIL import Image
from typer.testing import CliRunner

from tests.cli.as_process import LABELS, TOY, UNMEASURED, draw_pictures
from viewvote.cli.commands import app
from viewvote.sorting.log import NAME


@pytest.fixture
def pictures(tmp_path):
    return draw_pictures(tmp_path / "pictures")


def sort(*args):
    return CliRunner().invoke(app, ["sort", *map(str, args)])


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != NAME)


def test_copies_go_into_folders_of_labels_and_come_out_again(pictures, tmp_path):
    before, dest = files(pictures), tmp_path / "sorted"
    done = sort(pictures, dest, *LABELS, *TOY)
    assert done.exit_code == 0
    assert files(dest) == ["blue/c.webp", "green/b.jpg", "red/a red.png"]
    assert files(pictures) == before
    assert [line.split("  ")[0] for line in done.stdout.splitlines()] == ["red/a red.png", "green/b.jpg", "blue/c.webp"]
    assert "3 copied, 0 failed: red 1, green 1, blue 1." in done.stderr
    assert "1 file skipped: .txt 1." in done.stderr
    assert "0 copied, 0 failed: nothing." in sort(pictures, dest, *LABELS, *TOY).stderr
    undone = sort("--undo", dest / NAME)
    assert undone.exit_code == 0
    assert "3 undone, 0 left" in undone.stderr
    assert not dest.exists()


def test_moving_and_the_folder_of_doubtful_images(pictures):
    before = files(pictures)
    half = Image.new("RGB", (60, 40), (250, 0, 0))
    half.paste((0, 250, 0), (30, 0, 60, 40))
    half.save(pictures / "half.png")
    args = [pictures, pictures / "sorted", *LABELS, *TOY, "--move", "--unsure", "later/", "--below", "0.97"]
    done = sort(*args)
    assert done.exit_code == 0
    assert files(pictures / "sorted") == ["blue/c.webp", "green/b.jpg", "later/half.png", "red/a red.png"]
    assert files(pictures) == sorted(["notes.txt", *(f"sorted/{name}" for name in files(pictures / "sorted"))])
    again = sort(*args[:-1], "0.9")
    assert again.exit_code == 2
    assert "other below" in again.stderr
    assert sort("--undo", pictures / "sorted" / NAME).exit_code == 0
    assert files(pictures) == sorted([*before, "half.png"])


def test_a_dry_run_does_nothing(pictures, tmp_path):
    done = sort(pictures, tmp_path / "sorted", *LABELS, *TOY, "--move", "--dry-run")
    assert done.exit_code == 0
    assert "3 would be moved" in done.stderr
    assert len(done.stdout.splitlines()) == 3
    assert not (tmp_path / "sorted").exists()
    assert (pictures / "b.jpg").exists()


def test_an_unreadable_image_stays_and_is_counted(pictures, tmp_path):
    (pictures / "broken.jpg").write_bytes(b"x")
    done = sort(pictures, tmp_path / "sorted", *LABELS, *TOY, "--move")
    assert done.exit_code == 1
    assert "broken.jpg: it is not an image" in done.stderr
    assert "3 moved, 1 failed" in done.stderr
    assert (pictures / "broken.jpg").exists()


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ([], "name the folder to sort"),
        (["PICTURES"], "name the folder to sort"),
        (["PICTURES", "out"], "either --labels"),
        (["nowhere", "out", *LABELS], "no such file or folder"),
        (["-", "out", *LABELS], "no place to sort it from"),
        (["PICTURES", "PICTURES/b.jpg", *LABELS], "is a file"),
        (["PICTURES", "out", *LABELS, "--unsure", "a/b"], "is the name of a folder in DEST"),
        (["PICTURES", "out", *LABELS, "--unsure", "../up"], "is the name of a folder in DEST"),
        (["PICTURES", "out", "--undo", "log"], "--undo takes the log alone"),
        (["--undo", "none.jsonl"], "there is no log"),
    ],
)
def test_a_usage_mistake_does_nothing(pictures, tmp_path, monkeypatch, args, told):
    monkeypatch.chdir(tmp_path)
    done = sort(*(arg.replace("PICTURES", str(pictures)) for arg in args), *([] if "--undo" in args else TOY))
    assert done.exit_code == 2
    assert told in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pictures"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
def test_a_killed_process_can_be_continued(tmp_path):
    for i in range(60):
        Image.new("RGB", (300, 200), [(250, 0, 0), (0, 250, 0)][i % 2]).save(tmp_path / f"{i:02}.png")
    before = files(tmp_path)
    command = [sys.executable, "-m", "viewvote", "sort", tmp_path, tmp_path / "out", "--move", *LABELS, *TOY]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=UNMEASURED)
    for _ in range(5):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    assert 5 <= len(files(tmp_path / "out")) < 60
    done = sort(tmp_path, tmp_path / "out", "--move", *LABELS, *TOY)
    assert done.exit_code == 0
    assert files(tmp_path) == sorted(f"out/{['red', 'green'][i % 2]}/{i:02}.png" for i in range(60))
    assert sort("--undo", tmp_path / "out" / NAME).exit_code == 0
    assert files(tmp_path) == before
