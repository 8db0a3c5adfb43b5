"""`viewvote text-head`: class vectors as files that stand in for a text tower."""

from pathlib import Path
from typing import Annotated

import typer

from . import options as opt
from .completion import offer_datasets, offer_models, offer_templates
from .guard import guarded

app = typer.Typer(no_args_is_help=True, help="Class vectors as files, for models without a text tower.")

HELP = """Write the class vectors of a model's text tower: .safetensors, or .npy with a small .json beside it.

[bold]Examples[/bold]

  viewvote text-head export open_clip:ViT-B-16/openai --classes imagenet --out head.npy

  viewvote eval --dataset imagenet --model clip-b16 --text-head head.npy

  viewvote text-head export pocket --labels-file labels.txt --out head.safetensors
"""


@app.command(help=HELP)
@guarded
def export(
    model: Annotated[str, typer.Argument(help="Model id with a text tower.", autocompletion=offer_models)],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The .npy or .safetensors file to write.", rich_help_panel=opt.OUTPUT)
    ],
    labels_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file of labels, as of `classify`.", rich_help_panel=opt.ASK)
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="The classes of a dataset instead: a catalog name, or a file with one a line.",
            autocompletion=offer_datasets,
            rich_help_panel=opt.ASK,
        ),
    ] = None,
    templates: Annotated[
        str,
        typer.Option(
            metavar="SET|TEXT",
            help="Template set, or a template with {}.",
            autocompletion=offer_templates,
            rich_help_panel=opt.ASK,
        ),
    ] = "photo",
    overwrite: opt.OverwriteOption = False,
) -> None:
    """Write the class vectors of a model's text tower."""
    from ..datasets import read_class_names
    from ..encoders import load_encoder
    from ..encoders.head_file import beside, checked_suffix, write_head_file
    from ..encoders.text_head import encode_classes
    from ..errors import UsageError
    from ..labels.files import read_labels
    from ..labels.templates import resolve_templates
    from ..labels.texts import checked_texts
    from ..outputs import check_output

    for path in (out, *beside(checked_suffix(out))):
        check_output(path, overwrite=overwrite)
    if labels_file is not None and classes is None:
        given = read_labels(labels_file)
    elif classes is not None and labels_file is None:
        given = read_class_names(classes)
    else:
        raise UsageError("name the labels by one of --labels-file FILE and --classes NAME.")
    # A dataset's names may repeat: two of ImageNet's classes are "missile".
    (labels, own_texts), texts = checked_texts(given, unique=False), resolve_templates(templates)
    encoder = load_encoder(model)
    features = encode_classes(encoder, own_texts, templates=texts)
    info = {"model": encoder.model_id, "templates": list(texts), "labels": list(labels), "scale": encoder.logit_scale}
    write_head_file(out, features, info=info)
    made_of = "1 template" if len(texts) == 1 else f"{len(texts)} templates"
    typer.echo(f"{out}: {features.shape[0]} classes x {features.shape[1]}, {model}, {made_of}")
