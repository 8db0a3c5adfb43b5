"""The sentence of a broken promise."""

from ..errors import ContractError


def expect(kept: bool, promise: str) -> None:
    """Raise ContractError with the promise unless it is kept."""
    if not kept:
        raise ContractError(promise)
