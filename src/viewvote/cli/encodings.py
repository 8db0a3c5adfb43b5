"""The features of `viewvote encode`, written image by image; unreadable images are reported."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..classify.encode import encode_each
from ..classify.feature_files import FeatureWriter
from ..classify.features import EncodedImage, Encoding
from ..classify.view_plan import ViewPlan
from ..encoders import LoadOptions, load_encoder
from ..errors import UsageError
from ..runs.lock import hold
from ..sources import STDIN, Skipped, find_images
from .encode import EncodeOptions
from .guard import complain
from .progress import progress


def write_features(asked: EncodeOptions) -> int:
    """Encode the images into a folder; returns the exit code, 1 where an image could not be used."""
    if STDIN in asked.images:
        raise UsageError("viewvote encode reads files, to know them by their paths; save what is piped in first.")
    if asked.resume and asked.overwrite:
        raise UsageError("--resume continues --out and --overwrite replaces it; give one of them.")
    skipped = Skipped()
    paths = find_images(asked.images, report=complain, skipped=skipped)
    if skipped and not asked.quiet:
        complain(str(skipped))
    options = LoadOptions(device=asked.device, dtype=asked.dtype, runtime=asked.runtime, precision=asked.precision)
    plan = ViewPlan(load_encoder(asked.model, options), asked.views, asked.seed, asked.augment)
    with (
        _held(asked.out),
        FeatureWriter(asked.out, Encoding.of(plan), resume=asked.resume, overwrite=asked.overwrite) as writer,
    ):
        todo = [path for path in paths if path not in writer.paths]
        failed = 0
        with progress(len(todo), quiet=asked.quiet) as step:
            for path, outcome in zip(todo, encode_each(plan, todo, batch_views=asked.batch_views), strict=True):
                if isinstance(outcome, EncodedImage):
                    writer.add(EncodedImage(replace(outcome.facts, path=path), outcome.features))
                else:
                    complain(str(outcome))
                    failed += 1
                step()
    if not asked.quiet:
        before = f", {len(paths) - len(todo)} done before" if len(todo) < len(paths) else ""
        complain(f"{len(todo) - failed} encoded, {failed} failed{before}: {asked.out}")
    return 1 if failed else 0


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """The folder, made if need be, locked against another `viewvote encode`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror or error}.") from error
    with hold(folder / "lock"):
        yield
