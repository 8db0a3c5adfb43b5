"""Pictures of one colour that the tests of classifiers share."""

import io

from PIL import Image

RED, GREEN, BLUE = (250, 0, 0), (0, 250, 0), (0, 0, 250)


def picture(colour=RED, size=(40, 30)):
    return Image.new("RGB", size, colour)


def encoded(image, kind="PNG"):
    """The bytes of an image file."""
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def same(one, other):
    """Whether two predictions say the same to the last bit, wherever the image came from."""
    left, right = one.to_dict(trace=True), other.to_dict(trace=True)
    for values in (left, right):
        values.pop("timings")
        values.pop("path")
    return left == right
