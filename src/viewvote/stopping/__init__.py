"""Views in rounds: when enough of them have been seen, and how that was calibrated."""

from .adaptive import Adaptive
from .rules import Confident, Exact, StoppingRule

__all__ = ["Adaptive", "Confident", "Exact", "StoppingRule"]
