"""What unlabelled photos show of a model: which labels attract all of them, and what to take off for it."""

from .base import Context

__all__ = ["Context"]
