"""The encoded bytes of an image and what to call them, read from a regular file, from memory or from a file object."""

import os
import stat
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ..errors import UnreadableImageError, UsageError
from .failures import image_errors, shown, too_large
from .limits import ImageLimits
from .tensors import BecomesArray, is_foreign, is_tensor

ImageSource = (
    str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | Image.Image | NDArray[Any] | BecomesArray
)

_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}


def name_of(source: Any) -> str:
    """What errors call an image before it is read."""
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source) or repr(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return f"{len(source)} bytes"
    if isinstance(source, np.ndarray):
        return "array"
    if isinstance(source, Image.Image):
        return str(getattr(source, "filename", "") or "PIL image")
    if is_foreign(source):
        return "tensor" if is_tensor(source) else "array"
    return str(getattr(source, "name", None) or "file object")  # a spooled upload's is None


def read_encoded(source: Any, limits: ImageLimits) -> bytes:
    """The encoded bytes; no more than shows that there are too many is read or copied."""
    name = name_of(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        size = memoryview(source).nbytes
        if size > limits.max_bytes:
            raise too_large(name, f"{size:,}", limits.max_bytes, "bytes")
        return bytes(source)
    with image_errors(name, doing="read"):
        if isinstance(source, (str, os.PathLike)):
            data = _read_file(source, name, limits)
        elif hasattr(source, "read"):
            data = source.read(limits.max_bytes + 1)
        else:
            expected = "a path, bytes, a binary file, a PIL image, an array or a tensor"
            raise UsageError(f"an image is {expected}; got {type(source).__name__}.")
    if not isinstance(data, bytes):
        raise UsageError(f"{shown(name)} is opened as text; open it in binary mode ('rb').")
    if len(data) > limits.max_bytes:
        raise too_large(name, f"more than {limits.max_bytes:,}", limits.max_bytes, "bytes")
    return data


def _read_file(path: str | os.PathLike[str], name: str, limits: ImageLimits) -> bytes:
    """The bytes of a regular file: opening a pipe waits for its writer, and opening a device may act on it."""
    _check_regular(os.stat(path), name)  # noqa: PTH116 - Path("") would be the working directory
    with open(path, "rb", opener=lambda path, flags: os.open(path, flags | _NO_WAIT)) as file:
        found = os.fstat(file.fileno())
        _check_regular(found, name)  # once more, for it may have been replaced
        if found.st_size > limits.max_bytes:
            raise too_large(name, f"{found.st_size:,}", limits.max_bytes, "bytes")
        return file.read(limits.max_bytes + 1)


def _check_regular(found: os.stat_result, name: str) -> None:
    kind = stat.S_IFMT(found.st_mode)
    if kind != stat.S_IFREG:
        what = _KINDS.get(kind, "something else")
        raise UnreadableImageError(
            f"cannot read {shown(name)}: it is {what}, and only regular files are opened (or '-', standard input)."
        )
