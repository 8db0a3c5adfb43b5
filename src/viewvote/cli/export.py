"""`viewvote export`: a torch model written as a pack that runs without torch."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .edge import complain, guarded
from .inputs import expand

if TYPE_CHECKING:
    from ..types import ImageSpec, UInt8

MOST_IMAGES = 64
VIEWS_PER_IMAGE = 4

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
    from ..encoders.export import export_pack
    from ..errors import UsageError

    if int8 and not images:
        raise UsageError("--int8 is calibrated on your kind of images; give some with --images FOLDER.")
    encoder = load_encoder(model, LoadOptions(device="cpu"))
    views = _draw(encoder.image_spec, expand(images)) if images else _patterns(encoder.image_spec)
    report = export_pack(encoder, out, views=views, int8=int8, overwrite=overwrite)
    if quiet:
        return
    for name, size in report.sizes.items():
        typer.echo(f"{size / 1e6:9.1f} MB  {report.folder / name}")
    on = "their views" if images else "drawn patterns (give --images for a test on photographs)"
    typer.echo(f"texts: least cosine {report.text_cosine_min:.5f}; views: {on}")
    typer.echo(f"fp32: {report.fp32}")
    if report.int8 is not None:
        typer.echo(f"int8: {report.int8}")
    typer.echo(f'Use it with: viewvote classify IMAGE --labels "..." --model onnx:{report.folder}')


def _draw(spec: "ImageSpec", paths: list[str]) -> "UInt8":
    """A few views of each image (views, size, size, 3); images that cannot be read are named and left out."""
    import numpy as np

    from ..errors import ImageError, UsageError
    from ..images import open_photo
    from ..rng import sample_rng
    from ..views import render_views, sample_views

    drawn = []
    for path in paths[:: max(1, len(paths) // MOST_IMAGES)][:MOST_IMAGES]:
        try:
            photo = open_photo(path)
            rng = sample_rng(seed=0, dataset="export", key=photo.key)
            drawn.append(render_views(photo, sample_views(photo.size, spec, n_views=VIEWS_PER_IMAGE, rng=rng), spec))
        except ImageError as error:
            complain(str(error))
    if not drawn:
        raise UsageError("none of the images can be read; give others with --images.")
    return np.concatenate(drawn)


def _patterns(spec: "ImageSpec") -> "UInt8":
    """Smooth coloured patterns (8, size, size, 3): enough to see whether two graphs compute the same."""
    import numpy as np

    from ..rng import sample_rng

    numbers = sample_rng(seed=0, dataset="export", key="patterns").uniform(8, 3, 3)
    y, x = np.mgrid[0 : spec.size, 0 : spec.size] / spec.size
    waves = [np.sin(20 * (a * x + b * y) + 6 * c) for pattern in numbers for a, b, c in pattern]
    pixels = np.reshape(waves, (8, 3, spec.size, spec.size)).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(127.5 + 127.5 * pixels).astype(np.uint8)
