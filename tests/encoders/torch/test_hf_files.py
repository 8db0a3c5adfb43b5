"""The files of a transformers model: what is read, what is missing, damaged or dangerous."""

import json
import pickle
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

from tests.encoders.torch.tiny_torch import write_siglip  # noqa: E402
from viewvote.encoders import LoadOptions, load_encoder  # noqa: E402
from viewvote.errors import CheckpointError, ModelNotFoundError, UnsupportedEncoderError  # noqa: E402

pytestmark = pytest.mark.torch
CPU = LoadOptions(device="cpu")


def test_missing_weights_are_an_error_and_not_random_numbers(tmp_path):
    write_siglip(tmp_path)
    state = load_file(tmp_path / "model.safetensors")
    del state["text_model.head.weight"]
    save_file(state, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match=r"lack 1 tensors, such as text_model.head.weight"):
        load_encoder(f"hf:{tmp_path}", CPU)


def test_a_torch_file_of_tensors_is_read_where_there_is_no_safetensors(tmp_path):
    write_siglip(tmp_path)
    before = load_encoder(f"hf:{tmp_path}", CPU).fingerprint
    torch.save(load_file(tmp_path / "model.safetensors"), tmp_path / "pytorch_model.bin")
    (tmp_path / "model.safetensors").unlink()
    assert load_encoder(f"hf:{tmp_path}", CPU).fingerprint == before


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_that_runs_code_is_refused_and_runs_nothing(tmp_path):
    write_siglip(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(tmp_path / "sprung"), protocol=2))
    with pytest.raises(CheckpointError, match="holds tensors only"):
        load_encoder(f"hf:{tmp_path}", CPU)
    assert not (tmp_path / "sprung").exists()


def test_a_truncated_file_is_refused(tmp_path):
    write_siglip(tmp_path)
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="cannot be used"):
        load_encoder(f"hf:{tmp_path}", CPU)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("config.json", "config.json"),
        ("model.safetensors", "model.safetensors"),
        ("preprocessor_config.json", "preprocessor_config.json"),
    ],
)
def test_a_missing_file_is_named(tmp_path, name, what):
    write_siglip(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ModelNotFoundError, match=f"cannot get {what} of hf:"):
        load_encoder(f"hf:{tmp_path}", CPU)


def test_offline_without_the_repository_says_what_to_fetch(tmp_path):
    options = LoadOptions(device="cpu", offline=True, cache_dir=tmp_path)
    with pytest.raises(ModelNotFoundError, match=r"hf:openai/clip-vit-base-patch16: .*offline.*hf download openai"):
        load_encoder("hf:openai/clip-vit-base-patch16", options)


def test_a_folder_that_is_not_there_is_named():
    with pytest.raises(ModelNotFoundError, match="no folder '/nowhere'"):
        load_encoder("hf:/nowhere", CPU)


def test_a_model_without_two_towers_is_refused_before_its_weights_are_read(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(UnsupportedEncoderError, match="is a 'bert' model"):
        load_encoder(f"hf:{tmp_path}", CPU)


def test_a_model_that_needs_its_own_code_is_refused(tmp_path):
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "unheard-of", "auto_map": {"AutoConfig": "code.Config"}})
    )
    (tmp_path / "code.py").write_text("raise SystemExit('ran')")
    with pytest.raises(UnsupportedEncoderError, match=r"cannot read config.json"):
        load_encoder(f"hf:{tmp_path}", CPU)
