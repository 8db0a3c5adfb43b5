"""One image of a source, under the key that names it wherever it is answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import ViewvoteError


@dataclass(frozen=True)
class SourceItem:
    """An image of a source, or why there is none.

    key      names it in every output, in every run alike: a path, an address, "shard.tar#member", "table.parquet#row"
    image    a local path or encoded bytes; its views depend on its content and the seed, not on the key
    columns  the values of the columns that were to be kept
    error    why there is no image
    """

    key: str
    image: str | bytes | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    error: ViewvoteError | None = None
