"""Text heads of the last label sets, in memory and never more than a given number of bytes."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from ..encoders import Encoder
from ..encoders.text_head import TextHead, build_text_head, encode_classes
from ..errors import UsageError
from ..labels.texts import ClassTexts

Key = tuple[int, tuple[ClassTexts, ...], tuple[str, ...]]


class HeadUnknownError(Exception):
    """The head is not in the cache, so that texts would have to be encoded."""


class HeadCache:
    """The heads used last; both `recall` and `build` are a classifier's `build_head`.

    Nothing is written to disk: labels of requests are anybody's, and a disk is soon full.
    """

    def __init__(self, *, max_bytes: int, max_texts: int) -> None:
        self._max_bytes = max_bytes
        self._max_texts = max_texts
        self._heads: OrderedDict[Key, TextHead] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        self._building = Lock()  # one at a time: the second request for the same labels finds what the first made
        self.hits = self.misses = 0

    def __len__(self) -> int:
        return len(self._heads)

    def recall(
        self,
        encoder: Encoder,
        class_names: Sequence[ClassTexts],
        *,
        templates: Sequence[str],
        cache_dir: Path | None = None,
    ) -> TextHead:
        """The head if it is here; else HeadUnknownError, at once."""
        del cache_dir
        head = self._find((id(encoder), tuple(class_names), tuple(templates)))
        if head is None:
            raise HeadUnknownError
        self.hits += 1
        return head

    def build(
        self,
        encoder: Encoder,
        class_names: Sequence[ClassTexts],
        *,
        templates: Sequence[str],
        cache_dir: Path | None = None,
    ) -> TextHead:
        """The head, encoded if it is not here."""
        del cache_dir
        texts = sum(1 if isinstance(own, str) else len(own) for own in class_names)
        if texts * len(templates) > self._max_texts:
            what = "labels" if texts == len(class_names) else "texts of labels"
            raise UsageError(
                f"{texts} {what} in {len(templates)} templates are {texts * len(templates):,} texts; "
                f"the limit is {self._max_texts:,}. Use fewer labels or templates."
            )
        key = (id(encoder), tuple(class_names), tuple(templates))
        with self._building:
            if (known := self._find(key)) is not None:
                return known
            self.misses += 1
            head = TextHead(encode_classes(encoder, class_names, templates=templates), cached=False)
            self._keep(key, head)
        return head

    def preload(
        self,
        encoder: Encoder,
        class_names: Sequence[ClassTexts],
        *,
        templates: Sequence[str],
        cache_dir: Path | None = None,
    ) -> TextHead:
        """The head of the service's own labels: read from disk where an earlier start wrote it."""
        head = build_text_head(encoder, class_names, templates=templates, cache_dir=cache_dir)
        self._keep((id(encoder), tuple(class_names), tuple(templates)), head)
        return head

    def _keep(self, key: Key, head: TextHead) -> None:
        """Remember a head; those not used for longest make room."""
        with self._lock:
            self._heads[key] = head
            self._bytes += _size(head)
            while self._bytes > self._max_bytes and len(self._heads) > 1:
                _, oldest = self._heads.popitem(last=False)
                self._bytes -= _size(oldest)

    def _find(self, key: Key) -> TextHead | None:
        with self._lock:
            if key in self._heads:
                self._heads.move_to_end(key)
            return self._heads.get(key)


def _size(head: TextHead) -> int:
    return 2 * head.features.nbytes + 1000  # as rows and as tiles, and its names
