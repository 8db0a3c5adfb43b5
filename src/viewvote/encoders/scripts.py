"""Encoders that state which scripts they can read, and the warning where labels are in another."""

import logging
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ..labels.scripts import script_warning
from .base import Encoder

logger = logging.getLogger("viewvote.labels")


@runtime_checkable
class StatesScripts(Protocol):
    """An encoder that knows the scripts of its text side, such as ("latin",); empty where nobody has stated them."""

    @property
    def scripts(self) -> tuple[str, ...]:
        """The first words of Unicode's names of the letters that it can read, in small letters."""
        ...


def warn_of_scripts(encoder: Encoder, labels: Sequence[str]) -> None:
    """Log a warning where labels are in a script that the encoder cannot read."""
    if not isinstance(encoder, StatesScripts):
        return
    warning = script_warning(labels, encoder.scripts, model=encoder.model_id)
    if warning is not None:
        logger.warning(warning)
