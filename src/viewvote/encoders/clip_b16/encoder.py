"""OpenAI's CLIP ViT-B/16 image tower with a text side of our own, a head on the pocket model's sentence encoder."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ...arrays import Float32
from ...errors import UsageError
from ...files import default_cache_dir, shipped
from ..base import LoadOptions
from ..onnx.config import FILE, read_config
from ..onnx.encoder import OnnxEncoder, check_dim, digest_of
from ..onnx.files import PackFiles
from ..onnx.runtimes import pick_runtime
from ..onnx.text import TextRun
from ..onnx.tower import Tower
from ..pocket.pack import pocket_dir
from .tower import TowerPrecision, runnable_tower, tower_file

HEAD = "head.onnx"


def load(rest: str, options: LoadOptions) -> "HeadedEncoder":
    """The clip-b16 model; precision "fp32" runs the packaged weights in float32, three times slower."""
    del rest
    vision = runnable_tower(tower_file(), precision=pick_precision(options), cache_dir=default_cache_dir())
    return HeadedEncoder(
        HeadedFiles.of(shipped("models/clip-b16"), vision=vision, sentences=pocket_dir()),
        model_id="clip-b16",
        options=options,
    )


def pick_precision(options: LoadOptions) -> TowerPrecision:
    """The precision that `options` mean: int8, unless float32 is asked for or the runtime cannot do otherwise."""
    if options.precision == "fp32" or pick_runtime(options.runtime) == "onnxruntime":
        return "fp32" if options.precision == "fp32" else "int8"
    if options.precision == "int8":
        # OpenVINO 2026.4 compiles the graph, but loses the batch of one.
        raise UsageError('the int8 tower of clip-b16 runs in ONNX Runtime only; choose that or precision "fp32".')
    return "fp32"


@dataclass(frozen=True)
class HeadedFiles(PackFiles):
    """A pack whose text graph gives sentence vectors, and the head that takes them into the image tower's space."""

    head: Path = Path(HEAD)

    @classmethod
    def of(cls, folder: Path, *, vision: Path, sentences: Path) -> "HeadedFiles":
        """The head and configuration in `folder`, on the sentence encoder of the pack in `sentences`."""
        return cls(
            config=read_config(folder / FILE),
            vision=vision,
            text=sentences / "text.onnx",
            tokenizer=sentences / "tokenizer.json",
            text_outputs=("sentence_embeds",),
            head=folder / HEAD,
        )


class HeadedEncoder(OnnxEncoder):
    """An OnnxEncoder whose texts pass a second graph, run in the same shapes as the first."""

    files: HeadedFiles

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of the sentence encoder and the tokenizer, and a hash of the head."""
        return digest_of(super().fingerprint, self.files.head)

    def _encode_run(self, run: TextRun) -> Float32:
        return self._head.run({"sentence_embeds": super()._encode_run(run)})

    @cached_property
    def _head(self) -> Tower:
        head = self._open(self.files.head, "sentence_embeds", ("text_embeds",))
        check_dim(head, dim=self.dim)
        return head

    @cached_property
    def _text(self) -> Tower:
        return self._open(self.files.text, "input_ids", self.files.text_outputs)
