"""Methods are measured in turn."""

from viewvote.studies.cost import rounds


def test_every_image_starts_with_another_method():
    assert list(rounds(3, 2)) == [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1)]
