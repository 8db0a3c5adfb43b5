"""Text heads in files: what fits is the same head, what does not is an error in words."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.runs.colour_runs import colour_folder, lines_of
from viewvote import Classifier
from viewvote.cli.commands import app
from viewvote.encoders import load_encoder
from viewvote.encoders.head_file import open_head, read_head_file, write_head_file
from viewvote.encoders.text_head import encode_classes
from viewvote.errors import UsageError
from viewvote.labels.templates import resolve_templates
from viewvote.methods.anchored import Anchored
from viewvote.runs import RunSpec, run

LABELS = ["blue", "green", "red"]
TOY = load_encoder("toy")
FEATURES = encode_classes(TOY, LABELS, templates=resolve_templates("photo"))


def written(path, features=FEATURES, **info):
    write_head_file(path, features, info=info)
    return path


@pytest.mark.parametrize("suffix", [".npy", ".safetensors"])
def test_a_head_survives_its_file(tmp_path, suffix):
    if suffix == ".safetensors":
        pytest.importorskip("safetensors")
    info = {"labels": LABELS, "templates": ["a {}."], "model": "toy", "scale": TOY.logit_scale}
    found = read_head_file(written(tmp_path / f"head{suffix}", **info))
    assert (found.features == FEATURES).all()
    assert (found.labels, found.templates, found.model, found.scale) == (
        tuple(LABELS),
        ("a {}.",),
        "toy",
        TOY.logit_scale,
    )
    assert np.allclose(open_head(found, LABELS, TOY).features, FEATURES)


def test_a_bare_array_in_half_precision_is_enough(tmp_path):
    np.save(tmp_path / "head.npy", FEATURES.astype(np.float16))
    head = open_head(read_head_file(tmp_path / "head.npy"), LABELS, TOY)
    assert np.linalg.norm(head.features, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)
    assert np.abs(head.features - FEATURES).max() < 2e-3


def turned(rows):
    return FEATURES[rows]


@pytest.mark.parametrize(
    ("features", "info", "words"),
    [
        (FEATURES[:2], {}, r"expected \(labels, width of the model\) = \(3, "),
        (FEATURES[:, :-1], {}, "width of the model"),
        (FEATURES * 2, {}, r"row 0 has length 2\.000"),
        (turned([0, 1, 1]), {}, r"rows 1 \('green'\) and 2 \('red'\) are the same"),
        (
            FEATURES,
            {"labels": ["green", "blue", "red"]},
            r"label 0 is 'green', not 'blue' \(the same labels in another",
        ),
        (FEATURES, {"labels": ["blue", "green"]}, "another number of labels"),
        (FEATURES, {"scale": 3.0}, "made for a scale of 3"),
        (FEATURES, {"labels": "blue"}, "'labels' is 'blue', expected a list, each a text"),
        (np.full_like(FEATURES, np.nan), {}, "numbers that are not finite"),
        (FEATURES[0], {}, r"needs numbers \(classes, width\)"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, features, info, words):
    written(tmp_path / "head.npy", features, **info)
    with pytest.raises(UsageError, match=words):
        open_head(read_head_file(tmp_path / "head.npy"), LABELS, TOY)


def test_a_transposed_head_is_named(tmp_path):
    np.save(tmp_path / "head.npy", FEATURES[:2].T)
    with pytest.raises(UsageError, match="save its transpose"):
        open_head(read_head_file(tmp_path / "head.npy"), LABELS[:2], TOY)


def test_two_labels_of_one_name_may_have_one_vector(tmp_path):
    np.save(tmp_path / "head.npy", turned([0, 1, 1]))
    assert len(open_head(read_head_file(tmp_path / "head.npy"), ["blue", "green", "green"], TOY).features) == 3


@pytest.mark.parametrize(("name", "data"), [("head.txt", b""), ("head.npy", b"no array"), ("none.npy", None)])
def test_files_that_are_no_heads_are_refused(tmp_path, name, data):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError):
        read_head_file(tmp_path / name)


def test_an_exported_head_gives_the_records_of_the_text_tower(tmp_path):
    (tmp_path / "labels.txt").write_text("\n".join(LABELS))
    asked = ["text-head", "export", "toy", "--labels-file", tmp_path / "labels.txt", "--out", tmp_path / "head.npy"]
    made = CliRunner().invoke(app, list(map(str, asked)))
    assert made.exit_code == 0, made.output
    assert json.loads((tmp_path / "head.json").read_text())["labels"] == LABELS
    folder = str(colour_folder(tmp_path / "colours", each=2))
    plain = run(RunSpec(folder, model="toy", views=8), out=tmp_path / "runs")
    headed = run(RunSpec(folder, model="toy", views=8, text_head=str(tmp_path / "head.npy")), out=tmp_path / "runs")
    assert plain.run != headed.run
    assert lines_of(plain) == lines_of(headed)
    np.save(tmp_path / "head.npy", FEATURES[::-1])
    spec = RunSpec(folder, model="toy", text_head=str(tmp_path / "head.npy"), text_head_fingerprint="0" * 12)
    with pytest.raises(UsageError, match="not the one of the spec"):
        run(spec, out=tmp_path / "runs")


def test_python_takes_a_head_and_tuning_methods_do_not(tmp_path):
    path = written(tmp_path / "head.npy")
    image = np.full((40, 40, 3), (250, 0, 0), dtype=np.uint8)
    assert Classifier("toy", labels=LABELS, n_views=4, text_head=path)(image).label == "red"
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match="takes no text head"):
        Classifier("toy", labels=LABELS, method="tpt", text_head=path)


def test_the_anchored_vote_needs_a_weight_beside_a_head(tmp_path):
    path = written(tmp_path / "head.npy")
    with pytest.raises(UsageError, match="give it a weight"):
        Classifier("toy", labels=LABELS, method="anchored", text_head=path)
    assert Classifier("toy", labels=LABELS, method=Anchored(weight=1), text_head=path).likeness is None


def export(*args):
    return CliRunner().invoke(app, ["text-head", "export", "toy", *map(str, args)])


def test_the_classes_of_a_dataset_are_exported_though_their_names_repeat(tmp_path):
    made = export("--classes", "imagenet", "--out", tmp_path / "head.npy")
    assert made.exit_code == 0, made.output
    found = read_head_file(tmp_path / "head.npy")
    assert len(found.labels) == 1000
    assert found.labels.count("missile") == 2
    assert found.features.shape == (1000, TOY.dim)
    (tmp_path / "names.txt").write_text("red\nblue\nred\n")
    for i, option in enumerate(("--classes", "--labels-file")):
        assert export(option, tmp_path / "names.txt", "--out", tmp_path / f"{i}.npy").exit_code == 0
        assert read_head_file(tmp_path / f"{i}.npy").labels == ("red", "blue", "red")


def test_labels_are_named_in_one_way(tmp_path):
    (tmp_path / "names.txt").write_text("red\n")
    both = ["--classes", "imagenet", "--labels-file", tmp_path / "names.txt"]
    for options in ([], both):
        found = export(*options, "--out", tmp_path / "head.npy")
        assert found.exit_code == 2
        assert "one of --labels-file FILE and --classes NAME" in found.output
    assert "Did you mean" in export("--classes", "imagenett", "--out", tmp_path / "head.npy").output
