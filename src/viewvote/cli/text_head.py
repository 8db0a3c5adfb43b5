"""`viewvote text-head`: class vectors as files that stand in for a text tower."""

from pathlib import Path
from typing import Annotated

import typer

from .completion import offer_models, offer_templates
from .guard import guarded

app = typer.Typer(no_args_is_help=True, help="Class vectors as files, for models without a text tower.")

HELP = """Write the class vectors of a model's text tower: .safetensors, or .npy with a small .json beside it.

[bold]Example[/bold]

  viewvote text-head export open_clip:ViT-B-16/openai --labels-file labels.txt --out head.npy

  viewvote eval --dataset photos/ --model clip-b16 --text-head head.npy
"""


@app.command(help=HELP)
@guarded
def export(
    model: Annotated[str, typer.Argument(help="Model id with a text tower.", autocompletion=offer_models)],
    labels_file: Annotated[Path, typer.Option(metavar="FILE", help="A file of labels, as of `classify`.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The .npy or .safetensors file to write.")],
    templates: Annotated[
        str, typer.Option(help="Template set, or a template with {}.", autocompletion=offer_templates)
    ] = "photo",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
) -> None:
    """Write the class vectors of a model's text tower."""
    from ..encoders import load_encoder
    from ..encoders.head_file import beside, checked_suffix, write_head_file
    from ..encoders.text_head import encode_classes
    from ..labels.files import read_labels
    from ..labels.templates import resolve_templates
    from ..labels.texts import checked_texts
    from ..outputs import check_output

    for path in (out, *beside(checked_suffix(out))):
        check_output(path, overwrite=overwrite)
    (labels, own_texts), texts = checked_texts(read_labels(labels_file)), resolve_templates(templates)
    encoder = load_encoder(model)
    features = encode_classes(encoder, own_texts, templates=texts)
    info = {"model": encoder.model_id, "templates": list(texts), "labels": list(labels), "scale": encoder.logit_scale}
    write_head_file(out, features, info=info)
    typer.echo(f"{out}: {features.shape[0]} classes x {features.shape[1]}, {model}, {len(texts)} templates")
