"""The contents of a file that torch.save wrote, both of its formats, without unpickling: names, shapes, arrays."""

import io
import math
import mmap
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...arrays import Float32
from .safe_pickle import OPAQUE, Global, read_pickle

MAX_PICKLE_BYTES = 32 << 20  # tensors live outside the pickle, which stays under 1 MB in practice
LEGACY_MAGIC: Final = 0x1950A86A20F9469CFC6C
LEGACY_PROTOCOL: Final = 1001
_BFLOAT16: Final = "bfloat16"
_ITEM_BYTES: Final = {"f2": 2, "f4": 4, "f8": 8, _BFLOAT16: 2, "i1": 1, "u1": 1, "b1": 1, "i2": 2, "i4": 4, "i8": 8}
_STORAGES: Final = {
    "HalfStorage": "f2",
    "FloatStorage": "f4",
    "DoubleStorage": "f8",
    "BFloat16Storage": _BFLOAT16,
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "b1",
    "ShortStorage": "i2",
    "IntStorage": "i4",
    "LongStorage": "i8",
}


@dataclass(frozen=True)
class Storage:
    """A run of numbers somewhere in the file."""

    key: str
    dtype: str
    numel: int

    @property
    def nbytes(self) -> int:
        """How many bytes it takes."""
        return self.numel * _ITEM_BYTES[self.dtype]


@dataclass(frozen=True)
class TensorRef:
    """A tensor not read yet: what the pickle states of it, which may be wrong until `read` has checked it."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def is_floating(self) -> bool:
        """Whether it holds real numbers."""
        return self.storage.dtype in ("f2", "f4", "f8", _BFLOAT16)

    def read(self, storage_bytes: bytes) -> Float32:
        """Its numbers as float32 out of the bytes of its storage; out of range: ValueError."""
        if len(storage_bytes) != self.storage.nbytes:
            raise ValueError(
                f"storage {self.storage.key} should hold {self.storage.nbytes} bytes, the file has {len(storage_bytes)}"
            )
        self._check_range()
        flat = _as_float32(storage_bytes, self.storage.dtype)
        if not math.prod(self.shape):
            return np.zeros(self.shape, dtype=np.float32)
        strides = tuple(4 * step for step in self.stride)
        view = np.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, strides, writeable=False)
        return np.array(view)

    def _check_range(self) -> None:
        plain = all(n >= 0 for n in (self.offset, *self.shape, *self.stride)) and len(self.shape) == len(self.stride)
        last = self.offset + sum((n - 1) * step for n, step in zip(self.shape, self.stride, strict=False))
        # More elements than the storage has would be an expanded tensor: no checkpoint needs one, and it costs memory.
        if not plain or last >= max(self.storage.numel, 1) or math.prod(self.shape) > self.storage.numel:
            raise ValueError(
                f"a tensor of shape {self.shape}, stride {self.stride} and offset {self.offset} "
                f"does not fit in its storage of {self.storage.numel} elements"
            )


@dataclass(frozen=True)
class TorchFile:
    """The pickled value with `TensorRef`s for tensors and OPAQUE for foreign objects, and a way to read a tensor."""

    root: object
    read: Callable[[TensorRef], Float32]


def open_torch_file(path: Path) -> TorchFile:
    """The contents of `path`; what is not a torch file, or is damaged, raises ValueError or OSError."""
    with path.open("rb") as file:
        is_zip = file.read(4) == b"PK\x03\x04"
    return _open_zip(path) if is_zip else _open_legacy(path)


def _open_zip(path: Path) -> TorchFile:
    """The contents of the zip format (torch 1.6 and later): data.pkl, and one stored entry per storage."""
    with _zip(path) as archive:
        names = [name for name in archive.namelist() if name.count("/") == 1 and name.endswith("/data.pkl")]
        if len(names) != 1:
            raise ValueError(f"a torch zip file has one */data.pkl, this one has {len(names)}")
        folder = names[0].removesuffix("data.pkl")
        if archive.getinfo(names[0]).file_size > MAX_PICKLE_BYTES:
            raise ValueError(f"its pickle is larger than {MAX_PICKLE_BYTES} bytes")
        if folder + "byteorder" in archive.namelist() and _entry(archive, folder + "byteorder") != b"little":
            raise ValueError("it was written on a big-endian machine")
        data = io.BytesIO(_entry(archive, names[0]))
    root = read_pickle(data, call=_call, persistent_load=_persistent_load({}))

    def read(tensor: TensorRef) -> Float32:
        with _zip(path) as archive:
            return tensor.read(_entry(archive, f"{folder}data/{tensor.storage.key}"))

    return TorchFile(root, read)


@contextmanager
def _zip(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise ValueError(f"its zip structure is damaged ({error})") from error


def _entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of one entry; torch stores them uncompressed, so a compressed one is refused (it may be a bomb)."""
    if name not in archive.namelist():
        raise ValueError(f"its entry {name} is missing")
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 1:
        raise ValueError(f"its entry {name} is compressed or encrypted, which torch never writes")
    return archive.read(info)


def _open_legacy(path: Path) -> TorchFile:
    """The contents of the format before torch 1.6: five pickles, then every storage behind its length."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        storages: dict[str, Storage] = {}

        def value() -> object:
            return read_pickle(data, call=_call, persistent_load=_persistent_load(storages))

        if value() != LEGACY_MAGIC or value() != LEGACY_PROTOCOL:
            raise ValueError("it does not begin like a file of torch.save")
        system = value()
        if not isinstance(system, dict) or system.get("little_endian") is not True:
            raise ValueError("it was not written on a little-endian machine")
        root, keys = value(), value()
        places = _legacy_places(data, storages=storages, keys=keys)

    def read(tensor: TensorRef) -> Float32:
        if tensor.storage.key not in places:
            raise ValueError(f"its storage {tensor.storage.key} is missing")
        with path.open("rb") as file:
            file.seek(places[tensor.storage.key])
            return tensor.read(file.read(tensor.storage.nbytes))

    return TorchFile(root, read)


def _legacy_places(data: mmap.mmap, *, storages: Mapping[str, Storage], keys: object) -> dict[str, int]:
    """Where the bytes of each storage begin, every length checked against the pickle and the end of the file."""
    if not isinstance(keys, list) or not all(isinstance(key, str) and key in storages for key in keys):
        raise ValueError("its list of storages does not match its tensors")
    places: dict[str, int] = {}
    for key in keys:
        head = data.read(8)
        numel = struct.unpack("<q", head)[0] if len(head) == 8 else -1
        places[key] = data.tell()
        end = places[key] + storages[key].nbytes
        if numel != storages[key].numel or end > len(data):
            raise ValueError(f"its storage {key} is cut off or has {numel} elements instead of {storages[key].numel}")
        data.seek(end)
    return places


def _call(function: Global, args: tuple[Any, ...]) -> object:
    """What a checkpoint may build: tensors (as references) and ordered dicts; anything else stays opaque."""
    match function.module, function.name, args:
        case (
            "torch._utils",
            "_rebuild_tensor" | "_rebuild_tensor_v2",
            (Storage() as storage, offset, shape, stride, *_),
        ):
            if _is_ints((offset,)) and _is_ints(shape) and _is_ints(stride):
                return TensorRef(storage, offset, shape, stride)
        case ("torch._utils", "_rebuild_parameter", (TensorRef() as tensor, *_)):
            return tensor
        case ("collections", "OrderedDict", ()):
            return {}
    return OPAQUE


def _persistent_load(storages: dict[str, Storage]) -> Callable[[object], object]:
    """A reader of torch's storage ids that notes the storages it met; the device is ignored, all is read to the CPU."""

    def load(pid: object) -> object:
        match pid:
            case ("storage", Global("torch" | "torch.cuda", kind), str(key), str(), int(numel), *views):
                # The sixth item of old files describes a view into another storage; None means there is none.
                if kind in _STORAGES and numel >= 0 and views in ([], [None]):
                    return storages.setdefault(key, Storage(key, _STORAGES[kind], numel))
        return OPAQUE

    return load


def _is_ints(values: object) -> bool:
    return isinstance(values, tuple) and all(type(value) is int for value in values)


def _as_float32(data: bytes, dtype: str) -> NDArray[np.float32]:
    if dtype == _BFLOAT16:  # the upper half of a float32
        return (np.frombuffer(data, dtype="<u2").astype("<u4") << 16).view("<f4").astype(np.float32)
    with np.errstate(over="ignore"):
        return np.frombuffer(data, dtype=f"<{dtype}").astype(np.float32)
