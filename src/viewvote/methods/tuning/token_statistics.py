"""Source statistics of PromptAlign: mean and variance of every token of every vision block over many images."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from ...arrays import Float32, Float64, UInt8
from ...encoders.checkpoints.state_dict import open_state_dict
from ...encoders.checkpoints.torch_file import TensorRef, open_torch_file
from ...encoders.torch.learned_prompts import PromptLearner
from ...errors import CheckpointError, MissingExtraError, ModelNotFoundError, UsageError
from ...images.photo import ImageSource, open_photo
from ...images.spec import ImageSpec
from ...outputs import put_output
from ...views.crops import View, source_box
from ...views.draw import render_views

try:
    import torch
    from safetensors.numpy import save
except ImportError as error:
    raise MissingExtraError.for_extra("torch", what="Token statistics") from error

THEIR_FILES: Final = ("ImgNetpre_vis_means.pt", "ImgNetpre_vis_vars.pt")
ALL_BLOCKS: Final = 1 << 20
BATCH: Final = 8  # float64 inputs of all blocks: 120 MB for ViT-B/16


@dataclass(frozen=True, eq=False)
class TokenStatistics:
    """Mean and biased variance over images of every vision block's input, token by token."""

    means: Float32  # (blocks, tokens, width)
    variances: Float32

    def __post_init__(self) -> None:
        if self.means.ndim != 3 or self.means.shape != self.variances.shape:
            raise CheckpointError(
                "token statistics are two arrays (blocks, tokens, width) of one shape, (12, 199, 768) for ViT-B/16; "
                f"got means {self.means.shape} and variances {self.variances.shape}."
            )
        if not (np.isfinite(self.means).all() and np.isfinite(self.variances).all() and self.variances.min() >= 0):
            raise CheckpointError("token statistics hold NaN, infinity or a negative variance.")

    @property
    def fingerprint(self) -> str:
        """12 hex of a hash of the numbers."""
        return sha256(self.means.tobytes() + self.variances.tobytes()).hexdigest()[:12]

    def check_fits(self, encoder: PromptLearner, *, blocks: int) -> None:
        """An error where the statistics are of another model, or of too few blocks."""
        taken = _block_inputs(encoder, np.zeros((1, encoder.image_spec.size, encoder.image_spec.size, 3), np.uint8))
        expected = taken.shape[2:]  # (tokens, width)
        if self.means.shape[1:] != expected or not blocks <= len(self.means) <= taken.shape[1]:
            raise CheckpointError(
                f"token statistics of shape {self.means.shape} do not fit {encoder.model_id!r}; expected "
                f"(blocks, {expected[0]}, {expected[1]}) with {blocks} to {taken.shape[1]} blocks. Were they made with "
                "another model, or another number of prompt tokens?"
            )


def load_statistics(path: Path) -> TokenStatistics:
    """The statistics in a safetensors file of ours, or in a folder with the authors' two; nothing is unpickled."""
    if path.is_dir():
        means, variances = (_read_tensor(path / name) for name in THEIR_FILES)
        return TokenStatistics(means, variances)
    state = open_state_dict(path)
    if set(state.shapes) != {"means", "variances"}:
        raise CheckpointError(
            f"{path} holds {sorted(state.shapes)}; expected means and variances, or a folder with {THEIR_FILES[0]} "
            f"and {THEIR_FILES[1]}."
        )
    return TokenStatistics(state.read("means"), state.read("variances"))


def save_statistics(statistics: TokenStatistics, path: Path) -> None:
    """Writes a safetensors file that `load_statistics` reads."""
    put_output(path, save({"means": statistics.means, "variances": statistics.variances}))


def gather_statistics(encoder: PromptLearner, images: Iterable[ImageSource]) -> TokenStatistics:
    """The statistics over the source views of `images`, with the encoder's prompts in place.

    The authors made two passes, the mean and then the mean squared deviation; batches are merged here so that one pass
    over the images gives the same numbers, in float64.
    """
    count = 0
    mean = spread = np.zeros((), dtype=np.float64)
    for pixels in _batches(images, encoder.image_spec):
        inputs = _block_inputs(encoder, pixels)  # (batch, blocks, tokens, width)
        batch_mean = inputs.mean(axis=0)
        shift = batch_mean - mean
        spread = (
            spread + ((inputs - batch_mean) ** 2).sum(axis=0) + shift**2 * (count * len(pixels)) / (count + len(pixels))
        )
        count += len(pixels)
        mean = mean + shift * len(pixels) / count
    if not count:
        raise UsageError("token statistics need at least one image.")
    return TokenStatistics(mean.astype(np.float32), (spread / count).astype(np.float32))


def _block_inputs(encoder: PromptLearner, pixels: UInt8) -> Float64:
    """What every vision block is given (views, blocks, tokens, width)."""
    with torch.no_grad():
        _, taps = encoder.view_features(pixels, taps=ALL_BLOCKS)
        return torch.stack(taps, dim=1).double().cpu().numpy()


def _batches(images: Iterable[ImageSource], spec: ImageSpec) -> Iterator[UInt8]:
    source = iter(images)
    while batch := [_source_view(image, spec) for image in islice(source, BATCH)]:
        yield np.concatenate(batch)


def _source_view(image: ImageSource, spec: ImageSpec) -> UInt8:
    photo = open_photo(image)
    return render_views(photo, [View(source_box(photo.size, spec), flip=False, source=True)], spec)


def _read_tensor(path: Path) -> Float32:
    """The one tensor that torch.save wrote to `path`."""
    if not path.is_file():
        raise ModelNotFoundError(f"no {path.name} in {path.parent}; expected the authors' two statistics files there.")
    try:
        file = open_torch_file(path)
        if isinstance(file.root, TensorRef) and file.root.is_floating:
            return file.read(file.root)
    except (ValueError, OSError) as error:
        raise CheckpointError(f"{path} is not a readable torch file: {error}. Download it again.") from error
    raise CheckpointError(f"{path} does not hold one tensor of numbers; expected (12, 199, 768) for ViT-B/16.")
