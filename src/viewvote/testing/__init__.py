"""Checks for plugin authors: does an encoder or a method keep the promises that the package relies on?

from viewvote.testing import check_encoder
check_encoder(MyEncoder())          # raises ContractError, an AssertionError, with what is wrong
"""

from ..errors import ContractError
from .encoders import check_encoder

__all__ = ["ContractError", "check_encoder"]
