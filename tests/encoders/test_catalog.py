"""`list_models`: families, extras, and what a real cache layout holds."""

import json
from pathlib import Path

import pytest

from viewvote import registry
from viewvote.encoders import SCHEMES, catalog, split_model_id
from viewvote.errors import UnknownNameError


def cache_repo(cache: Path, repo: str, files: dict[str, str]) -> None:
    """A repository as the hub's client caches it: blobs, and links to them from a snapshot."""
    folder = cache / f"models--{repo.replace('/', '--')}"
    snapshot = folder / "snapshots" / "c0ffee"
    for number, (name, content) in enumerate(files.items()):
        blob = folder / "blobs" / str(number)
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_text(content)
        (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
        (snapshot / name).symlink_to(blob)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("c0ffee")


CLIP = json.dumps({"model_type": "clip", "vision_config": {}})


def test_cached_dual_encoders_are_listed_by_the_id_that_loads_them(tmp_path: Path) -> None:
    cache_repo(tmp_path, "a/onnx", {"config.json": CLIP, "onnx/vision_model.onnx": "x" * 50})
    cache_repo(tmp_path, "b/pack", {"viewvote.json": "{}", "vision.onnx": "x" * 40})
    cache_repo(tmp_path, "c/oc", {"open_clip_config.json": "{}", "open_clip_model.safetensors": "x" * 30})
    cache_repo(tmp_path, "d/hf", {"config.json": CLIP, "model.safetensors": "x" * 900})
    rows = catalog.downloaded(cache_dir=tmp_path)
    assert [row.model for row in rows] == ["hf:d/hf", "onnx:a/onnx", "onnx:b/pack", "open_clip:hf-hub:c/oc"]
    assert {row.state for row in rows} == {"downloaded"}
    assert rows[0].bytes_on_disk == 900 + len(CLIP)
    assert [row.extra for row in rows] == ["torch", None, None, "torch"]


@pytest.mark.parametrize(
    "files",
    [
        {"config.json": json.dumps({"model_type": "bert"}), "model.safetensors": "x"},
        {"config.json": json.dumps({"model_type": "clip_text_model"}), "model.safetensors": "x"},
        {"config.json": CLIP},
        {"config.json": "{broken", "model.safetensors": "x"},
        {"config.json": "[]", "model.safetensors": "x"},
        {"README.md": "hello"},
    ],
    ids=["other family", "text only", "no weights", "broken", "list", "no config"],
)
def test_other_repositories_are_left_out(tmp_path: Path, files: dict[str, str]) -> None:
    cache_repo(tmp_path, "a/b", files)
    assert catalog.downloaded(cache_dir=tmp_path) == []


def test_no_cache_is_no_models(tmp_path: Path) -> None:
    assert catalog.downloaded(cache_dir=tmp_path / "none") == []


def test_every_scheme_has_a_row_and_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    rows = {row.model: row for row in catalog.families()}
    assert set(rows) == set(SCHEMES)
    assert (rows["toy"].state, rows["onnx"].state) == ("ready", "ready")
    assert (rows["open_clip"].state, rows["open_clip"].extra) == ("needs extra", "torch")


def test_a_model_whose_weights_were_not_fetched_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIEWVOTE_CACHE", str(tmp_path))
    states = {row.model: row.state for row in catalog.families()}
    assert (states["clip-b16"], states["pocket"]) == ("needs download", "ready")
    (tmp_path / "clip-b16").mkdir()
    (tmp_path / "clip-b16" / "clip_encoder.int8.onnx").write_text("x")
    assert {row.model: row.state for row in catalog.families()}["clip-b16"] == "ready"


def test_the_list_holds_families_and_downloads(tmp_path: Path) -> None:
    cache_repo(tmp_path, "a/onnx", {"onnx/vision_model.onnx": "x"})
    models = [row.model for row in catalog.list_models(cache_dir=tmp_path)]
    assert models == [*SCHEMES, "onnx:a/onnx"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("openai/clip-vit-base-patch16", "hf:openai/clip-vit-base-patch16"),
        ("ViT-B/16", "open_clip:ViT-B-16/openai"),
        ("RN50", "open_clip:RN50/openai"),
    ],
)
def test_names_of_other_packages_are_led_to_an_id(name, meant):
    with pytest.raises(UnknownNameError, match=rf"no model '{name}'.* {meant}[,.]"):
        split_model_id(name)


@pytest.mark.parametrize("name", ["pockt", "nothing", "my model", "nope:ViT-B/16"])
def test_other_names_are_not_guessed_about(name):
    with pytest.raises(UnknownNameError) as caught:
        split_model_id(name)
    assert "hub" not in str(caught.value)
    assert "ARCHITECTURE" not in str(caught.value)
