"""Which runtime runs, on how many workers, and what is not loaded until then."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.encoders.onnx import packs
from viewvote.encoders.onnx import runtimes
from viewvote.encoders.onnx.runtimes import count_workers, open_session, pick_runtime, spread
from viewvote.errors import CheckpointError, MissingExtraError, ModelNotFoundError, UsageError
from viewvote.views.threads import Pool


def test_auto_is_onnx_runtime_and_names_are_taken_as_they_are() -> None:
    assert (pick_runtime("auto"), pick_runtime("onnxruntime")) == ("onnxruntime", "onnxruntime")
    with pytest.raises(UsageError, match="no runtime 'tensorrt'; expected auto, onnxruntime or openvino"):
        pick_runtime("tensorrt")


def test_openvino_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtimes, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'pip install "viewvote\[openvino\]"'):
        pick_runtime("openvino")


def test_threads_are_workers_and_zero_is_one_per_core() -> None:
    assert count_workers(3) == 3
    assert count_workers(0) >= 1
    with pytest.raises(UsageError, match=r"0 \(one per core\) or more, got -1"):
        count_workers(-1)


def test_work_comes_back_in_order_whatever_finishes_first() -> None:
    pool = Pool(4, "test")
    assert spread(lambda i: i * i, 50, pool=pool) == [i * i for i in range(50)]
    assert spread(lambda i: i, 0, pool=pool) == []


def test_the_error_of_one_item_is_raised_and_the_pool_goes_on() -> None:
    pool = Pool(2, "test")
    with pytest.raises(ZeroDivisionError):
        spread(lambda i: 1 // (3 - i), 10, pool=pool)
    assert spread(abs, 4, pool=pool) == [0, 1, 2, 3]
    pool.close()


def test_ports_tell_names_shapes_and_types(tmp_path: Path) -> None:
    packs.save_text(tmp_path / "text.onnx")
    session = open_session(tmp_path / "text.onnx")
    assert {name: (port.shape, port.dtype) for name, port in session.inputs.items()} == {
        "input_ids": ((None, None), np.dtype("int64")),
        "attention_mask": ((None, None), np.dtype("int64")),
    }
    assert session.outputs["text_embeds"].shape == (None, packs.DIM)


def test_openvino_tells_the_same_about_a_graph(tmp_path: Path) -> None:
    pytest.importorskip("openvino")
    packs.save_vision(tmp_path / "v.onnx")
    ours, theirs = (open_session(tmp_path / "v.onnx", runtime=r, workers=2) for r in ("onnxruntime", "openvino"))
    assert (dict(ours.inputs), dict(ours.outputs)) == (dict(theirs.inputs), dict(theirs.outputs))


@pytest.mark.parametrize("runtime", ["onnxruntime", "openvino"])
def test_feeding_a_graph_what_it_cannot_take_is_a_checkpoint_error(tmp_path: Path, runtime: str) -> None:
    pytest.importorskip(runtime)
    packs.save_vision(tmp_path / "v.onnx")
    session = open_session(tmp_path / "v.onnx", runtime=runtime)
    with pytest.raises(CheckpointError, match=r"v\.onnx failed to run"):
        session.run({"pixel_values": np.zeros((1, 3, 5, 5), np.float32)}, output="image_embeds")


def test_a_missing_graph_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"no graph at .*none\.onnx"):
        open_session(tmp_path / "none.onnx")


def test_packs_need_neither_torch_nor_openvino(tmp_path: Path) -> None:
    packs.write_pack(tmp_path / "p")
    script = (
        "import sys\n"
        "from viewvote.encoders import load_encoder\n"
        "import viewvote.encoders.onnx.encoder, viewvote.encoders.catalog\n"
        "assert 'onnxruntime' not in sys.modules and 'huggingface_hub' not in sys.modules\n"
        f"load_encoder('onnx:{tmp_path / 'p'}').encode_texts(['dog'])\n"
        "print(sorted({'torch', 'openvino', 'onnx', 'transformers', 'onnxruntime'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['onnxruntime']"


def test_onnx_runtime_leaves_no_trace_of_the_machine(tmp_path: Path) -> None:
    code = "from viewvote import Classifier; Classifier('pocket', labels=['cat', 'dog'], n_views=1)"
    places = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "VIEWVOTE_CACHE": str(tmp_path / "ours")}
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"} | places
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=120)
    assert [path.name for path in tmp_path.iterdir()] == ["ours"]
