"""`viewvote eval`: runs over datasets that can be killed and continued."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from . import options as opt
from .completion import offer_datasets, offer_templates

Format = Literal["table", "json"]
EngineName = Literal["local", "ray"]

HELP = """Evaluate a model and a method on datasets. Killed at any moment, the same command continues.

[bold]Examples[/bold]

  viewvote eval --dataset photos/ --views 16

  viewvote eval --dataset imagenet-a --model open_clip:ViT-B-16/openai --seeds 0,1,2

  viewvote eval --dataset fine-grained --method zero,zero-shot,marginal --limit 500 --format json

  viewvote eval --spec run.toml --engine ray --actors 8 --gpus-per-actor 0.5
"""


@dataclass(frozen=True)
class EvalOptions:
    """What `viewvote eval` is asked; None is what the spec file has, or else the default."""

    dataset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|SUITE|DIR",
            help="What to evaluate on; may be repeated.",
            autocompletion=offer_datasets,
            rich_help_panel=opt.ASK,
        ),
    ] = None
    root: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder that holds the datasets.",
            show_default="the variable VIEWVOTE_DATA",
            rich_help_panel=opt.ASK,
        ),
    ] = None
    dataset_cards: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|DIR",
            help="Cards of datasets of your own.",
            show_default="the variable VIEWVOTE_DATASETS",
            rich_help_panel=opt.ASK,
        ),
    ] = None
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="What the labels of your own data mean: a catalog name, or a file of names.",
            rich_help_panel=opt.ASK,
        ),
    ] = None
    templates: Annotated[
        str | None,
        typer.Option(
            metavar="SET|TEXT",
            help="Template set, a template with {}, or 'dataset' for the dataset's own.",
            autocompletion=offer_templates,
            rich_help_panel=opt.ASK,
        ),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", help="So many samples, evenly spaced over the dataset.", rich_help_panel=opt.ASK),
    ] = None
    order: Annotated[
        Literal["dataset", "shuffled"] | None,
        typer.Option(
            help="Order of the samples.", show_default="dataset; streaming methods: shuffled", rich_help_panel=opt.ASK
        ),
    ] = None
    spec: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A TOML file of these settings; options override it.", rich_help_panel=opt.ASK
        ),
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="paper|ROW",
            help="What the authors of each method ran: paper, a row of the paper's tables such as rlcf-t3-image, or a "
            "correction by other images: dn, frolic.",
            rich_help_panel=opt.ASK,
        ),
    ] = None
    model: opt.ModelOption[str | None] = None
    teacher: opt.TeacherOption = None
    text_head: opt.TextHeadOption = None
    device: opt.DeviceOption[str | None] = None
    dtype: opt.DtypeOption[opt.Dtype | None] = None
    runtime: opt.RuntimeOption[opt.Runtime | None] = None
    precision: opt.PrecisionOption[opt.Precision | None] = None
    method: opt.MethodOption[str | None] = None
    settings: opt.SettingsOption = None
    views: opt.ViewsOption[str | None] = None
    keep: opt.KeepOption = None
    stop: opt.StopOption = None
    disagreement: opt.DisagreementOption = None
    augment: opt.AugmentOption[opt.Augment | None] = None
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="Seeds of the views, one run each.",
            show_default="0",
            rich_help_panel=opt.VOTE,
        ),
    ] = None
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of all runs.", rich_help_panel=opt.OUTPUT)] = (
        Path("runs")
    )
    format: Annotated[Format, typer.Option(help="How results are printed.", rich_help_panel=opt.OUTPUT)] = "table"
    log_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the log of all runs here too.", rich_help_panel=opt.OUTPUT),
    ] = None
    detail: Annotated[
        bool | None,
        typer.Option(
            "--detail",
            help="Also record what the studies jury, risk and independence need: about 16 bytes per class and image.",
            show_default=False,
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Try unreadable images again.", rich_help_panel=opt.RUN)
    ] = False
    engine: Annotated[EngineName, typer.Option(help="What computes the records.", rich_help_panel=opt.RUN)] = "local"
    threads: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="CPU threads of ONNX packs, with the local engine; 0 is one per core.",
            rich_help_panel=opt.RUN,
        ),
    ] = 0
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Ray cluster.",
            show_default="Ray on this machine",
            rich_help_panel=opt.CLUSTER,
        ),
    ] = None
    actors: Annotated[
        int, typer.Option(min=1, metavar="N", help="Models at work at a time.", rich_help_panel=opt.CLUSTER)
    ] = 2
    cpus_per_actor: Annotated[
        float, typer.Option(min=0, metavar="N", help="Cores per actor.", rich_help_panel=opt.CLUSTER)
    ] = 1.0
    gpus_per_actor: Annotated[
        float, typer.Option(min=0, metavar="N", help="Share of a GPU per actor.", rich_help_panel=opt.CLUSTER)
    ] = 0.0
    plugins: opt.PluginOption = None
    quiet: opt.QuietOption = False


@opt.takes(EvalOptions)
def evaluate(asked: EvalOptions) -> int:
    """Evaluate a model and a method on datasets."""
    from .summaries import write_summaries

    opt.load_plugins(asked.plugins)
    return write_summaries(asked)
