"""JSON that every reader takes: what cannot be measured is null, never NaN."""

import json
import math
from collections.abc import Mapping
from typing import Any


def strict_json(value: Any) -> str:
    """The value as indented JSON with a line break at the end; NaN and infinities become null."""
    return json.dumps(_finite(value), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return value
