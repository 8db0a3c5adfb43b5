"""`viewvote statistics`: the source statistics that PromptAlign aligns with, from a folder of images."""

from pathlib import Path
from typing import Annotated

import typer

from . import options as opt
from .completion import offer_models
from .guard import complain, guarded


@guarded
def statistics(
    images: Annotated[Path, typer.Argument(metavar="FOLDER", help="Images of the source data, in any subfolders.")],
    model: Annotated[
        str,
        typer.Option(
            metavar="ID",
            help="A MaPLe model: maple:CHECKPOINT@MODEL.",
            autocompletion=offer_models,
            rich_help_panel=opt.MODEL,
        ),
    ],
    output: Annotated[
        Path, typer.Option(metavar="FILE", help="The safetensors file to write.", rich_help_panel=opt.OUTPUT)
    ],
    device: opt.DeviceOption[str] = "auto",
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Use only this many images, evenly spaced.", rich_help_panel=opt.ASK),
    ] = None,
    overwrite: opt.OverwriteOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Compute the token statistics of a MaPLe model over a folder of images."""
    from ..encoders import LoadOptions, load_encoder
    from ..errors import UnsupportedEncoderError, UsageError
    from ..outputs import check_output
    from ..sources import find_images
    from .progress import progress

    if output.suffix != ".safetensors":
        raise UsageError(f"--output must end in .safetensors; got {output.name!r}.")
    check_output(output, overwrite=overwrite)
    found = find_images([str(images)], report=complain)
    if limit is not None and limit < len(found):
        found = [found[i * len(found) // limit] for i in range(limit)]

    from ..encoders.torch.learned_prompts import PromptLearner
    from ..methods.tuning.token_statistics import gather_statistics, save_statistics

    encoder = load_encoder(model, LoadOptions(device=device))
    if not isinstance(encoder, PromptLearner):
        raise UnsupportedEncoderError(f"{model!r} has no learned prompts; expected maple:CHECKPOINT@MODEL.")
    with progress(len(found), quiet=quiet) as step:

        def stepping(path: str) -> str:
            step()
            return path

        save_statistics(gather_statistics(encoder, map(stepping, found)), output)
    if not quiet:
        complain(f"statistics of {len(found)} images written to {output}.")
