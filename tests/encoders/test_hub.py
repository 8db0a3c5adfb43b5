"""Downloads against a loopback hub: whole, resumed, missing, offline, unreachable."""

import os
import re
import socket
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants

from tests.encoders.hub_double import COMMIT, HubDouble, serve_hub
from tests.encoders.onnx import packs
from viewvote.encoders import LoadOptions, load_encoder
from viewvote.encoders import hub as hub_module
from viewvote.encoders.hub import HubRepo, is_repo_id
from viewvote.encoders.onnx.encoder import OnnxEncoder
from viewvote.errors import ModelNotFoundError, UsageError


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubDouble]:
    with serve_hub(tmp_path / "hub") as double:
        monkeypatch.setenv("HF_ENDPOINT", double.url)
        yield double


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def put(hub: HubDouble, name: str, content: bytes = b"weights") -> None:
    path = hub.root / "owner" / "repo" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_a_file_is_downloaded_once_and_found_again(hub: HubDouble, cache: Path) -> None:
    put(hub, "onnx/model.onnx", b"abc")
    path = HubRepo("owner/repo", cache_dir=cache).fetch("onnx/model.onnx")
    assert path.read_bytes() == b"abc"
    assert HubRepo("owner/repo", cache_dir=cache).fetch("onnx/model.onnx") == path
    assert hub.gets("model.onnx") == [None]


def test_the_first_file_pins_the_commit_of_the_others(hub: HubDouble, cache: Path) -> None:
    put(hub, "a")
    put(hub, "b")
    repo = HubRepo("owner/repo@main", cache_dir=cache)
    repo.fetch("a")
    repo.fetch("b")
    revisions = {
        name: path.split("/")[3] for _, path, _ in hub.requests for name in ("a", "b") if path.endswith(f"/{name}")
    }
    assert revisions == {"a": "main", "b": COMMIT}


def test_a_dropped_download_is_resumed_where_it_stopped(hub: HubDouble, cache: Path) -> None:
    content = np.random.default_rng(0).bytes(12 * 2**20)
    put(hub, "big.bin", content)
    hub.drop_after["big.bin"] = 11 * 2**20  # the client keeps whole blocks of 10 MB
    path = HubRepo("owner/repo", cache_dir=cache).fetch("big.bin")
    assert path.read_bytes() == content
    first, second = hub.gets("big.bin")
    assert first is None
    assert second is not None
    assert 0 < int(re.findall(r"\d+", second)[0]) <= 11 * 2**20


def test_a_missing_file_is_named_with_the_repository_and_how_to_get_it(hub: HubDouble, cache: Path) -> None:
    put(hub, "other")
    repo = HubRepo("owner/repo", cache_dir=cache)
    with pytest.raises(
        ModelNotFoundError, match=r"cannot get text\.onnx of owner/repo: the repository has no such file"
    ) as e:
        repo.fetch("text.onnx")
    assert "hf download owner/repo text.onnx" in str(e.value)
    assert "name the folder" in str(e.value)
    assert repo.find("text.onnx") is None


def test_the_first_of_several_files_that_is_there_is_taken(hub: HubDouble, cache: Path) -> None:
    put(hub, "second")
    put(hub, "third")
    repo = HubRepo("owner/repo", cache_dir=cache)
    assert repo.fetch("first", "second", "third").name == "second"
    assert hub.gets("third") == []
    with pytest.raises(ModelNotFoundError, match=r"cannot get a or b of owner/repo: .*file\. Look elsewhere\.$"):
        repo.fetch("a", "b", advice="Look elsewhere.")


def test_the_environment_keeps_it_offline_too(hub: HubDouble, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(hub, "file")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)  # huggingface_hub reads the environment when imported
    with pytest.raises(ModelNotFoundError, match="offline mode is on"):
        HubRepo("owner/repo", cache_dir=cache).fetch("file")
    assert hub.requests == []


def test_a_repository_or_revision_that_does_not_exist_is_told_apart(hub: HubDouble, cache: Path) -> None:
    put(hub, "file")
    with pytest.raises(ModelNotFoundError, match="there is no such repository"):
        HubRepo("owner/none", cache_dir=cache).fetch("file")
    with pytest.raises(ModelNotFoundError, match="has no revision 'v9'"):
        HubRepo("owner/repo@v9", cache_dir=cache).fetch("file")


def test_offline_finds_what_was_downloaded_and_asks_the_network_nothing(hub: HubDouble, cache: Path) -> None:
    put(hub, "file")
    path = HubRepo("owner/repo", cache_dir=cache).fetch("file")
    hub.requests.clear()
    offline = HubRepo("owner/repo", cache_dir=cache, offline=True)
    assert offline.fetch("file") == path
    with pytest.raises(
        ModelNotFoundError, match="cannot get other of owner/repo: it is not in the cache and offline mode"
    ):
        offline.fetch("other")
    assert hub.requests == []


def test_a_hub_out_of_reach_still_gives_what_is_cached(
    hub: HubDouble, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hub, "file")
    path = HubRepo("owner/repo", cache_dir=cache).fetch("file")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert HubRepo("owner/repo", cache_dir=cache).fetch("file") == path


def test_a_hub_out_of_reach_says_so(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # the discard port: nothing listens
    with pytest.raises(ModelNotFoundError, match="it is not in the cache and the hub cannot be reached"):
        HubRepo("owner/repo", cache_dir=cache).fetch("file")


@pytest.fixture
def silence(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A hub whose packets vanish: connections are taken and never answered."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        monkeypatch.setattr(hub_module, "PATIENCE", 0.3)
        yield server


def test_a_hub_that_says_nothing_is_waited_for_once_and_not_for_long(cache: Path, silence: socket.socket) -> None:
    for name in ("owner/repo", "owner/other"):
        with pytest.raises(ModelNotFoundError, match="the hub cannot be reached"):
            HubRepo(name, cache_dir=cache).fetch("file")
    silence.setblocking(False)
    silence.accept()[0].close()
    with pytest.raises(BlockingIOError):
        silence.accept()  # there was one connection


def test_an_answer_of_the_hub_is_not_remembered_for_ever(
    cache: Path, silence: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "REMEMBERED", -1)
    for _ in range(2):
        assert not hub_module.hub_answers("owner/repo")
    for _ in range(2):
        silence.accept()[0].close()


def test_who_waits_longer_says_so_to_the_client_of_the_hub(
    silence: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setenv("HF_HUB_ETAG_TIMEOUT", "7")
    monkeypatch.setattr(hub_module, "_asked", lambda address, patience: waited.append(patience))
    hub_module.hub_answers("owner/repo")
    assert waited == [7.0]


def test_libraries_stay_local_for_a_while_only() -> None:
    before = constants.HF_HUB_OFFLINE
    with hub_module.staying_local(when=True):
        assert constants.HF_HUB_OFFLINE
        with hub_module.staying_local(when=False):
            assert constants.HF_HUB_OFFLINE
    assert before == constants.HF_HUB_OFFLINE


FETCH = """
import sys
from pathlib import Path
from viewvote.encoders.hub import HubRepo
HubRepo("owner/repo", cache_dir=Path(sys.argv[1]), progress=sys.argv[2] == "bars").fetch("weights.bin")
"""


@pytest.mark.parametrize(
    ("terminal", "bars", "shown"), [(True, "bars", True), (True, "none", False), (False, "bars", False)]
)
def test_progress_is_shown_on_a_terminal_unless_switched_off(
    hub: HubDouble, cache: Path, terminal: bool, bars: str, shown: bool
) -> None:
    put(hub, "weights.bin", bytes(100_000))
    reader, writer = os.openpty() if terminal else os.pipe()
    if terminal:
        termios.tcsetwinsize(writer, (24, 100))
    done = subprocess.run(
        [sys.executable, "-c", FETCH, str(cache), bars], stderr=writer, stdout=subprocess.PIPE, check=True
    )
    os.write(writer, b"end")
    seen = b""
    while not seen.endswith(b"end"):
        seen += os.read(reader, 4096)
    assert (b"weights.bin" in seen, done.stdout) == (shown, b"")
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("owner/name", True),
        ("owner/name@v1.0", True),
        ("name", False),
        ("./folder", False),
        ("../folder", False),
        ("/abs/folder", False),
        ("a/b/c", False),
        ("owner/na me", False),
    ],
)
def test_a_repository_id_has_an_owner_and_a_name(text: str, expected: bool) -> None:
    assert is_repo_id(text) is expected


def test_a_name_that_is_no_repository_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="expected owner/name"):
        HubRepo("just-a-name")


# Packs from the hub


def test_a_pack_is_loaded_from_the_hub_and_then_offline(hub: HubDouble, cache: Path) -> None:
    packs.write_pack(hub.root / "owner" / "repo")
    options = LoadOptions(cache_dir=cache, runtime="onnxruntime")
    views = np.random.default_rng(0).integers(0, 256, (2, packs.SIZE, packs.SIZE, 3), dtype=np.uint8)
    encoder = load_encoder("onnx:owner/repo", options)
    assert encoder.model_id == "onnx:owner/repo"
    np.testing.assert_allclose(encoder.encode_images(views), packs.view_features(views), atol=1e-6)
    hub.requests.clear()
    again = load_encoder("onnx:owner/repo", LoadOptions(cache_dir=cache, runtime="onnxruntime", offline=True))
    assert again.encode_texts(["dog"]).tobytes() == encoder.encode_texts(["dog"]).tobytes()
    assert again.fingerprint == encoder.fingerprint
    assert hub.requests == []


@pytest.mark.parametrize(("precision", "file", "not_needed"), [("auto", "vision.int8.onnx", "vision.onnx")])
def test_only_the_tower_that_is_used_is_downloaded(
    hub: HubDouble, cache: Path, precision: str, file: str, not_needed: str
) -> None:
    folder = packs.write_pack(hub.root / "owner" / "repo")
    packs.save_vision(folder / "vision.int8.onnx")
    encoder = load_encoder("onnx:owner/repo", LoadOptions(cache_dir=cache, runtime="onnxruntime"))
    assert isinstance(encoder, OnnxEncoder)
    assert encoder.files.vision.name == file
    assert hub.gets(f"/{file}") == [None]
    assert hub.gets(f"/{not_needed}") == []


def test_a_pack_on_the_hub_without_its_text_tower_names_the_file(hub: HubDouble, cache: Path) -> None:
    (packs.write_pack(hub.root / "owner" / "repo") / "text.onnx").unlink()
    with pytest.raises(ModelNotFoundError, match=r"cannot get text\.onnx of owner/repo"):
        load_encoder("onnx:owner/repo", LoadOptions(cache_dir=cache))


def test_offline_without_anything_cached_names_the_repository(cache: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="of owner/repo: it is not in the cache and offline mode is on"):
        load_encoder("onnx:owner/repo", LoadOptions(cache_dir=cache, offline=True))


def test_a_repository_in_the_common_layout_is_read_directly(hub: HubDouble, cache: Path) -> None:
    packs.write_layout(
        hub.root / "owner" / "repo",
        config={"model_type": "clip", "text_config": {"max_position_embeddings": 6}},
        preprocessor={"size": packs.SIZE, "crop_size": packs.SIZE, "image_mean": packs.MEAN, "image_std": packs.STD},
    )
    encoder = load_encoder("onnx:owner/repo", LoadOptions(cache_dir=cache, runtime="onnxruntime"))
    views = np.random.default_rng(0).integers(0, 256, (2, packs.SIZE, packs.SIZE, 3), dtype=np.uint8)
    np.testing.assert_allclose(encoder.encode_images(views), packs.view_features(views), atol=1e-6)
    np.testing.assert_allclose(encoder.encode_texts(["cat"])[0], packs.text_features([1, 8, 2]), atol=1e-6)
