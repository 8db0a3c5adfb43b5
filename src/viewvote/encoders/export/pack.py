"""`export_pack`: any torch encoder written as an ONNX pack, and how well the pack agrees with it."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...arrays import Float32, UInt8
from ...errors import CheckpointError, MissingExtraError, UsageError
from ...outputs import check_folder
from ..base import Encoder, LoadOptions
from ..onnx.config import FILE, PackConfig
from ..onnx.encoder import OnnxEncoder, load_folder, normalise, pixel_line

_NAMES = (
    "cat,dog,horse,cow,bird,fish,spider,butterfly,frog,snake,elephant,bear,tree,flower,mushroom,fruit,bread,pizza,cake,"
    "cup,bottle,chair,table,bed,lamp,clock,book,computer,phone,camera,car,bus,train,bicycle,boat,aeroplane,house,church,"
    "bridge,road,beach,mountain,forest,city street,sky,person,face,crowd,painting,sign"
)
LABELS = tuple(_NAMES.split(","))
TEMPLATE = "a photo of a {}."
LEAST_COSINE = 0.999
"""Below this the fp32 pack is not the same model; rounding alone stays above 0.99999."""


@dataclass(frozen=True)
class Agreement:
    """How alike a pack's features and answers are to the original's on the same views and labels."""

    views: int
    labels: int
    cosine_mean: float
    cosine_min: float
    top1: float  # share of views with the same best label

    def __str__(self) -> str:
        return (
            f"cosine {self.cosine_mean:.5f} (least {self.cosine_min:.5f}), same best label of {self.labels} for "
            f"{self.top1:.1%} of {self.views} views"
        )


@dataclass(frozen=True)
class ExportReport:
    """What was written and how well it agrees with its source."""

    folder: Path
    sizes: dict[str, int]  # bytes by file
    text_cosine_min: float
    fp32: Agreement
    int8: Agreement | None


def export_pack(
    encoder: Encoder,
    out: Path,
    *,
    views: UInt8,
    int8: bool = False,
    labels: Sequence[str] = LABELS,
    overwrite: bool = False,
) -> ExportReport:
    """Write the encoder as a pack into the folder `out` and compare them on `views` (views, size, size, 3).

    With `int8`, every other view calibrates the ranges and the rest are compared. The folder appears when it is
    complete: a run that fails or is stopped leaves nothing behind.
    """
    if len(views) < 2:
        raise UsageError(f"an export is checked on at least 2 views, got {len(views)}.")
    check_folder(out, overwrite=overwrite)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        folder = Path(scratch) / "pack"
        folder.mkdir()
        _write_pack(encoder, folder)
        if int8:
            _write_int8(encoder, folder, calibration=views[0::2])
        report = _compare(encoder, folder, views=views[1::2], labels=labels, int8=int8)
        _move(folder, out)
    return replace(report, folder=out)


def _write_pack(encoder: Encoder, folder: Path) -> None:
    try:
        from .graph import export_text, export_vision
        from .parts import parts_of
    except ImportError as error:
        raise MissingExtraError.for_extra("torch", what="Exporting a model") from error
    parts = parts_of(encoder)
    config = PackConfig(
        name=encoder.model_id,
        image=encoder.image_spec,
        scale=float(encoder.logit_scale),
        bias=float(encoder.logit_bias),
        context_length=parts.context_length,
        dim=int(encoder.dim),
        pad_id=parts.pad_id,
        scoring=encoder.scoring,
        pad_to=parts.pad_to,
    )
    export_vision(parts.vision, folder / "vision.onnx", size=config.image.size)
    export_text(
        parts.text,
        folder / "text.onnx",
        inputs=parts.text_inputs,
        context_length=config.context_length,
        vary_length=config.pad_to == "longest",
    )
    (folder / "tokenizer.json").write_text(parts.tokenizer_json, encoding="utf-8")
    (folder / FILE).write_text(json.dumps(config.to_dict(), indent=2) + "\n", encoding="utf-8")


def _write_int8(encoder: Encoder, folder: Path, *, calibration: UInt8) -> None:
    from .quantise import quantise

    scale, shift = pixel_line(encoder.image_spec.mean, encoder.image_spec.std)

    def pixels() -> Iterator[Float32]:
        yield from (normalise(view, scale=scale, shift=shift)[None] for view in calibration)

    quantise(folder / "vision.onnx", folder / "vision.int8.onnx", pixels=pixels())


def _compare(encoder: Encoder, folder: Path, *, views: UInt8, labels: Sequence[str], int8: bool) -> ExportReport:
    texts = [TEMPLATE.format(label) for label in labels]
    source_texts, source_views = encoder.encode_texts(texts), encoder.encode_images(views)
    pack = _open(folder, "fp32")
    pack_texts = pack.encode_texts(texts)
    text_cosine = float((pack_texts * source_texts).sum(axis=1).min())
    source_best = (source_views @ source_texts.T).argmax(axis=1)

    def agreement(other: OnnxEncoder) -> Agreement:
        features = other.encode_images(views)
        cosines = (features * source_views).sum(axis=1)
        same = (features @ pack_texts.T).argmax(axis=1) == source_best
        return Agreement(len(views), len(labels), float(cosines.mean()), float(cosines.min()), float(np.mean(same)))

    fp32 = agreement(pack)
    if min(text_cosine, fp32.cosine_min) < LEAST_COSINE:
        raise CheckpointError(
            f"the pack of {encoder.model_id} differs from its source: least cosine {text_cosine:.5f} of texts, "
            f"{fp32.cosine_min:.5f} of views, expected {LEAST_COSINE} or more. Nothing was written."
        )
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    return ExportReport(folder, sizes, text_cosine, fp32, agreement(_open(folder, "int8")) if int8 else None)


def _open(folder: Path, precision: str) -> OnnxEncoder:
    options = LoadOptions(precision="int8" if precision == "int8" else "fp32")
    return load_folder(folder, model_id=f"onnx:{folder}", options=options)


def _move(folder: Path, out: Path) -> None:
    """Put the finished folder in its place, the old one aside first."""
    if out.exists():
        out.rename(folder.parent / "old")  # removed with the scratch folder
    shutil.move(folder, out)
