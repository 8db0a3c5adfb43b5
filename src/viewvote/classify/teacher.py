"""What a teacher answers about the views of one sample."""

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Float32, Int64
from ..views.sample import Sample
from ..vote import log_softmax
from .setup import LabelledModel


@dataclass
class TeacherAnswers:
    """A stronger model's logits of views of one sample; a view is drawn and encoded when it is first asked about."""

    model: LabelledModel
    sample: Sample
    rows: dict[int, Float32] = field(default_factory=dict)  # of each view asked about (classes,)

    @property
    def sure(self) -> float:
        """The largest probability of the source view, which is asked about where it is not known."""
        return float(np.exp(log_softmax(self.logits(np.zeros(1, dtype=np.int64)))).max())

    def logits(self, views: Int64) -> Float32:
        """The logits (views, classes) of these views."""
        wanted = views.tolist()
        new = [view for view in wanted if view not in self.rows]
        if new:
            pixels = self.sample.pixels_for(new, self.model.encoder.image_spec)
            self.rows.update(zip(new, self.model.logits(self.model.encoder.encode_images(pixels)), strict=True))
        found = [self.rows[view] for view in wanted]
        return np.array(found, dtype=np.float32).reshape(len(found), len(self.model.head.features))
