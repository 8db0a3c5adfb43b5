"""`viewvote export`: a torch model written as a pack that runs without torch."""

from pathlib import Path
from typing import Annotated

import typer

from . import options as opt
from .completion import offer_models
from .guard import complain, guarded

VIEWS_PER_IMAGE = 4
VIEWS_PER_EXAMPLE = 16
TOWERS = "Precision and agreement"

HELP = """Write a torch model as an ONNX pack, and print how well the pack agrees with it.

[bold]Examples[/bold]

  viewvote export open_clip:ViT-B-16/openai --out packs/vit-b-16

  viewvote export hf:openai/clip-vit-base-patch32 --out packs/b32 --int8 --images photos/
"""


@guarded
def export(
    model: Annotated[
        str,
        typer.Argument(metavar="ID", help="Model id, such as open_clip:ViT-B-16/openai.", autocompletion=offer_models),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The pack's folder.", rich_help_panel=opt.OUTPUT)],
    int8: Annotated[
        bool,
        typer.Option("--int8", help="Add an int8 vision tower, calibrated on the images.", rich_help_panel=TOWERS),
    ] = False,
    images: Annotated[
        list[str] | None,
        typer.Option(
            metavar="IMAGE|FOLDER|GLOB",
            help="Calibrate and compare on these; may be repeated.",
            show_default="the shipped examples",
            rich_help_panel=TOWERS,
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what is in the folder.", rich_help_panel=opt.OUTPUT)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Write a torch model as an ONNX pack."""
    from ..encoders import LoadOptions, load_encoder
    from ..encoders.export.pack import export_pack
    from ..encoders.export.views import calibration_views
    from ..files import example_photos
    from ..outputs import check_folder
    from ..sources import find_images

    check_folder(out, overwrite=overwrite)  # before the model is loaded, and again before it is written
    encoder = load_encoder(model, LoadOptions(device="cpu"))
    paths = find_images(images, report=complain) if images else [str(path) for path in example_photos()]
    n_views = VIEWS_PER_IMAGE if images else VIEWS_PER_EXAMPLE
    views = calibration_views(paths, encoder.image_spec, n_views=n_views, report=complain)
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
