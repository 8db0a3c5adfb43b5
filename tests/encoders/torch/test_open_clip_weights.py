import json
import pickle
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
open_clip = pytest.importorskip("open_clip")

from huggingface_hub import constants  # noqa: E402

from tests.encoders.hub_double import COMMIT, serve_hub  # noqa: E402
from tests.encoders.torch.tiny_torch import TEXT, VISION, build_open_clip, write_open_clip  # noqa: E402
from viewvote.encoders import LoadOptions, load_encoder  # noqa: E402
from viewvote.encoders.torch.open_clip_weights import find_source  # noqa: E402
from viewvote.errors import CheckpointError, ModelNotFoundError, UnknownNameError, UsageError  # noqa: E402

pytestmark = pytest.mark.torch
CPU = LoadOptions(device="cpu")
CONFIG = {"embed_dim": 16, "vision_cfg": VISION, "text_cfg": TEXT}
MEAN = (0.1, 0.2, 0.3)


@pytest.fixture
def tiny_arch(monkeypatch):
    """An architecture that open_clip knows, small and without QuickGELU, whose tag was trained with it."""
    card = {"hf_hub": "someone/tiny/", "quick_gelu": True, "mean": MEAN, "resize_mode": "squash"}
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "viewvote-tiny", CONFIG)
    monkeypatch.setitem(open_clip.pretrained._PRETRAINED, "viewvote-tiny", {"openai": card})
    return "viewvote-tiny"


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return write_open_clip(tmp_path_factory.mktemp("weights")) / "open_clip_model.safetensors"


def in_cache(cache: Path, repo: str, file: Path) -> Path:
    """The hub's cache folder with one downloaded file in it."""
    home = cache / f"models--{repo.replace('/', '--')}"
    (home / "snapshots" / COMMIT).mkdir(parents=True)
    (home / "snapshots" / COMMIT / file.name).write_bytes(file.read_bytes())
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(COMMIT)
    return cache


def test_a_tag_trained_with_quickgelu_runs_with_it(tiny_arch, weights, tmp_path):
    options = LoadOptions(device="cpu", offline=True, cache_dir=in_cache(tmp_path, "someone/tiny", weights))
    encoder = load_encoder("open_clip:viewvote-tiny/openai", options)
    tokens = open_clip.get_tokenizer("viewvote-tiny")(["a cat", "a dog"])
    with torch.no_grad():
        quick, plain = (
            build_open_clip(CONFIG | {"quick_gelu": q}).eval().encode_text(tokens, normalize=True)
            for q in (True, False)
        )
    np.testing.assert_allclose(encoder.encode_texts(["a cat", "a dog"]), quick.numpy(), atol=2e-6)
    assert (quick - plain).abs().max() > 1e-3  # the two activations do differ here


def test_the_preprocessing_of_the_tag_wins_over_the_default(tiny_arch, weights, tmp_path):
    options = LoadOptions(device="cpu", offline=True, cache_dir=in_cache(tmp_path, "someone/tiny", weights))
    spec = load_encoder("open_clip:viewvote-tiny/openai", options).image_spec
    assert (spec.mean, spec.resize, spec.size) == (MEAN, "squash", 32)


@pytest.mark.parametrize(
    ("rest", "quick_gelu", "resize"),
    [
        ("ViT-B-16/openai", True, "shortest"),
        ("ViT-B-16-quickgelu/openai", True, "shortest"),
        ("ViT-L-14/laion2b_s32b_b82k", False, "shortest"),
        ("ViT-B-16-SigLIP/webli", False, "squash"),
    ],
)
def test_published_tags_resolve_to_their_file_and_settings(rest, quick_gelu, resize, weights, tmp_path):
    repo = open_clip.get_pretrained_cfg(*rest.split("/"))["hf_hub"].rstrip("/")
    source = find_source(rest, LoadOptions(offline=True, cache_dir=in_cache(tmp_path, repo, weights)))
    assert (source.quick_gelu, dict(source.preprocess)["resize_mode"]) == (quick_gelu, resize)
    assert Path(source.weights).name == "open_clip_model.safetensors"


@pytest.mark.parametrize("forced", [True, False])
def test_offline_without_the_file_says_what_to_fetch(forced, monkeypatch, tmp_path):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", not forced)  # either the option or the environment
    with pytest.raises(ModelNotFoundError) as caught:
        find_source("ViT-B-16/openai", LoadOptions(offline=forced, cache_dir=tmp_path))
    assert "hf download timm/vit_base_patch16_clip_224.openai open_clip_model.safetensors" in str(caught.value)
    assert "offline" in str(caught.value)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub on the loopback interface, and a function that puts the files of someone/tiny there."""
    with serve_hub(tmp_path / "hub") as double:
        monkeypatch.setenv("HF_ENDPOINT", double.url)

        def put(files):
            folder = double.root / "someone" / "tiny"
            folder.mkdir(parents=True)
            for name, content in files.items():
                (folder / name).write_bytes(content)
            return double

        yield put


def test_weights_are_downloaded_once_and_then_come_from_the_cache(tiny_arch, weights, hub, tmp_path):
    double = hub({"open_clip_model.safetensors": weights.read_bytes()})
    first = find_source("viewvote-tiny/openai", LoadOptions(cache_dir=tmp_path / "cache"))
    asked = len(double.requests)
    again = find_source("viewvote-tiny/openai", LoadOptions(cache_dir=tmp_path / "cache", offline=True))
    assert Path(first.weights).read_bytes() == weights.read_bytes()
    assert again == first
    assert double.gets("open_clip_model.safetensors") == [None]
    assert len(double.requests) == asked


def test_a_repository_without_safetensors_gives_its_torch_file(tiny_arch, weights, hub, tmp_path):
    hub({"open_clip_pytorch_model.bin": b"tensors"})
    source = find_source("viewvote-tiny/openai", LoadOptions(cache_dir=tmp_path))
    assert Path(source.weights).name == "open_clip_pytorch_model.bin"


def test_a_repository_without_weights_is_an_error_that_names_it(tiny_arch, hub, tmp_path):
    hub({})
    with pytest.raises(
        ModelNotFoundError,
        match=r"of someone/tiny: the repository has no such file\. .*hf download",
    ):
        find_source("viewvote-tiny/openai", LoadOptions(cache_dir=tmp_path))


def test_a_whole_repository_is_read_from_the_hub(weights, hub, tmp_path):
    config = json.dumps({"model_cfg": CONFIG, "preprocess_cfg": {"mean": MEAN}}).encode()
    double = hub({"open_clip_config.json": config, "open_clip_model.safetensors": weights.read_bytes()})
    encoder = load_encoder("open_clip:hf-hub:someone/tiny", LoadOptions(device="cpu", cache_dir=tmp_path / "cache"))
    assert [path for _, path, _ in double.requests if path.endswith(".safetensors") and "/main/" in path] == []
    assert encoder.image_spec.mean == MEAN
    assert encoder.fingerprint == load_encoder(f"open_clip:local-dir:{weights.parent}", CPU).fingerprint


def test_a_weights_file_is_loaded_into_an_architecture(tiny_arch, weights):
    encoder = load_encoder(f"open_clip:viewvote-tiny/{weights}", CPU)
    assert encoder.fingerprint == load_encoder(f"open_clip:local-dir:{weights.parent}", CPU).fingerprint


def test_a_torch_file_of_tensors_is_loaded(tiny_arch, weights, tmp_path):
    torch.save(build_open_clip(CONFIG).state_dict(), tmp_path / "weights.pt")
    ours, expected = (
        load_encoder(f"open_clip:viewvote-tiny/{file}", CPU) for file in (tmp_path / "weights.pt", weights)
    )
    assert ours.fingerprint == expected.fingerprint


def test_no_weights_is_an_error_that_lists_the_tags():
    with pytest.raises(UsageError, match=r"names no weights.*Expected open_clip:ViT-B-16/TAG .*: openai, laion"):
        find_source("ViT-B-16", CPU)


def test_an_unknown_architecture_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match=r"no open_clip architecture 'ViT-B-17'. Did you mean 'ViT-B-16'\?"):
        find_source("ViT-B-17/openai", CPU)


def test_an_unknown_tag_suggests_the_nearest():
    with pytest.raises(
        UnknownNameError, match=r"open_clip:ViT-B-16 has no weights tag 'opnai'\. Did you mean 'openai'\?"
    ):
        find_source("ViT-B-16/opnai", CPU)


def test_a_missing_weights_file_is_named():
    with pytest.raises(ModelNotFoundError, match=r"no weights file '/nowhere/w.safetensors'"):
        find_source("ViT-B-16//nowhere/w.safetensors", CPU)


def test_a_folder_without_configuration_is_refused(tmp_path):
    with pytest.raises(ModelNotFoundError, match=r"no open_clip_config.json in"):
        find_source(f"local-dir:{tmp_path}", CPU)


def test_a_folder_without_weights_never_gives_a_random_model(tmp_path):
    folder = write_open_clip(tmp_path)
    (folder / "open_clip_model.safetensors").unlink()
    with pytest.raises(ModelNotFoundError, match=r"no weights in .* expected open_clip_model.safetensors"):
        load_encoder(f"open_clip:local-dir:{folder}", CPU)


def test_weights_of_another_shape_are_refused(tiny_arch, tmp_path):
    torch.save(build_open_clip(CONFIG | {"embed_dim": 8}).state_dict(), tmp_path / "weights.pt")
    with pytest.raises(CheckpointError, match=r"(?s)do not fit.*size mismatch"):
        load_encoder(f"open_clip:viewvote-tiny/{tmp_path / 'weights.pt'}", CPU)


def test_a_truncated_file_is_refused(tiny_arch, weights, tmp_path):
    (tmp_path / "w.safetensors").write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match="do not fit"):
        load_encoder(f"open_clip:viewvote-tiny/{tmp_path / 'w.safetensors'}", CPU)


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_that_runs_code_is_refused_and_runs_nothing(tiny_arch, tmp_path):
    (tmp_path / "weights.pt").write_bytes(pickle.dumps(Trap(tmp_path / "sprung"), protocol=2))
    with pytest.raises(CheckpointError, match="holds tensors only"):
        load_encoder(f"open_clip:viewvote-tiny/{tmp_path / 'weights.pt'}", CPU)
    assert not (tmp_path / "sprung").exists()


def test_a_tokenizer_that_cannot_be_had_offline_is_named(tmp_path):
    folder = write_open_clip(tmp_path, text_cfg=TEXT | {"hf_tokenizer_name": "someone/words"})
    with pytest.raises(ModelNotFoundError, match=r"cannot get the tokenizer .*hf download someone/words"):
        load_encoder(f"open_clip:local-dir:{folder}", LoadOptions(device="cpu", offline=True, cache_dir=tmp_path))


def test_the_configuration_of_a_text_tower_that_cannot_be_had_offline_is_named(tmp_path):
    folder = write_open_clip(tmp_path)
    config = json.loads((folder / "open_clip_config.json").read_text())
    config["model_cfg"]["text_cfg"]["hf_model_name"] = "roberta-base"
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    with pytest.raises(ModelNotFoundError, match=r"hf download roberta-base config\.json"):
        load_encoder(f"open_clip:local-dir:{folder}", LoadOptions(device="cpu", offline=True))
