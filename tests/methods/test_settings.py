"""Methods from names and hyper-parameters."""

import pytest

from viewvote.errors import UnknownNameError, UsageError
from viewvote.methods.settings import build_method
from viewvote.methods.streaming.tda import Tda
from viewvote.methods.zero import Zero


def test_settings_are_the_hyper_parameters():
    assert build_method("zero", {"keep": 0.5, "tie": "random"}) == Zero(keep=0.5, tie="random")
    assert build_method("zero", {}) == Zero()


def test_lists_become_tuples_as_files_know_no_others():
    assert build_method("tda", {"entropy_range": [0.1, 0.4]}) == Tda(entropy_range=(0.1, 0.4))


def test_a_setting_the_method_does_not_have_is_an_error():
    with pytest.raises(UnknownNameError, match=r"method 'zero' has no setting 'kep'\. Did you mean 'keep'\?"):
        build_method("zero", {"kep": 0.5})
    with pytest.raises(UnknownNameError, match=r"Known: none"):
        build_method("zero-shot", {"keep": 0.5})


def test_a_value_the_method_refuses_is_a_usage_error():
    with pytest.raises(UsageError):
        build_method("zero", {"keep": "much"})
