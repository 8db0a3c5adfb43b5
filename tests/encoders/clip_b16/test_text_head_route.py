"""The paper's tower with text vectors from a file, from the file to the verdict and the studies, on photographs."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.conftest import TOWER
from viewvote import Classifier, load_encoder
from viewvote.cli.commands import app
from viewvote.encoders.clip_b16.tower import tower_file
from viewvote.encoders.head_file import open_head, read_head_file, write_head_file
from viewvote.encoders.text_head import encode_classes
from viewvote.errors import UsageError
from viewvote.labels.templates import resolve_templates
from viewvote.report.layouts import find_layout
from viewvote.report.published import match
from viewvote.runs.read import load_runs
from viewvote.studies import STUDIES
from viewvote.studies.base import Options

PETS = ("abyssinian", "beagle", "samoyed")
EACH, VIEWS = 2, 4


pytestmark = pytest.mark.usefixtures("clip_b16")


@pytest.fixture(scope="module")
def tower(tmp_path_factory):
    """The encoder; what makes the runs of all tests comes before their own cache, so it has one of its own."""
    if not TOWER.is_file():
        pytest.skip("needs the image tower of `viewvote models get clip-b16`")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIEWVOTE_CACHE", str(tmp_path_factory.mktemp("cache")))
        tower_file().parent.mkdir(parents=True)
        tower_file().symlink_to(TOWER)
        yield load_encoder("clip-b16")


@pytest.fixture(scope="module")
def pets(photos, tmp_path_factory):
    """Two photographs each of three breeds."""
    root = tmp_path_factory.mktemp("pets")
    for folder in sorted((photos / "eval" / "oxford_pets").iterdir()):
        name = folder.name.partition("_")[2]
        if name in PETS:
            (root / name).mkdir()
            for photo in sorted(folder.iterdir())[:EACH]:
                shutil.copy(photo, root / name)
    return root


@pytest.fixture(scope="module")
def runs(tower, pets, tmp_path_factory):
    """Zero and zero-shot with vectors of one template, and with those of the ensemble."""
    folder = tmp_path_factory.mktemp("route")
    for name in ("photo", "ensemble"):
        texts = resolve_templates(name)
        vectors = encode_classes(tower, PETS, templates=texts)
        write_head_file(folder / f"{name}.npy", vectors, info={"labels": list(PETS), "templates": list(texts)})
        asked = ["eval", "--dataset", pets, "--model", "clip-b16", "--text-head", folder / f"{name}.npy"]
        asked += ["--method", "zero,zero-shot", "--views", VIEWS, "--detail", "--quiet", "--out", folder / "runs"]
        done = CliRunner().invoke(app, list(map(str, asked)))
        assert done.exit_code == 0, done.output
    return load_runs([folder / "runs"])


def test_vectors_as_they_are_published_are_checked_against_the_tower(photos, tower, tmp_path):
    metadata = photos / "metadata"
    raw = np.load(metadata / "clip_b32_text" / "imagenet1k.npy")  # (width, classes), half precision; "missile" twice
    names = [one["clip_name"] for one in json.loads((metadata / "imagenet_classes.json").read_text(encoding="utf-8"))]
    np.save(tmp_path / "raw.npy", raw)
    with pytest.raises(UsageError, match="save its transpose"):
        open_head(read_head_file(tmp_path / "raw.npy"), names, tower)
    np.save(tmp_path / "head.npy", raw.T)
    assert open_head(read_head_file(tmp_path / "head.npy"), names, tower).features.shape == (1000, tower.dim)
    with pytest.raises(UsageError, match=r"rows 657 .* and 744 .* are the same"):
        open_head(read_head_file(tmp_path / "head.npy"), [str(i) for i in range(1000)], tower)
    np.save(tmp_path / "long.npy", raw.T * 2)
    with pytest.raises(UsageError, match="Normalise each row"):
        open_head(read_head_file(tmp_path / "long.npy"), names, tower)


def test_every_run_is_the_papers_experiment_but_for_the_int8_tower(runs):
    layout = find_layout("fine-grained")
    rows = {match(run, layout=layout).row.row for run in runs}
    assert rows == {"Zero", "Zero+Ensemble", "Zero-Shot", "Ensemble"}
    for run in runs:
        found = match(run, layout=layout)
        views = ("the number of views (4)",) if run.method == "zero" else ()
        assert set(found.differences) == {"the precision (int8 tower)", *views}
        assert run.n == len(PETS) * EACH


def test_the_answers_are_those_of_the_tower_with_those_texts(runs, tower, pets):
    (plain,) = [run for run in runs if run.method == "zero" and "ensemble" not in run.spec.text_head]
    clf = Classifier(tower, labels=PETS, method="zero", n_views=VIEWS)
    records = [json.loads(line) for line in plain.records.read_text(encoding="utf-8").splitlines()]
    for record in records:
        assert record["index"] == clf.with_labels(PETS)(keyed(pets, record["key"], plain)).index


def keyed(root, key, run):
    from viewvote.views.sample import Keyed

    return Keyed(root / key, key, run.dataset)


def test_reproduce_takes_the_vectors_in_place_of_weights(runs, pets):
    head = next(run.spec.text_head for run in runs if "photo" in run.spec.text_head)
    asked = ["--model", "clip-b16", "--text-head", head, "--out", runs[0].path.parent, "--quiet"]
    listed = CliRunner().invoke(app, ["reproduce", *map(str, asked)])
    assert "weights that are here: --model clip-b16" in listed.output
    asked += ["--dataset", pets, "--views", VIEWS]
    done = CliRunner().invoke(app, ["reproduce", "fine-grained", *map(str, asked)])
    assert done.exit_code == 0, done.output
    assert "the vectors of --text-head are of other texts" in done.output
    assert done.output.count("no official split, 1 seed") == 2  # zero and zero-shot


@pytest.mark.parametrize("name", ["overconfidence", "jury", "risk", "ties", "failure", "independence"])
def test_the_studies_read_its_runs(runs, name):
    zero = [run for run in runs if run.method == "zero"]
    assert STUDIES.get(name)(zero, Options()).rows
