"""Any exception becomes the error of its image, in one line."""

import pytest
from PIL import UnidentifiedImageError

from viewvote.errors import ImageTooLargeError, UnreadableImageError, UsageError
from viewvote.images.failures import image_errors, shown


class ForeignError(Exception):
    """Of a library that nobody knows."""


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ForeignError("box can't be empty"), "box can't be empty."),
        (ForeignError(), "ForeignError."),
        (ForeignError("two\nlines."), r"two\\nlines."),
        (MemoryError(), "memory ran out."),
        (RecursionError("too deep"), "too deep."),
        (UnidentifiedImageError("<_io.BytesIO object>"), "it is not an image in a known format."),
        (PermissionError(13, "Permission denied", "photo.jpg"), "Permission denied."),
    ],
)
def test_whatever_is_raised_names_the_image_and_the_reason(error, reason):
    wanted = pytest.raises(UnreadableImageError, match=rf"^cannot draw photo\.jpg: {reason}$")
    with wanted as caught, image_errors("photo.jpg", doing="draw"):
        raise error
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [ImageTooLargeError("large"), UsageError("usage")])
def test_errors_of_ours_stay_what_they_are(error):
    with pytest.raises(type(error)) as caught, image_errors("photo.jpg"):
        raise error
    assert caught.value is error


def test_ctrl_c_is_no_error_of_an_image():
    with pytest.raises(KeyboardInterrupt), image_errors("photo.jpg"):
        raise KeyboardInterrupt


def test_what_is_shown_is_one_line_of_bounded_length():
    assert shown("a\nb\ud800c\x1b[2J") == r"a\nb\ud800c\x1b[2J"
    assert shown("x" * 201) == "x" * 100 + " ... " + "x" * 100
    assert shown("Zürich 東京.jpg") == "Zürich 東京.jpg"
