"""The files of a transformers model: what is read, what is missing, damaged or dangerous."""

import json
import pickle
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

from tests.encoders.hub_double import serve_hub  # noqa: E402
from tests.encoders.torch.tiny_torch import write_hf_clip, write_siglip  # noqa: E402
from viewvote.encoders import LoadOptions, load_encoder  # noqa: E402
from viewvote.errors import CheckpointError, ModelNotFoundError, UnsupportedEncoderError, UsageError  # noqa: E402

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
    with pytest.raises(ModelNotFoundError, match=r"of openai/clip-vit-base-patch16: .*offline.*hf download openai"):
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


@pytest.fixture
def hub(tmp_path, monkeypatch):
    with serve_hub(tmp_path / "hub") as double:
        monkeypatch.setenv("HF_ENDPOINT", double.url)
        (double.root / "owner" / "repo").mkdir(parents=True)
        yield double


@pytest.mark.parametrize("write", [write_siglip, write_hf_clip])
def test_a_repository_of_the_hub_is_downloaded_once_and_then_read_offline(hub, tmp_path, write):
    folder = hub.root / "owner" / "repo"
    write(folder)
    cache = tmp_path / "cache"
    encoder = load_encoder("hf:owner/repo", LoadOptions(device="cpu", cache_dir=cache))
    assert encoder.fingerprint == load_encoder(f"hf:{folder}", CPU).fingerprint
    assert hub.gets("model.safetensors") == [None]
    hub.requests.clear()
    again = load_encoder("hf:owner/repo", LoadOptions(device="cpu", cache_dir=cache, offline=True))
    assert again.encode_texts(["a cat"]).tobytes() == encoder.encode_texts(["a cat"]).tobytes()
    assert hub.requests == []


def test_weights_in_several_files_are_all_fetched(hub, tmp_path):
    folder = hub.root / "owner" / "repo"
    write_siglip(folder)
    whole = load_encoder(f"hf:{folder}", CPU).fingerprint
    state = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(state)
    parts = {"model-1.safetensors": names[::2], "model-2.safetensors": names[1::2]}
    for file, members in parts.items():
        save_file({name: state[name] for name in members}, folder / file, metadata={"format": "pt"})
    weight_map = {name: file for file, members in parts.items() for name in members}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    encoder = load_encoder("hf:owner/repo", LoadOptions(device="cpu", cache_dir=tmp_path / "cache"))
    assert encoder.fingerprint == whole
    assert [len(hub.gets(file)) for file in parts] == [1, 1]


def test_an_index_that_lists_files_of_other_folders_is_refused(hub, tmp_path):
    folder = hub.root / "owner" / "repo"
    write_siglip(folder)
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "../../secret"}}))
    with pytest.raises(CheckpointError, match=r"lists '\.\./\.\./secret' as a file of weights"):
        load_encoder("hf:owner/repo", LoadOptions(device="cpu", cache_dir=tmp_path / "cache"))


def test_a_repository_without_weights_names_what_was_looked_for(hub, tmp_path):
    folder = hub.root / "owner" / "repo"
    write_siglip(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelNotFoundError, match=r"cannot get model\.safetensors or .* of owner/repo: the "):
        load_encoder("hf:owner/repo", LoadOptions(device="cpu", cache_dir=tmp_path / "cache"))


def test_the_weights_of_a_model_without_two_towers_are_not_downloaded(hub, tmp_path):
    folder = hub.root / "owner" / "repo"
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    (folder / "model.safetensors").write_bytes(b"large")
    with pytest.raises(UnsupportedEncoderError, match="hf:owner/repo is a 'bert' model"):
        load_encoder("hf:owner/repo", LoadOptions(device="cpu", cache_dir=tmp_path / "cache"))
    assert hub.gets("model.safetensors") == []


def test_a_name_that_is_neither_folder_nor_repository_is_refused():
    with pytest.raises(UsageError, match="'clip' is not a hub repository; expected owner/name"):
        load_encoder("hf:clip", CPU)
