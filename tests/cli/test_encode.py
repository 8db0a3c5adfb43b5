"""`viewvote encode` and `viewvote classify --features`, as processes."""

import json
import os
import signal
import subprocess
import sys
from time import monotonic, sleep

import pytest

from tests.cli.as_process import LABELS, draw_pictures, viewvote
from tests.conftest import draw_photo
from viewvote import open_features

TOY = ["--model", "toy", "--views", "8"]

SLOW = """
from time import sleep
import viewvote

class Slow(viewvote.ToyEncoder):
    model_id = "slow"
    def encode_images(self, views):
        sleep(0.02)
        return super().encode_images(views)

viewvote.register_encoder("slow", lambda rest, options: Slow(), summary="waits")
"""


@pytest.fixture
def pictures(tmp_path):
    return draw_pictures(tmp_path / "pictures")


@pytest.fixture
def features(pictures, tmp_path):
    done = viewvote("encode", pictures, *TOY, "--out", tmp_path / "features", "--seed", "3", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return tmp_path / "features"


def rows(done, code=0):
    assert done.returncode == code, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for row in found:
        row.pop("timings")
    return found


def test_answers_are_those_for_the_images(pictures, features):
    asked = ["--format", "jsonl", "--trace", "--labels", "yellow,cyan,white", "--set", "keep=0.5"]
    from_images = rows(viewvote("classify", pictures, *TOY, "--seed", "3", *asked))
    from_features = rows(viewvote("classify", "--features", features, *asked))
    assert from_features == from_images
    assert len(from_images) == 3


def test_other_methods_and_fewer_views_are_there(pictures, features):
    for more in (["--method", "zero-shot"], ["--method", "marginal"], ["--views", "4"]):
        asked = ["--format", "jsonl", *LABELS, *more]
        one = rows(viewvote("classify", "--features", features, *asked))
        assert one == rows(viewvote("classify", pictures, *TOY, "--seed", "3", *asked))


def test_pictures_of_why_are_drawn_from_the_files(features, tmp_path):
    done = viewvote("classify", "--features", features, *LABELS, "--explain", tmp_path / "why")
    assert done.returncode == 0
    assert len(list((tmp_path / "why").glob("*.webp"))) == 3


def test_answers_are_resumed(features, tmp_path):
    asked = ["--features", features, *LABELS, "--format", "jsonl", "--output", tmp_path / "answers.jsonl"]
    viewvote("classify", *asked)
    whole = (tmp_path / "answers.jsonl").read_bytes()
    (tmp_path / "answers.jsonl").write_bytes(whole[: whole.index(b"\n") + 1])
    done = viewvote("classify", *asked, "--resume")
    assert b"2 classified, 0 failed, 1 done before." in done.stderr
    after = [json.loads(line)["path"] for line in (tmp_path / "answers.jsonl").read_bytes().splitlines()]
    assert after == [json.loads(line)["path"] for line in whole.splitlines()]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seed", "4"], "made with seed 3, not 4"),
        (["--augment", "augmix"], "made with augment 'crops', not 'augmix'"),
        (["--model", "pocket"], "made with model 'toy', not 'pocket'"),
        (["--views", "9"], "hold 8 views of each image and 9 are asked for"),
        (["--batch-views", "9"], "no view is encoded"),
        (["photo.jpg"], "in place of images"),
        (["--teacher", "toy"], "a teacher looks at pixels"),
    ],
)
def test_contradictions_are_usage_errors(features, options, message):
    done = viewvote("classify", *options, "--features", features, *LABELS)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert done.stdout == b""


def test_missing_images_and_features_are_usage_errors(tmp_path):
    done = viewvote("classify", *LABELS)
    assert (done.returncode, b"name what to classify" in done.stderr) == (2, True)
    done = viewvote("classify", "--features", tmp_path / "none", *LABELS)
    assert (done.returncode, b"holds no features" in done.stderr) == (2, True)


def test_unreadable_images_are_reported_and_counted(pictures, tmp_path):
    (pictures / "bad.png").write_bytes(b"nothing")
    done = viewvote("encode", pictures, *TOY, "--out", tmp_path / "features")
    assert done.returncode == 1
    assert "bad.png: it is not an image" in done.stderr.decode()
    assert "3 encoded, 1 failed" in done.stderr.decode()
    assert open_features(tmp_path / "features").complete
    (pictures / "bad.png").write_bytes((pictures / "b.jpg").read_bytes())
    done = viewvote("encode", pictures, *TOY, "--out", tmp_path / "features", "--resume")
    assert done.returncode == 0
    assert "1 encoded, 0 failed, 3 done before" in done.stderr.decode()
    assert len(open_features(tmp_path / "features")) == 4


def test_features_are_not_overwritten_unasked(pictures, features):
    done = viewvote("encode", pictures, *TOY, "--out", features)
    assert done.returncode == 2
    assert "holds features already" in done.stderr.decode()
    done = viewvote("encode", pictures, *TOY, "--out", features, "--resume", "--overwrite")
    assert (done.returncode, b"give one of them" in done.stderr) == (2, True)
    assert viewvote("encode", pictures, *TOY, "--out", features, "--overwrite").returncode == 0
    assert open_features(features).encoding.seed == 0
    assert viewvote("encode", "-", *TOY, "--out", features).returncode == 2


def test_killed_and_resumed_it_ends_with_the_same_bytes(tmp_path):
    (tmp_path / "pictures").mkdir()
    for i in range(30):
        draw_photo(30, 20, seed=i).save(tmp_path / "pictures" / f"{i:02}.png")
    (tmp_path / "slow.py").write_text(SLOW)
    asked = ["encode", tmp_path / "pictures", "--plugin", tmp_path / "slow.py", "--model", "slow", "--views", "16"]
    lines = tmp_path / "features" / "images.jsonl"
    for wanted in (3, 9, 20):
        command = [sys.executable, "-m", "viewvote", *map(str, asked), "--out", str(tmp_path / "features"), "--resume"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ)
        end = monotonic() + 60
        while process.poll() is None and monotonic() < end:
            if lines.exists() and lines.read_bytes().count(b"\n") >= wanted:
                break
            sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        unfinished = open_features(tmp_path / "features")
        assert wanted <= len(unfinished) < 30
        assert not unfinished.complete
    done = viewvote(*asked, "--out", tmp_path / "features", "--resume")
    assert done.returncode == 0
    viewvote(*asked, "--out", tmp_path / "at once")
    for name in ("features.npy", "images.jsonl", "encoding.json"):
        assert (tmp_path / "features" / name).read_bytes() == (tmp_path / "at once" / name).read_bytes()


def test_an_unfinished_folder_is_used_with_a_word(features):
    text = (features / "encoding.json").read_text()
    (features / "encoding.json").write_text(text.replace('"images": 3', '"images": null'))
    done = viewvote("classify", "--features", features, *LABELS)
    assert done.returncode == 0
    assert "is unfinished: 3 images" in done.stderr.decode()


def test_two_writers_in_one_folder_are_told(pictures, features):
    from viewvote.runs.lock import hold

    with hold(features / "lock"):
        done = viewvote("encode", pictures, *TOY, "--out", features, "--resume")
    assert done.returncode == 1
    assert "is in use by process" in done.stderr.decode()
