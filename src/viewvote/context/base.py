"""Context: what unlabelled photos take off the labels' logits, as one small immutable object."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

import numpy as np

from ..arrays import Float32
from ..errors import UsageError

Estimator = Literal["levels", "leaks", "mean", "transport"]
"""How a pull was estimated: by the logits with and without each label, by leaks between labels (files of older
versions), by mean logits, or by transport to a mix that was given."""


@dataclass(frozen=True, eq=False)
class Context:
    """What a folder of unlabelled photos takes off every view's logits, one number per label.

    offsets      are subtracted; their mean is 0, and they are all 0 where the folder shows too little (`note`)
    n            photos that were looked at
    effective    how many labels the folder shows, in labels of equal shares and apart from the model's unsureness
    share        the part of the pull that is taken off
    estimator    how the pull was estimated
    labels       a digest of the labels and templates that the offsets are for (`digest_of`)
    model        the model's id and `fingerprint` what its weights are known by
    note         one line where it takes off nothing, or less than all
    teacher      of a cascade, what the teacher's logits lose
    """

    offsets: Float32  # (labels,)
    n: int
    effective: float
    share: float
    estimator: Estimator
    labels: str
    model: str
    fingerprint: str
    note: str | None = None
    teacher: "Context | None" = field(default=None, repr=False)

    @property
    def is_used(self) -> bool:
        """Whether it takes off anything at all."""
        return bool(self.offsets.any())

    @property
    def digest(self) -> str:
        """12 hex digits of what decides the answers."""
        found = blake2b(np.ascontiguousarray(self.offsets, dtype="<f4").tobytes(), digest_size=6)
        if self.teacher is not None:
            found.update(bytes.fromhex(self.teacher.digest))
        return found.hexdigest()

    def taken_off(self, label: int) -> float:
        """The part of a label's odds that is taken off: 0.09 where they are multiplied by 0.91."""
        return float(-np.expm1(-np.float64(self.offsets[label])))

    def strongest(self) -> int:
        """The label that loses most."""
        return int(self.offsets.argmax())

    def to_summary(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """JSON-ready facts; with `names` also what is taken off each label's logits."""
        facts: dict[str, Any] = {
            "digest": self.digest,
            "n": self.n,
            "effective_labels": round(self.effective, 2),
            "estimator": self.estimator,
            "share": round(self.share, 3),
        }
        if self.note is not None:
            facts["note"] = self.note
        if names is not None:
            facts["taken_off"] = {name: float(offset) for name, offset in zip(names, self.offsets, strict=True)}
        return facts

    def check(self, *, labels: str, n_labels: int, model: str, fingerprint: str) -> None:
        """Raise UsageError unless it is of these labels and this model: others' offsets would mean nothing."""
        if (self.model, self.fingerprint) != (model, fingerprint):
            raise UsageError(
                f"the context was made with the model {self.model!r} ({self.fingerprint}), not with {model!r} "
                f"({fingerprint}); make it again with `viewvote context`."
            )
        if self.labels != labels or len(self.offsets) != n_labels:
            raise UsageError(
                f"the context is of other labels or templates ({self.labels}, not {labels}; their order counts); "
                "make it again with `viewvote context`."
            )


def digest_of(labels: Sequence[str], templates: Sequence[str], *, features: Float32 | None = None) -> str:
    """12 hex digits of label texts; where class vectors were given in place of texts, of those too."""
    found = blake2b(digest_size=6)
    for part in (*labels, "", *templates):
        encoded = part.encode("utf-8", "surrogatepass")
        found.update(len(encoded).to_bytes(8, "little") + encoded)  # length first, so ("ab","c") is not ("a","bc")
    if features is not None:
        found.update(np.ascontiguousarray(features, dtype="<f4").tobytes())
    return found.hexdigest()
