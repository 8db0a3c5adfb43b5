"""What of a hub model is missing is said before its libraries are imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import constants

from tests.encoders.hub_double import serve_hub
from viewvote.encoders import LoadOptions
from viewvote.encoders import at_hand as at_hand_module
from viewvote.encoders.at_hand import check_at_hand
from viewvote.errors import ModelNotFoundError

NOWHERE = "http://127.0.0.1:9"  # the discard port: nothing listens
LOAD = """
import sys
from viewvote.encoders import load_encoder
from viewvote.errors import ModelNotFoundError
try:
    load_encoder({model!r})
except ModelNotFoundError as error:
    print(error)
print("torch" in sys.modules)
"""


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A machine without a hub, whose cache is empty."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(at_hand_module, "find_spec", lambda name: object())
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)


@pytest.mark.parametrize(
    ("model", "advice"),
    [
        ("hf:openai/clip-vit-base-patch16", "hf download openai/clip-vit-base-patch16"),
        ("open_clip:ViT-B-16/openai", "viewvote models get open_clip:ViT-B-16/openai"),
    ],
)
def test_without_a_network_a_hub_id_is_refused_before_torch_is_imported(model, advice, tmp_path):
    pytest.importorskip("torch")
    environment = {**os.environ, "HF_ENDPOINT": NOWHERE, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"}
    command = [sys.executable, "-c", LOAD.format(model=model)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    told, torch_there = done.stdout.splitlines()
    assert "it is not in the cache and the hub cannot be reached" in told
    assert advice in told
    assert torch_there == "False"


def test_a_machine_that_has_models_is_left_to_open_clip(alone, tmp_path):
    with pytest.raises(ModelNotFoundError, match="cannot get the weights of open_clip:ViT-B-16/openai"):
        check_at_hand("open_clip", "ViT-B-16/openai", LoadOptions())
    (tmp_path / "mine" / "models--timm--other").mkdir(parents=True)
    check_at_hand("open_clip", "ViT-B-16/openai", LoadOptions(cache_dir=tmp_path / "mine"))


@pytest.mark.parametrize(
    "rest", ["ViT-B-16", "ViT-B-16/w.pt", "ViT-B-16/a/b", "local-dir:x/y", "hf-hub:owner/name", "ViT-B-16/HERE"]
)
def test_what_is_no_tag_of_open_clip_is_left_to_it(alone, rest, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("HERE").write_bytes(b"weights")
    check_at_hand("open_clip", rest, LoadOptions())


def test_a_folder_of_transformers_is_not_asked_for(alone, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("owner/name").mkdir(parents=True)
    check_at_hand("hf", "owner/name", LoadOptions())
    with pytest.raises(ModelNotFoundError, match=r"cannot get config\.json of owner/other"):
        check_at_hand("hf", "owner/other", LoadOptions())


def test_a_hub_that_answers_is_left_to_open_clip(alone, tmp_path, monkeypatch):
    with serve_hub(tmp_path / "hub") as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        check_at_hand("open_clip", "ViT-B-16/openai", LoadOptions())


def test_without_torch_its_extra_is_what_is_missing(alone, monkeypatch):
    monkeypatch.setattr(at_hand_module, "find_spec", lambda name: None)
    check_at_hand("hf", "owner/other", LoadOptions())
    check_at_hand("pocket", "", LoadOptions())
