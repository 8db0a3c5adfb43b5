"""A running average of tuned vision towers from which later images start: RLCF's optional memory."""

from ...encoders.torch.tunable import Snapshot, VisionTunable
from ...errors import MissingExtraError, UsageError

try:
    import torch
except ImportError as error:
    raise MissingExtraError.for_extra("torch", what="Test-time tuning") from error


class VisionMomentum:
    """Makes RLCF a streaming method: its answers depend on the images before, and `reset` forgets them.

    After every image the average moves by `1 - decay` towards the tuned tower; every `every` images the starting point
    becomes `weight` of the average and the rest the model's own weights. One object serves one model.
    """

    def __init__(self, *, decay: float = 0.9998, every: int = 64, weight: float = 1.0) -> None:
        if not 0 <= decay <= 1 or every < 1 or not 0 <= weight <= 1:
            raise UsageError(
                "momentum needs decay and weight between 0 and 1 and every of at least 1; "
                f"got decay={decay}, every={every}, weight={weight}."
            )
        self.decay, self.every, self.weight = decay, every, weight
        self.reset()

    def reset(self) -> None:
        """Forget every image."""
        self._own: Snapshot = {}
        self._average: dict[str, torch.Tensor] = {}
        self._start: Snapshot | None = None
        self._seen = 0

    def start(self, encoder: VisionTunable) -> Snapshot | None:
        """Where the next image starts; None is the tower as it is. Called while the tower holds its own weights."""
        if not self._own:
            self._own = encoder.snapshot_vision()
            self._average = {name: value.clone() for name, value in self._own.items() if value.is_floating_point()}
        return self._start

    def update(self, encoder: VisionTunable) -> None:
        """Take the tuned tower into the average."""
        tuned = encoder.snapshot_vision()
        for name, average in self._average.items():
            average.mul_(self.decay).add_(tuned[name], alpha=1 - self.decay)
        self._seen += 1
        if self._seen % self.every == 0:
            mixed = {name: torch.lerp(self._own[name], value, self.weight) for name, value in self._average.items()}
            self._start = {**self._own, **mixed}
