"""Texts to token ids with a pack's `tokenizer.json`, and to runs whose shape depends on each text alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...arrays import Int64
from ...errors import CheckpointError, ModelNotFoundError
from ...fields import shown
from ...reading import read_text
from .config import PadTo


class PackTokenizer:
    """Token ids as the model was trained on: truncated to the context, special tokens kept, padded if it needs that."""

    def __init__(self, path: Path, *, context_length: int, pad_id: int, pad_to: PadTo) -> None:
        from tokenizers import Tokenizer

        if not path.is_file():
            raise ModelNotFoundError(f"{path} is missing; the model folder is not complete.")
        text = read_text(path, error=CheckpointError)
        try:
            self._tokenizer = Tokenizer.from_str(text)
        except Exception as error:  # tokenizers raises bare Exception
            raise CheckpointError(f"{path} is not a tokenizer that `tokenizers` can read: {error}") from error
        try:
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(max_length=context_length)
        except Exception as error:  # a context that is shorter than the special tokens
            raise CheckpointError(f"{path} does not fit a context of {context_length} tokens: {error}.") from error
        self._path = path
        self._context_length, self._pad_id, self._pad_to = context_length, pad_id, pad_to

    def encode(self, text: str) -> tuple[Int64, Int64]:
        """Ids and attention mask of one text, both (1, tokens).

        Only texts of one length share a run, so "longest" means no padding at all.
        """
        try:
            ids = self._tokenizer.encode(text).ids
        except Exception as error:  # tokenizers raises bare Exception: of a word that is in no vocabulary, say
            raise CheckpointError(f"the tokenizer {self._path} cannot encode {shown(text)}: {error}.") from error
        length = self._context_length if self._pad_to == "max" else max(len(ids), 1)
        padded = np.full((1, length), self._pad_id, dtype=np.int64)
        padded[0, : len(ids)] = ids
        mask = (np.arange(length) < len(ids)).astype(np.int64)[None]
        return padded, mask


ROWS = 8
SHORT = 32


@dataclass(frozen=True)
class TextRun:
    """Texts of one length that are encoded together: which they are, and always the same number of rows."""

    indices: list[int]
    ids: Int64  # (rows, tokens)
    mask: Int64  # (rows, tokens)


def plan_runs(encoded: Sequence[tuple[Int64, Int64]], *, alone: bool) -> list[TextRun]:
    """Runs that cover all texts, each shaped by the length of its texts and by nothing else.

    A kernel may round differently for another shape, and so would features if a run were as large as the texts at
    hand. Short texts go in rows of eight, the last run filled up with copies: one at a time they would take two to
    three times as long, for a matrix of few rows is not worth loading the weights for. Long texts run alone.
    """
    by_length: dict[int, list[int]] = {}
    for i, (ids, _) in enumerate(encoded):
        by_length.setdefault(ids.shape[1], []).append(i)
    runs = []
    for length, members in by_length.items():
        rows = 1 if alone or length >= SHORT else ROWS
        for start in range(0, len(members), rows):
            indices = members[start : start + rows]
            filled = indices + indices[-1:] * (rows - len(indices))
            ids, mask = (np.concatenate([encoded[i][part] for i in filled]) for part in (0, 1))
            runs.append(TextRun(indices, ids, mask))
    return runs
