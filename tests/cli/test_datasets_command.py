"""`viewvote datasets` as a process."""

import json

from PIL import Image

from tests.cli.as_process import viewvote
from tests.datasets.miniature import build, colour_folders


def lines(done):
    return {line.split()[0]: line for line in done.stdout.decode().splitlines()}


def test_the_list_says_what_is_present_and_in_which_suite(tmp_path):
    build(tmp_path, "eurosat")
    build(tmp_path, "dtd")
    (tmp_path / "dtd" / "split_zhou_DescribableTextures.json").unlink()
    done = viewvote("datasets", "--root", tmp_path)
    rows = lines(done)
    assert done.returncode == 0
    assert len(rows) == 15
    assert rows["eurosat"].split()[:5] == ["eurosat", "fine-grained", "8,100", "10", str(tmp_path / "eurosat")]
    assert "incomplete" in rows["dtd"]
    assert "Describable Textures has no split file: expected" in done.stderr.decode()
    assert "missing" in rows["imagenet-a"]


def test_the_list_is_machine_readable_and_takes_the_root_from_the_environment(tmp_path):
    build(tmp_path, "pets")
    done = viewvote("datasets", "--format", "json", env={"VIEWVOTE_DATA": str(tmp_path)})
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["pets"]["state"] == "found"
    assert rows["pets"]["suites"] == ["fine-grained", "all"]
    assert rows["cars"]["state"] == "missing"
    assert rows["cars"]["source"] in rows["cars"]["missing"]


def test_without_a_root_the_list_asks_for_one():
    done = viewvote("datasets", env={"VIEWVOTE_DATA": ""})
    assert done.returncode == 0
    assert "not looked for" in done.stdout.decode()
    assert "--root DIR or VIEWVOTE_DATA" in done.stderr.decode()
    assert viewvote("datasets", "check", "pets", env={"VIEWVOTE_DATA": ""}).returncode == 2


def test_a_check_of_your_own_folder_passes_and_draws_a_contact_sheet(tmp_path):
    colour_folders(tmp_path / "colours", per_class=2)
    (tmp_path / "colours" / "red" / "000.jpg").write_bytes(b"not an image")
    done = viewvote("datasets", "check", tmp_path / "colours", "--sheet", tmp_path / "sheet.png")
    assert (done.returncode, done.stderr) == (0, b"")
    assert lines(done)["images"].split() == ["images", "8"]
    assert lines(done)["result"] == "result       in order"
    with Image.open(tmp_path / "sheet.png") as sheet:
        colours = {colour for _, colour in sheet.convert("RGB").getcolors(10**6)}
    assert any(b > 200 and r < 60 and g < 60 for r, g, b in colours)  # the blue picture is on it


def test_a_check_that_fails_says_why_and_exits_with_one(tmp_path):
    build(tmp_path, "eurosat")
    (tmp_path / "eurosat" / "2750" / "Forest" / "Forest_1.jpg").unlink()
    done = viewvote("datasets", "--root", tmp_path, "check", "eurosat")
    assert done.returncode == 1
    assert "problem      1 of the 10 images of the split are missing" in done.stdout.decode()
    assert lines(done)["result"] == "result       NOT in order"
    report = json.loads(viewvote("datasets", "check", "eurosat", "--root", tmp_path, "--format", "json").stdout)
    assert (report["ok"], report["complete"], report["images"], report["expected_images"]) == (False, False, 10, 8100)
    wrong = viewvote("datasets", "check", tmp_path / "eurosat" / "2750", "--classes", "pets")
    assert wrong.returncode == 1
    assert "are none of the 37 classes" in wrong.stderr.decode()


def test_a_full_split_is_called_so(tmp_path):
    build(tmp_path, "imagenet-a", layout="zero")
    wnids = sorted(path.name for path in (tmp_path / "imagenet-a").iterdir())
    for i in range(7_300):  # with the 200 of the miniature, 7,500; files that are only counted may be empty
        (tmp_path / "imagenet-a" / wnids[0] / f"more_{i}.jpg").touch()
    done = viewvote("datasets", "check", "imagenet-a", "--root", tmp_path)
    assert (done.returncode, lines(done)["result"]) == (0, "result       the full test split")


def test_wrong_usage_is_told(tmp_path):
    colour_folders(tmp_path / "colours", per_class=1)
    done = viewvote("datasets", "check", "imagenett")
    assert (done.returncode, b"Did you mean 'imagenet'" in done.stderr) == (2, True)
    assert viewvote("datasets", "--format", "yaml").returncode == 2
    done = viewvote("datasets", "check", tmp_path / "colours", "--sheet", tmp_path / "sheet.odd")
    assert (done.returncode, b"cannot write the contact sheet" in done.stderr) == (2, True)
    assert viewvote("datasets", "check", tmp_path / "colours", "--sheet", tmp_path / "no" / "x.png").returncode == 2


def test_a_card_of_your_own_is_listed_checked_and_evaluated(tmp_path):
    colour_folders(tmp_path / "colours", per_class=2)
    (tmp_path / "cards.toml").write_text(
        '[cards.paint]\nreader = "folders"\nfolders = ["colours"]\nimages = 8\n'
        'classes = ["yellow", "red", "green", "blue"]\n[suites]\nmine = ["paint"]\n'
    )
    cards = ["--dataset-cards", tmp_path / "cards.toml"]
    row = lines(viewvote("datasets", *cards, env={"VIEWVOTE_DATA": ""}))["paint"].split()
    assert row == ["paint", "mine", "8", "4", str(tmp_path / "colours"), "paint"]
    done = viewvote("datasets", "check", "paint", env={"VIEWVOTE_DATASETS": str(tmp_path / "cards.toml")})
    assert (done.returncode, lines(done)["result"]) == (0, "result       the full test split")
    run = ["eval", "--dataset", "mine", *cards, "--model", "toy", "--views", "2", "--format", "json"]
    done = viewvote(*run, "--out", tmp_path / "runs", cwd=tmp_path)
    (summary,) = json.loads(done.stdout)
    assert (summary["dataset"], summary["n"], summary["full_split"], summary["split_size"]) == ("paint", 8, True, 8)
    done = viewvote("datasets", "--dataset-cards", tmp_path / "none.toml")
    assert (done.returncode, b"cannot read" in done.stderr) == (2, True)
