"""Files of torch.save, read without unpickling: every number right, every lie refused."""

import struct
import zipfile
from collections import OrderedDict
from contextlib import suppress

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.encoders.checkpoints.dassl_files import Name, PickledCall, Pid, hand_pickle, hand_tensor, save_zip
from viewvote.encoders.checkpoints import torch_file
from viewvote.encoders.checkpoints.torch_file import LEGACY_MAGIC, LEGACY_PROTOCOL, TensorRef, open_torch_file

pytestmark = pytest.mark.torch


def read_all(path):
    file = open_torch_file(path)
    root = file.root if isinstance(file.root, dict) else {}
    return {key: file.read(ref) for key, ref in root.items() if isinstance(ref, TensorRef)}


@pytest.mark.parametrize("zip_format", [True, False])
@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.bool]
)
def test_every_number_is_torchs(tmp_path, dtype, zip_format):
    values = torch.tensor([[0.0, 1.0, -2.5], [3e-5, 100.125, -0.1]]).to(dtype)
    torch.save(OrderedDict(a=values), tmp_path / "f", _use_new_zipfile_serialization=zip_format)
    got = read_all(tmp_path / "f")["a"]
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, values.float().numpy())


@pytest.mark.parametrize("zip_format", [True, False])
def test_views_of_one_storage_keep_their_offset_and_stride(tmp_path, zip_format):
    base = torch.arange(24.0).reshape(4, 6)
    tensors = {
        "rows": base[1:3],
        "columns": base[:, ::2],
        "turned": base.T,
        "scalar": base[2, 3],
        "none": base[:0],
        "parameter": torch.nn.Parameter(base[3]),
    }
    torch.save(tensors, tmp_path / "f", _use_new_zipfile_serialization=zip_format)
    got = read_all(tmp_path / "f")
    assert set(got) == set(tensors)
    for key, tensor in tensors.items():
        np.testing.assert_array_equal(got[key], tensor.detach().numpy())
        assert got[key].shape == tuple(tensor.shape)


def test_the_layout_of_torch_1_7_is_read(tmp_path):
    data = struct.pack("<4e", 1.0, -0.5, 2.0, 0.25)
    ctx = hand_tensor("94034", 4, shape=(2, 2), stride=(2, 1), kind="HalfStorage")
    save_zip(tmp_path / "f", {"ctx": ctx}, {"94034": data})
    np.testing.assert_array_equal(read_all(tmp_path / "f")["ctx"], [[1.0, -0.5], [2.0, 0.25]])


def test_only_the_tensor_asked_for_is_read(tmp_path):
    broken = hand_tensor("9", 10**15, shape=(10**15,))
    save_zip(tmp_path / "f", {"broken": broken, "fine": hand_tensor("0", 2)}, {"0": struct.pack("<2f", 1, 2)})
    file = open_torch_file(tmp_path / "f")
    np.testing.assert_array_equal(file.read(file.root["fine"]), [1, 2])


@pytest.mark.parametrize(
    "lie",
    [
        {"offset": 1},
        {"offset": -1},
        {"shape": (3,)},
        {"shape": (-2,)},
        {"stride": (2,)},
        {"stride": (-1,), "offset": 1},
        {"shape": (2, 2)},
        {"shape": (2**40,), "stride": (0,)},
        {"shape": (2, 2), "stride": (0, 0)},
        {"shape": (2**62, 2**62, 2**62), "stride": (0, 0, 0)},
        {"shape": (0, 2**62), "stride": (1, 1)},
        {"numel": 3},
        {"numel": 2**60},
        {"numel": 1},
        {"numel": 0, "shape": ()},
        {"kind": "HalfStorage"},
        {"key": "../data.pkl"},
        {"key": "5"},
    ],
    ids=str,
)
def test_a_tensor_that_does_not_fit_its_storage_is_refused(tmp_path, lie):
    arguments = {"key": "0", "numel": 2} | lie
    save_zip(tmp_path / "f", {"a": hand_tensor(**arguments)}, {"0": struct.pack("<2f", 1, 2)})
    file = open_torch_file(tmp_path / "f")
    with pytest.raises(ValueError, match=r"does not fit|should hold|is missing"):
        file.read(file.root["a"])


@pytest.mark.parametrize(
    "lie", [{"offset": "0"}, {"shape": [2]}, {"shape": (2.0,)}, {"stride": (True,)}, {"numel": -1}]
)
def test_what_is_not_a_tensor_stays_opaque(tmp_path, lie):
    arguments = {"key": "0", "numel": 2} | lie
    save_zip(tmp_path / "f", {"a": hand_tensor(**arguments)}, {"0": struct.pack("<2f", 1, 2)})
    assert read_all(tmp_path / "f") == {}


@pytest.mark.parametrize(
    "value",
    [
        PickledCall(Name("torch.storage", "_load_from_bytes"), b"..."),
        PickledCall(Name("torch", "load"), "/etc/passwd"),
        PickledCall(Name("torch._utils", "_rebuild_wrapper_subclass"), 1),
        PickledCall(Name("torch._utils", "_rebuild_tensor_v2"), 1, 2, 3, 4),
        PickledCall(Name("torch._utils", "_rebuild_parameter"), "x"),
        PickledCall(Name("collections", "OrderedDict"), [["a", 1]]),
        Pid("module", Name("torch", "FloatStorage"), "0", "cpu", 2),
        Pid("storage", Name("os", "FloatStorage"), "0", "cpu", 2),
        Pid("storage", Name("torch", "FooStorage"), "0", "cpu", 2),
        Pid("storage", Name("torch", "FloatStorage"), "0", "cpu", 2, ("view", 0, 2)),
        Pid("0"),
    ],
)
def test_other_things_of_torch_are_not_built_either(tmp_path, value):
    save_zip(tmp_path / "f", {"a": value, "b": hand_tensor("0", 2)}, {"0": struct.pack("<2f", 1, 2)})
    assert set(read_all(tmp_path / "f")) == {"b"}


def test_a_compressed_entry_is_refused(tmp_path):
    storage = {"0": bytes(8)}
    save_zip(tmp_path / "f", {"a": hand_tensor("0", 2)}, storage, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="compressed"):
        open_torch_file(tmp_path / "f")


def test_a_pickle_too_large_to_be_one_is_refused(tmp_path, monkeypatch):
    save_zip(tmp_path / "f", {"a": "x" * 1000}, {})
    monkeypatch.setattr(torch_file, "MAX_PICKLE_BYTES", 1000)
    with pytest.raises(ValueError, match="larger than 1000 bytes"):
        open_torch_file(tmp_path / "f")


def test_a_zip_of_something_else_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "f", "w") as archive:
        archive.writestr("holiday.jpg", "x")
    with pytest.raises(ValueError, match="has 0"):
        open_torch_file(tmp_path / "f")


def test_a_big_endian_file_is_refused(tmp_path):
    save_zip(tmp_path / "f", {}, {})
    with zipfile.ZipFile(tmp_path / "f", "a") as archive:
        archive.writestr("archive/byteorder", "big")
    with pytest.raises(ValueError, match="big-endian"):
        open_torch_file(tmp_path / "f")


PAYLOAD = struct.pack("<2f", 1, 2)


def legacy_file(*, keys=("0",), system=None, magic=LEGACY_MAGIC, lengths=(2,), payload=PAYLOAD):
    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {}} if system is None else system
    root = {"a": hand_tensor("0", 2)}
    head = b"".join(hand_pickle(part) for part in (magic, LEGACY_PROTOCOL, system, root, list(keys)))
    return head + b"".join(struct.pack("<q", n) + payload for n in lengths)


def test_a_legacy_file_by_hand_is_read(tmp_path):
    (tmp_path / "f").write_bytes(legacy_file())
    np.testing.assert_array_equal(read_all(tmp_path / "f")["a"], [1, 2])


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ({"magic": 7}, "does not begin"),
        ({"system": {"little_endian": False}}, "little-endian"),
        ({"keys": ("1",)}, "does not match"),
        ({"keys": ()}, "is missing"),
        ({"lengths": (3,)}, "has 3 elements instead of 2"),
        ({"lengths": (2**60,)}, "instead of 2"),
        ({"lengths": ()}, "cut off"),
        ({"payload": b"\0" * 7}, "cut off"),
    ],
)
def test_a_damaged_legacy_file_is_refused(tmp_path, damage, complaint):
    (tmp_path / "f").write_bytes(legacy_file(**damage))
    with pytest.raises(ValueError, match=complaint):
        read_all(tmp_path / "f")


@pytest.mark.parametrize("data", [b"", b"x", b"PK\x03\x04", b"PK\x03\x04" + b"x" * 100, b"\x80\x02N."])
def test_what_is_no_torch_file_is_refused(tmp_path, data):
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(ValueError, match=r"."):
        open_torch_file(tmp_path / "f")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    zip_format=st.booleans(),
    changes=st.dictionaries(st.floats(0, 1, exclude_max=True), st.integers(0, 255), min_size=1),
)
def test_a_damaged_file_is_read_or_refused(tmp_path, zip_format, changes):
    torch.save({"a": torch.ones(3)}, tmp_path / "f", _use_new_zipfile_serialization=zip_format)
    data = bytearray((tmp_path / "f").read_bytes())
    for place, byte in changes.items():
        data[int(place * len(data))] = byte
    (tmp_path / "g").write_bytes(data)
    with suppress(ValueError, OSError):  # a place before the beginning of the file is an OSError
        read_all(tmp_path / "g")


@pytest.mark.parametrize("zip_format", [True, False])
def test_a_file_cut_anywhere_is_read_or_refused(tmp_path, zip_format):
    torch.save({"a": torch.ones(3)}, tmp_path / "f", _use_new_zipfile_serialization=zip_format)
    data = (tmp_path / "f").read_bytes()
    for length in range(0, len(data), 7):
        (tmp_path / "g").write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"."):
            read_all(tmp_path / "g")
