"""Texts to token ids with a pack's `tokenizer.json`."""

from pathlib import Path

import numpy as np

from ..errors import CheckpointError, ModelNotFoundError
from ..types import Int64
from .exportable import PadTo


class PackTokenizer:
    """Token ids as the model was trained on: truncated to the context, special tokens kept, padded if it needs that."""

    def __init__(self, path: Path, *, context_length: int, pad_id: int, pad_to: PadTo) -> None:
        from tokenizers import Tokenizer

        if not path.is_file():
            raise ModelNotFoundError(f"{path} is missing; the model folder is not complete.")
        try:
            self._tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
        except Exception as error:  # tokenizers raises bare Exception
            raise CheckpointError(f"{path} is not a tokenizer that `tokenizers` can read: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=context_length)
        self._context_length, self._pad_id, self._pad_to = context_length, pad_id, pad_to

    def encode(self, text: str) -> tuple[Int64, Int64]:
        """Ids and attention mask of one text, both (1, tokens).

        One text makes a run of its own, so "longest" means no padding at all: it is its own longest.
        """
        ids = self._tokenizer.encode(text).ids
        length = self._context_length if self._pad_to == "max" else max(len(ids), 1)
        padded = np.full((1, length), self._pad_id, dtype=np.int64)
        padded[0, : len(ids)] = ids
        mask = (np.arange(length) < len(ids)).astype(np.int64)[None]
        return padded, mask
