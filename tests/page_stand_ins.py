"""What the pages speak of and a checkout does not have, small and on this machine.

Photographs, shards and runs; two data sets of the catalog: ImageNet-A with as many images as it has, ImageNet with
one of each class; a CLIP of random weights with prompts of CoOp and MaPLe for it.
"""

import json
import math
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from PIL import Image

from tests.datasets.miniature import build
from tests.runs.colour_runs import colour_folder

ROOT = Path(__file__).parents[1]
LABELS = ("astronaut", "cat", "coffee cup", "rocket")


def viewvote(*args, cwd):
    """A command that must end well."""
    done = subprocess.run([sys.executable, "-m", "viewvote", *args], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def put_photographs(folder):
    """Photographs in class folders, alone and in shards, a list of labels, and runs of two seeds with details."""
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in LABELS))
    photos = [Image.open(photo).resize((192, 192)) for photo in sorted((ROOT / "examples" / "photos").glob("*.jpg"))]
    for label, photo, other in zip(LABELS, photos, [*photos[1:], photos[0]], strict=True):
        (folder / "photos" / label).mkdir(parents=True)
        for i in range(13):  # 52 in all: a calibration asks for 50; the last are hard, so that seeds differ
            shown = photo.copy()
            shown.paste(other.crop((0, 0, 13 * i, 192)), (0, 0))
            shown.save(folder / "photos" / label / f"{i:02}.jpg")
    shutil.copy(folder / "photos/rocket/00.jpg", folder / "photos/cat/mistake.jpg")
    shutil.copytree(folder / "photos", folder / "my-photos")
    shutil.copy(ROOT / "examples" / "photos" / "cat.jpg", folder / "photo.jpg")
    shutil.copy(ROOT / "examples" / "photos" / "rocket.jpg", folder / "new.jpg")
    (folder / "shards").mkdir()
    for shard in ("000", "001"):
        with tarfile.open(folder / "shards" / f"{shard}.tar", "w") as tar:
            (folder / "beside.json").write_text(json.dumps({"url": shard}))
            tar.add(folder / "photo.jpg", f"{shard}.jpg")
            tar.add(folder / "beside.json", f"{shard}.json")
    for method in ("zero", "anchored"):
        line = ["eval", "--dataset", "photos", "--views", "8", "--method", method, "--seeds", "0,1", "--detail"]
        viewvote(*line, "--format", "json", cwd=folder)


def put_many_runs(folder):
    """Two seeds of 300 small pictures that a toy has seen: enough for a rate of one in a hundred."""
    colour_folder(folder / "colours", each=100)
    line = ["eval", "--dataset", "colours", "--model", "toy", "--method", "anchored", "--seeds", "0,1", "--quiet"]
    viewvote(*line, "--out", "many", cwd=folder)


def put_data(folder):
    """ImageNet with an image of each class, and all that is asked of ImageNet-A."""
    build(folder, "imagenet")
    labels = build(folder, "imagenet-a", per_class=38)
    images = folder / "imagenet-adversarial" / "imagenet-a"
    for key in [key for key in labels if key.endswith("/37.JPEG")][:100]:
        (images / key).unlink()


def put_models(folder, photographs):
    """A CLIP with features as wide as ViT-B/16's and its scale; prompts for it, and statistics of photographs."""
    import torch
    from safetensors.torch import load_file, save_file

    from tests.encoders.checkpoints.dassl_files import coop_state, maple_state, save_dassl
    from tests.encoders.torch.tiny_torch import TEXT, VISION, write_open_clip

    weights = write_open_clip(folder / "clip", embed_dim=512, quick_gelu=True) / "open_clip_model.safetensors"
    save_file(load_file(weights) | {"logit_scale": torch.tensor(math.log(100.0))}, weights)
    save_dassl(folder / "vit_b16_ep50.pth", coop_state(4, width=TEXT["width"]))
    deep = maple_state(3, text_width=TEXT["width"], vision_width=VISION["width"])
    maple = save_dassl(folder / "model.pth.tar-2", deep, epoch=2)
    asked = ["--model", f"maple:{maple}@open_clip:local-dir:clip", "--limit", "2", "--output", "imagenet.safetensors"]
    viewvote("statistics", str(photographs), *asked, cwd=folder)
