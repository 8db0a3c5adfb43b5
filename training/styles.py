"""Drawing-like renderings of a photograph, so that the tower learns that a drawing shows the same thing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

Style = Callable[[Image.Image, np.random.Generator], Image.Image]


def _lines(image: Image.Image, rng: np.random.Generator) -> np.ndarray:
    """Dark lines on white in [0, 1]: a soft threshold of a difference of Gaussians."""
    grey = ImageOps.autocontrast(image.convert("L"), cutoff=2)
    sigma = rng.uniform(0.7, 2.0)
    fine = np.asarray(grey.filter(ImageFilter.GaussianBlur(sigma)), np.float32)
    coarse = np.asarray(grey.filter(ImageFilter.GaussianBlur(1.6 * sigma)), np.float32)
    edge = coarse - fine - rng.uniform(1.5, 5.0)  # darker than the surround
    return 1 - np.clip(edge * rng.uniform(0.15, 0.6), 0, 1)


def _rgb(plane: np.ndarray) -> Image.Image:
    return Image.fromarray(np.clip(plane * 255, 0, 255).astype(np.uint8)).convert("RGB")


def sketch(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Black lines on white paper."""
    return _rgb(_lines(image, rng))


def pencil(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """A shaded drawing: the grey image divided by its blur."""
    grey = np.asarray(image.convert("L"), np.float32) / 255
    blurred = image.convert("L").filter(ImageFilter.GaussianBlur(rng.uniform(2, 8)))
    return _rgb((grey / (np.asarray(blurred, np.float32) / 255 + 0.03)) ** rng.uniform(1, 5))


def contour(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Gradient magnitude, drawn dark on white."""
    grey = np.asarray(image.convert("L").filter(ImageFilter.GaussianBlur(rng.uniform(0.8, 2.5))), np.float32)
    down, right = np.gradient(grey)
    strength = np.hypot(down, right)
    return _rgb(1 - np.clip(strength / (np.percentile(strength, 97) + 1e-3), 0, 1) ** rng.uniform(0.8, 2.0))


def cartoon(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Flat saturated colours with dark outlines."""
    flat = image
    for _ in range(2):
        flat = flat.filter(ImageFilter.MedianFilter(7 if rng.random() < 0.5 else 5))
    flat = ImageOps.posterize(flat, int(rng.integers(2, 4)))
    flat = ImageEnhance.Color(ImageOps.autocontrast(flat)).enhance(rng.uniform(1.2, 2.5))
    colours = np.asarray(flat, np.float32) / 255
    return Image.fromarray((colours * _lines(image, rng)[..., None] * 255).astype(np.uint8))


def painting(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Patches of one colour, as a brush leaves them, with a changed palette."""
    small = image.resize((112, 112), Image.Resampling.BILINEAR).filter(ImageFilter.ModeFilter(int(rng.integers(3, 6))))
    patches = small.resize(image.size, Image.Resampling.BICUBIC)
    toned = ImageEnhance.Color(patches).enhance(rng.uniform(0.5, 1.8))
    tint = rng.uniform(0.75, 1.25, 3)
    noisy = np.asarray(toned, np.float32) * tint + rng.normal(0, 8, (image.height, image.width, 1))
    return Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))


def grey(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Grey levels only."""
    return ImageEnhance.Contrast(image.convert("L").convert("RGB")).enhance(rng.uniform(0.7, 1.6))


STYLES: tuple[Style, ...] = (sketch, sketch, pencil, contour, cartoon, cartoon, painting, grey)


def draw(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """The view in one style drawn at random."""
    return STYLES[int(rng.integers(len(STYLES)))](image, rng)


def draw_style(photo: int, view: int = 0) -> int:
    """The index of the style in which `draw` rendered that photo's view (the generator's first draw)."""
    return int(np.random.default_rng([photo, view, 1]).integers(len(STYLES)))
