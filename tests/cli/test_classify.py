"""The command as a process: exit codes, streams, wrong inputs, interruptions."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest
from PIL import Image

from tests.cli.as_process import LABELS, TOY, draw_pictures, viewvote
from tests.encoders.onnx import packs
from viewvote import Classifier


@pytest.fixture
def pictures(tmp_path):
    return draw_pictures(tmp_path / "pictures")


def test_one_picture_as_a_table(pictures):
    done = viewvote("classify", pictures / "a red.png", *LABELS, *TOY)
    assert done.returncode == 0
    header, row = done.stdout.decode().splitlines()
    assert header.split() == ["image", "likely", "views", "votes", "label"]
    assert row.endswith("99%      8    2 of 2  red")
    assert header.index("views") + len("views") == row.index("8    2") + 1
    assert done.stderr == b""


def test_folders_recurse_and_only_images_are_taken(pictures):
    done = viewvote("classify", pictures, *LABELS, *TOY, "--format", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["label"] for row in rows] == ["red", "green", "blue"]
    assert "3 classified, 0 failed" in done.stderr.decode()
    assert viewvote("classify", pictures, *LABELS, *TOY, "--quiet").stderr == b""


def test_globs_recurse_and_repeats_are_dropped(pictures):
    pattern = f"{pictures}/**/*.webp"
    done = viewvote("classify", pattern, pictures / "deep", *LABELS, *TOY, "--format", "jsonl")
    assert [json.loads(line)["label"] for line in done.stdout.splitlines()] == ["blue"]


def test_json_is_the_same_to_dict_as_in_python(pictures):
    path = str(pictures / "b.jpg")
    done = viewvote("classify", path, *LABELS, *TOY, "--format", "json", "--trace", "--top", "3")
    (from_cli,) = json.loads(done.stdout)
    in_python = Classifier("toy", labels=["red", "green", "blue"], n_views=8)(path).to_dict(trace=True, top=3)
    assert list(from_cli) == list(in_python)
    assert from_cli.pop("timings").keys() == in_python.pop("timings").keys()
    assert from_cli == json.loads(json.dumps(in_python))
    assert len(from_cli["trace"]["views"]) == 8


def test_hyper_parameters_can_be_set(pictures):
    settings = ["--set", "keep=1.0", "--set", "tie=max-logit", "--augment", "augmix"]
    done = viewvote("classify", pictures / "b.jpg", *LABELS, *TOY, *settings, "--format", "jsonl")
    assert sum(json.loads(done.stdout)["votes"].values()) == 8


def test_keep_goes_with_other_settings_and_a_wrong_one_leaves_no_file(pictures, tmp_path):
    args = ["classify", pictures / "b.jpg", *LABELS, *TOY, "--keep", "0.5", "--format", "jsonl"]
    wrong = viewvote(*args, "--set", "tie=foo", "--output", tmp_path / "o.jsonl")
    assert wrong.returncode == 2
    assert "no tie rule 'foo'" in wrong.stderr.decode()
    assert not (tmp_path / "o.jsonl").exists()
    done = viewvote(*args, "--set", "tie=random")
    assert sum(json.loads(done.stdout)["votes"].values()) == 4


def test_nothing_on_standard_input_is_told(tmp_path):
    done = viewvote("classify", "-", *LABELS, *TOY, stdin=b"")
    assert done.returncode == 2
    assert b"standard input, which is empty" in done.stderr


def test_an_empty_json_run_is_an_empty_array(tmp_path):
    (tmp_path / "bad.png").write_bytes(b"x")
    done = viewvote("classify", tmp_path / "bad.png", *LABELS, *TOY, "--format", "json")
    assert json.loads(done.stdout) == []
    assert done.returncode == 1


def test_csv_can_be_read_back(pictures):
    done = viewvote("classify", pictures, *LABELS, *TOY, "--method", "zero", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [row["label"] for row in rows] == ["red", "green", "blue"]
    assert (rows[0]["vote_share"], rows[0]["votes"], rows[0]["kept_views"], rows[0]["error"]) == ("1.0", "2", "2", "")
    assert {rows[0]["second_label"], rows[0]["third_label"]} == {"green", "blue"}


def test_an_image_on_standard_input(pictures):
    data = (pictures / "a red.png").read_bytes()
    done = viewvote("classify", "-", *LABELS, *TOY, "--format", "jsonl", stdin=data)
    assert json.loads(done.stdout)["label"] == "red"
    assert json.loads(done.stdout)["path"] == "-"


def test_paths_on_standard_input(pictures):
    listed = f"{pictures / 'b.jpg'}\n{pictures / 'gone.jpg'}\n{pictures / 'deep'}\n".encode()
    done = viewvote("classify", "-", *LABELS, *TOY, "--format", "jsonl", stdin=listed)
    assert done.returncode == 1
    assert [json.loads(line)["label"] for line in done.stdout.splitlines()] == ["green", "blue"]
    assert "gone.jpg: No such file" in done.stderr.decode()
    assert "2 classified, 1 failed." in done.stderr.decode()


def test_labels_from_a_file(pictures, tmp_path):
    labels = tmp_path / "labels.txt"
    labels.write_text("\ufeffred\n\n  green \nblå\n", encoding="utf-8")
    done = viewvote("classify", pictures / "b.jpg", "--labels-file", labels, *TOY, "--format", "jsonl")
    assert set(json.loads(done.stdout)["scores"]) == {"red", "green", "blå"}


def test_a_file_of_descriptions_and_a_column_of_a_table(pictures, tmp_path):
    (tmp_path / "cupl.json").write_text('{"warm": ["a red thing", "orange"], "cold": ["A blue thing."]}')
    (tmp_path / "table.csv").write_text("kind;colour\nwarm;red\ncold;blue\n")
    args = ["classify", pictures / "deep", *TOY, "--format", "jsonl", "--labels-file"]
    assert json.loads(viewvote(*args, tmp_path / "cupl.json").stdout)["label"] == "cold"
    done = viewvote(*args, tmp_path / "table.csv", "--labels-column", "colour")
    assert json.loads(done.stdout)["label"] == "blue"
    refused = viewvote(*args, tmp_path / "table.csv")
    assert refused.returncode == 2
    assert "--labels-column" in refused.stderr.decode()


def test_skipped_files_are_counted_by_kind(pictures):
    (pictures / "gone.jpg").symlink_to(pictures / "nowhere.jpg")
    done = viewvote("classify", pictures, *LABELS, *TOY)
    assert done.returncode == 0
    assert "2 files skipped: .txt 1, broken links 1." in done.stderr.decode()


def test_the_limits_of_images_can_be_set(pictures):
    done = viewvote("classify", pictures / "b.jpg", *LABELS, *TOY, "--max-pixels", "599")
    assert done.returncode == 1
    assert "b.jpg has 30 x 20 pixels; the limit is 599 pixels. Shrink it, or raise" in done.stderr.decode()
    size = (pictures / "b.jpg").stat().st_size
    done = viewvote("classify", pictures / "b.jpg", *LABELS, *TOY, "--max-bytes", "100")
    assert f"b.jpg has {size:,} bytes; the limit is 100 bytes" in done.stderr.decode()
    fitting = ["--max-pixels", "600", "--max-bytes", size]
    assert viewvote("classify", pictures / "b.jpg", *LABELS, *TOY, *fitting).returncode == 0


def test_an_unreadable_file_is_told_and_counted_and_the_rest_goes_on(pictures):
    (pictures / "aa.jpg").write_bytes(b"broken")
    done = viewvote("classify", pictures, *LABELS, *TOY, "--format", "jsonl")
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 3
    assert "aa.jpg: it is not an image" in done.stderr.decode()
    assert "3 classified, 1 failed" in done.stderr.decode()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere.jpg", *LABELS], "no such file or folder: nowhere.jpg"),
        (["*.nothing", *LABELS], "matches no file"),
        (["."], "--labels"),
        ([".", *LABELS, "--labels-file", "x"], "either --labels"),
        ([".", "--labels-file", "missing.txt"], "cannot read the labels file"),
        ([".", "--labels", ","], "there are no labels"),
        ([".", "--labels", "a,a"], "given twice"),
        ([".", *LABELS, "--model", "toi"], "Did you mean 'toy'"),
        ([".", *LABELS, "--method", "zeroo"], "Did you mean 'zero'"),
        ([".", *LABELS, "--keep", "0"], "keep must be above 0"),
        ([".", *LABELS, "--views", "0"], "--views must be"),
        ([".", *LABELS, "--templates", "phoot"], "Did you mean 'photo'"),
        ([".", *LABELS, "--resume"], "--output"),
        ([".", *LABELS, "--set", "tie"], "write --set KEY=VALUE"),
        ([".", *LABELS, "--set", "tye=random"], "Did you mean 'tie'"),
        ([".", *LABELS, "--set", "keep='many'"], "keep must be above 0 and at most 1"),
        ([".", *LABELS, "--set", "keep=2"], "keep must be above 0"),
        ([".", *LABELS, "--model", "toy:xyz"], "is one model"),
        ([".", "--labels", b"caf\xe9,dog"], "--labels is not UTF-8 text"),
        ([".", *LABELS, "--explain", "p.png"], "cannot write into --explain p.png"),
        (["-", *LABELS, "--explain", "why"], "--explain needs a file"),
        ([*LABELS], "name what to classify"),
        (["--watch", "nowhere", *LABELS], "--watch nowhere is no folder"),
        ([".", *LABELS, "--views=--5"], "views must be a number"),
        ([".", *LABELS, "--keep", "0.5", "--set", "keep=0.5"], "are the same setting"),
        ([".", *LABELS, "--keep", "2", "--set", "tie=random"], "keep must be above 0"),
        ([".", *LABELS, "--output", "o.json", "--format", "json", "--resume"], "jsonl"),
        ([".", *LABELS, "--output", "o.JSON", "--format", "jsonl"], "is json by its ending"),
        ([".", *LABELS, "--output", "no/such/folder/o.csv", "--format", "csv"], "cannot write"),
    ],
)
def test_a_usage_mistake_is_one_line_and_exit_code_2(tmp_path, args, message):
    Image.new("RGB", (9, 9)).save(tmp_path / "p.png")
    stdin = (tmp_path / "p.png").read_bytes()
    done = viewvote("classify", *args, *([] if "--model" in args else ["--model", "toy"]), cwd=tmp_path, stdin=stdin)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert len(done.stderr.decode().splitlines()) == 1
    assert done.stdout == b""


def test_a_folder_without_images_is_a_usage_mistake(tmp_path):
    done = viewvote("classify", tmp_path, *LABELS, *TOY)
    assert done.returncode == 2
    assert "holds no images" in done.stderr.decode()


def test_precision_chooses_the_vision_tower_of_a_pack(pictures, tmp_path):
    packs.write_pack(tmp_path / "pack")
    args = ["classify", pictures / "b.jpg", *LABELS, "--model", f"onnx:{tmp_path / 'pack'}", "--views", "4"]
    assert viewvote(*args, "--precision", "fp32").returncode == 0
    refused = viewvote(*args, "--precision", "int8")
    assert refused.returncode == 1
    assert "has no vision tower for precision 'int8'" in refused.stderr.decode()


def test_an_unknown_option_is_exit_code_2():
    assert viewvote("classify", "--no-such-option").returncode == 2
    assert viewvote("no-such-command").returncode == 2


def test_a_locale_without_unicode_does_not_stop_the_run(pictures):
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    done = viewvote("classify", pictures / "a red.png", "--labels", "röd,red", *TOY, "--format", "jsonl", env=env)
    assert done.returncode == 0
    assert json.loads(done.stdout)["label"] == "red"
    assert set(json.loads(done.stdout)["scores"]) == {"röd", "red"}
    assert viewvote("classify", "nöwhere", "--labels", "röd", *TOY, env=env).returncode == 2


def test_a_read_only_cache_does_not_stop_the_run(pictures, tmp_path):
    (tmp_path / "cache").write_text("a file where a folder should be")
    done = viewvote("classify", pictures / "a red.png", *LABELS, *TOY, env={"VIEWVOTE_CACHE": str(tmp_path / "cache")})
    assert done.returncode == 0
    assert b"red" in done.stdout


def test_a_narrow_terminal(pictures):
    done = viewvote("classify", pictures / "a red.png", *LABELS, *TOY, env={"COLUMNS": "20"})
    assert done.returncode == 0
    assert viewvote("classify", "--help", env={"COLUMNS": "20"}).returncode == 0


def test_explanations_are_written(pictures, tmp_path):
    Image.new("RGB", (30, 20), (250, 0, 0)).save(pictures / "deep" / "b.png")  # the same stem as b.jpg
    folder = tmp_path / "why"
    done = viewvote("classify", pictures, *LABELS, *TOY, "--explain", folder)
    assert done.returncode == 0
    names = ["a red.webp", "b-2.webp", "b.webp", "c.webp"]
    assert sorted(p.name for p in folder.glob("*.webp")) == names
    assert sorted(p.name for p in (folder / "thumbnails").iterdir()) == names
    with Image.open(folder / "b.webp") as image:
        assert image.width > 1000
    page = (folder / "index.html").read_text()
    assert page.count("<li ") == 4
    assert 'href="a%20red.webp"' in page


def test_listings_are_text_or_json():
    for command, name in (("methods", "zero-shot"), ("templates", "ensemble")):
        assert name in viewvote(command).stdout.decode()
        rows = json.loads(viewvote(command, "--json").stdout)
        assert name in [next(iter(row.values())) for row in rows]


def test_models_are_listed_with_what_stands_in_the_way(tmp_path):
    assert "pocket" in viewvote("models").stdout.decode()
    rows = {row["model"]: row for row in json.loads(viewvote("models", "--json", env=without_torch(tmp_path)).stdout)}
    assert rows["pocket"]["state"] == "ready"
    assert rows["open_clip"]["extra"] == "torch"


def without_torch(folder):
    """An environment in which torch cannot be imported, as after a core install."""
    (folder / "blocked").mkdir()
    (folder / "blocked" / "sitecustomize.py").write_text("import sys; sys.modules['torch'] = None")
    return {"PYTHONPATH": str(folder / "blocked")}


@pytest.mark.parametrize("model", ["open_clip:ViT-B-16/openai", "hf:openai/clip-vit-base-patch16", "pocket-torch"])
def test_a_missing_extra_says_what_to_install(pictures, tmp_path, model):
    done = viewvote("classify", pictures, *LABELS, "--model", model, env=without_torch(tmp_path))
    assert done.returncode == 2
    assert 'pip install "viewvote[torch]"' in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_the_core_runs_where_torch_is_missing(pictures, tmp_path):
    done = viewvote("classify", pictures / "b.jpg", *LABELS, *TOY, env=without_torch(tmp_path))
    assert done.returncode == 0


def test_version_and_help():
    shown = [line.split() for line in viewvote("--version").stdout.decode().splitlines()]
    assert [words[0] for words in shown] == ["viewvote", "pocket", "clip-b16"]
    assert [len(words[1]) for words in shown[1:]] == [12, 12]
    for command in ([], ["classify"], ["models"], ["methods"], ["templates"], ["export"], ["doctor"]):
        done = viewvote(*command, "--help")
        assert done.returncode == 0
        assert b"Usage" in done.stdout


def test_an_unexpected_error_is_a_line_and_a_traceback_only_on_request(pictures):
    code = (
        "import viewvote.classify.classifier, viewvote.cli, sys\n"
        "viewvote.classify.classifier.Classifier.predict_many = lambda *a, **k: 1 / 0\n"
        f"sys.argv = ['viewvote', 'classify', {str(pictures)!r}, '--labels', 'red', '--model', 'toy']\n"
        "viewvote.cli.main()"
    )
    quiet = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert quiet.returncode == 1
    assert b"unexpected ZeroDivisionError" in quiet.stderr
    assert b"Traceback" not in quiet.stderr
    loud = subprocess.run([sys.executable, "-c", code], capture_output=True, env=os.environ | {"VIEWVOTE_DEBUG": "1"})
    assert b"Traceback" in loud.stderr
