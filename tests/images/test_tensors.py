"""Tensors of torch and what else NumPy can read: the same picture as the array, never a guess."""

import numpy as np
import pytest

from tests.conftest import draw_photo
from viewvote import Classifier
from viewvote.errors import UsageError
from viewvote.images.photo import open_photo, pinned

PIXELS = np.asarray(draw_photo(40, 30))


class Becomes:
    """An object of another library."""

    def __init__(self, pixels):
        self.pixels = pixels

    def __array__(self, dtype=None, copy=None):
        return self.pixels


def same_photo(one, other):
    return one.key == other.key and np.array_equal(one.full(), other.full())


def test_what_becomes_an_array_is_that_array():
    assert same_photo(open_photo(Becomes(PIXELS)), open_photo(PIXELS))
    with pytest.raises(UsageError, match=r"got \(30, 40, 2\)"):
        open_photo(Becomes(PIXELS[..., :2]))


def test_what_is_no_image_at_all_is_refused():
    with pytest.raises(UsageError, match="an array or a tensor; got object"):
        open_photo(object())


@pytest.mark.torch
class TestTorch:
    @pytest.fixture
    def tensor(self):
        torch = pytest.importorskip("torch")
        return torch.from_numpy(PIXELS.copy()).permute(2, 0, 1)

    def test_bytes_of_channels_first_are_the_array(self, tensor):
        assert tensor.shape == (3, 30, 40)
        assert same_photo(open_photo(tensor), open_photo(PIXELS))

    def test_floats_of_any_precision_and_with_a_gradient_are_too(self, tensor):
        floats = (tensor.double() / 255).requires_grad_()
        assert same_photo(open_photo(floats), open_photo(PIXELS))
        half = (tensor / 255).bfloat16()
        expected = half.float().numpy().transpose(1, 2, 0)
        assert same_photo(open_photo(half), open_photo(expected))

    def test_grey_is_two_numbers_or_one_channel(self, tensor):
        assert same_photo(open_photo(tensor[0]), open_photo(PIXELS[..., 0]))
        assert same_photo(open_photo(tensor[:1]), open_photo(PIXELS[..., 0]))

    def test_channels_last_is_refused_with_what_to_do(self, tensor):
        with pytest.raises(UsageError, match=r"got \(30, 40, 3\).*permute\(2, 0, 1\)"):
            open_photo(tensor.permute(1, 2, 0))

    def test_normalised_floats_are_refused(self, tensor):
        with pytest.raises(UsageError, match=r"must lie in \[0, 1\]"):
            open_photo((tensor / 255 - 0.5) / 0.25)

    def test_a_pinned_tensor_does_not_change_with_its_owner(self, tensor):
        held = pinned(tensor)
        tensor.zero_()
        assert np.array_equal(open_photo(held).full(), PIXELS)

    def test_one_and_many(self, tensor):
        torch = pytest.importorskip("torch")
        clf = Classifier("toy", labels=["red", "green"], n_views=4)
        batch = torch.stack([tensor, tensor.flip(0)])
        assert [p.index for p in clf.predict_many(batch)] == [clf(tensor).index, clf(tensor.flip(0)).index]
        with pytest.raises(UsageError, match=r"takes many images and got one \(Tensor\)"):
            clf.predict_many(tensor)
        with pytest.raises(UsageError, match=r"got a Tensor; for several, use clf\.predict_many"):
            clf(batch)
