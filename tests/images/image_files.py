"""Small pictures as files of every format, and what they are opened to."""

import io

import numpy as np
from PIL import Image

from viewvote.images.photo import open_photo

QUADRANTS = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 255]]], dtype=np.uint8)  # R G / B W

Image.init()
AVIF = ["AVIF"] if "AVIF" in Image.SAVE else []
"""Not every build of Pillow has it."""


def encode(image, fmt="PNG", **options):
    out = io.BytesIO()
    image.save(out, fmt, **options)
    return out.getvalue()


def pixels(source, **kw):
    return np.asarray(open_photo(source, **kw).full())
