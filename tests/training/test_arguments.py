"""Missing inputs of a training step are told before anything is computed."""

import argparse

import pytest

pytest.importorskip("onnxruntime")
from training.clip_b16.common import need


def test_missing_files_end_a_step_with_exit_code_2(tmp_path, capsys):
    (tmp_path / "texts.json").write_text("{}")
    parser = argparse.ArgumentParser()
    need(parser, tmp_path, "texts.json")
    with pytest.raises(SystemExit) as end:
        need(parser, tmp_path, "texts.json", "clip_1.npy", "clip_2.npy")
    assert end.value.code == 2
    assert f"{tmp_path} has no clip_1.npy, clip_2.npy; " in capsys.readouterr().err
