"""The main job on a drawn picture: what `make demo` runs until a real model is embedded."""

import sys
from pathlib import Path

from PIL import Image, ImageDraw

from viewvote import Classifier
from viewvote.report.explain import explain

OUT = Path("demo-output")
LABELS = ["red", "green", "blue", "yellow"]


def draw_picture() -> Image.Image:
    """A red ball and a small green block on blue."""
    picture = Image.new("RGB", (500, 375), (40, 70, 190))
    draw = ImageDraw.Draw(picture)
    draw.ellipse((70, 40, 330, 300), fill=(225, 35, 30))
    draw.rectangle((350, 250, 470, 350), fill=(25, 190, 45))
    return picture


def main() -> None:
    """Classifies the drawn picture with the toy encoder and writes the explanation."""
    OUT.mkdir(exist_ok=True)
    path = OUT / "drawn.png"
    draw_picture().save(path)
    prediction = Classifier("toy", labels=LABELS)(path)
    explain(path, prediction).save(OUT / "explanation.png")
    print("No trained model is embedded yet: this uses the toy encoder, which knows seven colours, on a drawn picture.")
    print(f"{path}: {prediction.label} ({prediction.confidence:.0%} of the kept views)")
    for i in prediction.ranking():
        print(f"  {prediction.labels[i]:8} {prediction.votes[i]:3d} votes")
    print(f"Why: {OUT / 'explanation.png'}")


if __name__ == "__main__":
    sys.exit(main())
