"""Checks for plugin authors: does an encoder or a method keep the promises that the package relies on?

from viewvote.testing import check_encoder, check_method
check_encoder(MyEncoder())          # raises ContractError, an AssertionError, with what is wrong
check_method(MyMethod())
"""

from ..errors import ContractError
from .encoders import check_encoder
from .methods import check_method

__all__ = ["ContractError", "check_encoder", "check_method"]
