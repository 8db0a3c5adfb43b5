"""A folder of this machine or of a store, as a table needs it: whole files, and names that are taken once."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from ..errors import RunWriteError, UsageError
from ..files import sync_folder, write_whole
from ..reading import open_regular
from ..sources.address import file_system, scheme_of
from ..sources.listing import list_files
from ..sources.patience import persist


class Folder(Protocol):
    """Files by name; a name may have slashes."""

    def names(self, inside: str) -> Iterator[str]:
        """The names of the files in the folder `inside`, without it."""
        ...

    def read(self, name: str) -> bytes | None:
        """A file's bytes, None where there is none."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Put a file there in one step, in place of another."""
        ...

    def create(self, name: str, data: bytes) -> bool:
        """Put a file there in one step; False where there is one already, which stays."""
        ...

    def remove(self, name: str) -> None:
        """Take a file away."""
        ...


class LocalFolder:
    """A folder of this machine. A file is first written under `scratch`: readers of the folder never see half of it."""

    def __init__(self, path: Path, *, scratch: Path | None = None) -> None:
        self._path = path
        self._scratch = scratch or path

    def names(self, inside: str) -> Iterator[str]:
        """The names of the files in the folder `inside`, without it."""
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(self._path / inside) as entries:
            yield from (one.name for one in entries if one.is_file())

    def read(self, name: str) -> bytes | None:
        """A file's bytes, None where there is none."""
        try:
            with open_regular(self._path / name) as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunWriteError(f"cannot read {self._path / name}: {error.strerror or error}.") from error

    def write(self, name: str, data: bytes) -> None:
        """Put a file there in one step, in place of another."""
        path = self._path / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
        except OSError as error:
            raise RunWriteError(f"cannot write {path}: {error.strerror or error}.") from error

    def create(self, name: str, data: bytes) -> bool:
        """Put a file there in one step; False where there is one already, which stays."""
        path = self._path / name
        half = self._scratch / f"{path.name}.{os.urandom(4).hex()}.half"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            half.parent.mkdir(parents=True, exist_ok=True)
            with half.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            created = _take_name(half, path)
            sync_folder(path.parent)
        except OSError as error:
            raise RunWriteError(f"cannot write {path}: {error.strerror or error}.") from error
        finally:
            with suppress(OSError):
                half.unlink(missing_ok=True)
        return created

    def remove(self, name: str) -> None:
        """Take a file away."""
        (self._path / name).unlink(missing_ok=True)


def _take_name(half: Path, path: Path) -> bool:
    """Give the file its name unless that is taken. A link does it in one step; not every file system has links."""
    try:
        os.link(half, path)
    except FileExistsError:
        return False
    except OSError:
        if path.exists():
            return False
        half.rename(path)
    return True


_READ_ONLY = {
    "http": "a web server takes no files",
    "https": "a web server takes no files",
    "hf": "each part would be a commit",
}


class StoreFolder:
    """A prefix of a store. Its objects appear whole, and where it can it refuses a name that is taken by itself."""

    def __init__(self, address: str) -> None:
        scheme = scheme_of(address) or ""
        if scheme in _READ_ONLY:
            raise UsageError(f"cannot write {address}: {_READ_ONLY[scheme]}. Name a folder here, or of s3, gs or az.")
        self._address = address
        self._system, self._path = file_system(address)

    def names(self, inside: str) -> Iterator[str]:
        """The names of the objects in the folder `inside`, without it."""
        try:
            for found in list_files(f"{self._address}/{inside}".rstrip("/")):
                yield found.rpartition("/")[2]
        except FileNotFoundError:
            return

    def read(self, name: str) -> bytes | None:
        """An object's bytes, None where there is none."""
        path = f"{self._path}/{name}"
        try:
            data: bytes = persist(lambda: self._system.cat_file(path), what=f"cannot read {self._address}/{name}")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunWriteError(f"{error.strerror or error}.") from error
        return data

    def write(self, name: str, data: bytes) -> None:
        """Put an object there, in place of another."""
        self._put(name, data, mode="overwrite")

    def create(self, name: str, data: bytes) -> bool:
        """Put an object there; False where there is one already, which stays."""
        try:
            self._put(name, data, mode="create")
        except FileExistsError:
            return False
        return True

    def remove(self, name: str) -> None:
        """Take an object away."""
        with suppress(FileNotFoundError):
            persist(lambda: self._system.rm_file(f"{self._path}/{name}"), what=f"cannot remove {name}")

    def _put(self, name: str, data: bytes, *, mode: str) -> None:
        path, place = f"{self._path}/{name}", f"{self._address}/{name}"
        if mode == "create" and self._system.exists(path):
            raise FileExistsError(place)
        try:
            persist(lambda: self._system.pipe_file(path, data, mode=mode), what=f"cannot write {place}")
        except FileExistsError:
            raise
        except OSError as error:
            raise RunWriteError(f"{error.strerror or error}.") from error
