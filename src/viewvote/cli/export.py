"""`viewvote export`: a torch model written as a pack that runs without torch."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .guard import complain, guarded

if TYPE_CHECKING:
    from ..prediction import ImageSpec, UInt8

MOST_IMAGES = 64
VIEWS_PER_IMAGE = 4
VIEWS_PER_EXAMPLE = 16

HELP = """Write a torch model as an ONNX pack, and print how well the pack agrees with it.

[bold]Examples[/bold]

  viewvote export open_clip:ViT-B-16/openai --out packs/vit-b-16

  viewvote export hf:openai/clip-vit-base-patch32 --out packs/b32 --int8 --images photos/
"""


@guarded
def export(
    model: Annotated[str, typer.Argument(help="Model id, such as open_clip:ViT-B-16/openai.")],
    out: Annotated[Path, typer.Option(help="The pack's folder.")],
    int8: Annotated[bool, typer.Option("--int8", help="Add an int8 vision tower, calibrated on the images.")] = False,
    images: Annotated[
        list[str] | None, typer.Option(help="Images, folders or globs to calibrate and compare on.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is in the folder.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Write a torch model as an ONNX pack."""
    from ..encoders import LoadOptions, load_encoder
    from ..encoders.export.pack import export_pack
    from ..files import example_photos
    from ..sources import find_images

    encoder = load_encoder(model, LoadOptions(device="cpu"))
    paths = find_images(images, report=complain) if images else [str(path) for path in example_photos()]
    views = _draw(encoder.image_spec, paths, n_views=VIEWS_PER_IMAGE if images else VIEWS_PER_EXAMPLE)
    report = export_pack(encoder, out, views=views, int8=int8, overwrite=overwrite)
    if quiet:
        return
    for name, size in report.sizes.items():
        typer.echo(f"{size / 1e6:9.1f} MB  {report.folder / name}")
    on = "of your images" if images else "of the shipped examples (--images FOLDER: your own kind)"
    typer.echo(f"texts: least cosine {report.text_cosine_min:.5f}; views {on}")
    typer.echo(f"fp32: {report.fp32}")
    if report.int8 is not None:
        typer.echo(f"int8: {report.int8}")
    typer.echo(f'Use it with: viewvote classify IMAGE --labels "..." --model onnx:{report.folder}')


def _draw(spec: "ImageSpec", paths: list[str], *, n_views: int) -> "UInt8":
    """A few views of each image (views, size, size, 3); images that cannot be read are named and left out."""
    import numpy as np

    from ..errors import ImageError, UsageError
    from ..images.photo import open_photo
    from ..rng import sample_rng
    from ..views.crops import render_views, sample_views

    drawn = []
    for path in paths[:: max(1, len(paths) // MOST_IMAGES)][:MOST_IMAGES]:
        try:
            photo = open_photo(path)
            rng = sample_rng(seed=0, dataset="export", key=photo.key)
            drawn.append(render_views(photo, sample_views(photo.size, spec, n_views=n_views, rng=rng), spec))
        except ImageError as error:
            complain(str(error))
    if not drawn:
        raise UsageError("none of the images can be read; give others with --images.")
    return np.concatenate(drawn)
