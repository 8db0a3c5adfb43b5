"""Write the example photographs from the files that the scikit-image 0.26 wheel carries."""

from __future__ import annotations

import argparse
import importlib.resources
from pathlib import Path

from PIL import Image

NAMES = {"cat": "chelsea.png", "coffee": "coffee.png", "rocket": "rocket.jpg", "astronaut": "astronaut.png"}


def main() -> None:
    """Save each as JPEG, at most 1024 pixels wide or high."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    folder = importlib.resources.files("skimage") / "data"
    for name, file in NAMES.items():
        with Image.open(str(folder / file)) as image:
            photo = image.convert("RGB")
            photo.thumbnail((1024, 1024))
            photo.save(Path(__file__).parents[1] / "examples" / "photos" / f"{name}.jpg", quality=90)


if __name__ == "__main__":
    main()
