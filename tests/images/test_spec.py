"""How a model wants its images: what makes no sense is refused."""

import pytest

from viewvote.errors import UsageError
from viewvote.images.spec import ImageSpec


@pytest.mark.parametrize(
    "changes",
    [{"size": 0}, {"std": (1, 1, 0)}, {"mean": (1, 1)}, {"short_side": 200}],
)
def test_an_impossible_image_spec_is_an_error(changes):
    with pytest.raises(UsageError):
        ImageSpec(**({"size": 224} | changes))


def test_the_short_side_is_the_size_unless_given():
    assert ImageSpec(size=224).short_side == 224
    assert ImageSpec(size=224, short_side=256).short_side == 256
