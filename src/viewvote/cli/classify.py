"""`viewvote classify`: photos and labels in words in, answers out."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from . import bulk
from . import options as opt
from .context import ContextMixOption

Format = Literal["table", "json", "jsonl", "csv"]
FIRST = ("labels", "labels_file", "model", "views", "output", "explain")
"""What a newcomer needs; `--help` starts with them."""

HELP = """Classify images by labels in words: augment, predict, keep the confident views, vote.

[bold]Examples[/bold]

  viewvote classify photo.jpg --labels "cat,dog,rocket"

  viewvote classify photos/ --labels-file labels.txt --output answers.jsonl

  viewvote classify "photos/**/*.png" --labels "cat,dog" --method zero-shot --format csv

  viewvote classify photos/ --labels "cat,dog,guitar" --context self

  viewvote classify --features features --labels "indoors,outdoors"

  viewvote classify "shards/{000..127}.tar" --labels-file labels.txt --output answers.parquet/

  cat photo.jpg | viewvote classify - --labels "cat,dog" --format json --trace

  find . -name "*.jpg" -newer last | viewvote classify - --labels "cat,dog"

  viewvote classify --watch incoming/ --labels "cat,dog" --output answers.jsonl --resume
"""


@dataclass(frozen=True)
class ClassifyOptions:
    """What `viewvote classify` is asked; None is what the features were made with, or else the default."""

    images: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="IMAGE|FOLDER|-...",
            help="What to classify: images, folders, patterns, shards, tables, addresses; - is an image or paths on "
            "standard input.",
        ),
    ] = None
    watch: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Classify what is in this folder and what comes into it, until Ctrl-C.",
            rich_help_panel=opt.ASK,
        ),
    ] = None
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="In place of images: those that `viewvote encode` wrote there.",
            rich_help_panel=opt.ASK,
        ),
    ] = None
    labels: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Labels, separated by commas.", rich_help_panel=opt.ASK)
    ] = None
    labels_file: opt.LabelsFileOption = None
    labels_column: opt.LabelsColumnOption = None
    templates: opt.TemplatesOption[str | None] = None
    abstain_below: Annotated[
        float, typer.Option(metavar="P", help="Give no label below this probability.", rich_help_panel=opt.ASK)
    ] = 0.0
    none: Annotated[
        bool,
        typer.Option("--none", help="Also answer 'none of these' where no label is shown.", rich_help_panel=opt.ASK),
    ] = False
    multi_label: Annotated[
        bool,
        typer.Option("--multi-label", help="Answer yes or no for each label alone.", rich_help_panel=opt.ASK),
    ] = False
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="P|LABEL=P",
            help="With --multi-label: yes from this probability on; may be repeated for single labels.",
            rich_help_panel=opt.ASK,
        ),
    ] = None
    calibration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A file of `viewvote calibrate`: how a probability is made.", rich_help_panel=opt.ASK
        ),
    ] = None
    max_pixels: opt.MaxPixelsOption = None
    max_bytes: opt.MaxBytesOption = None
    context: Annotated[
        str | None,
        typer.Option(
            metavar="self|FILE",
            help="Take off what all photos attract: those at hand, or a file of `viewvote context`.",
            rich_help_panel=opt.ASK,
        ),
    ] = None
    context_mix: ContextMixOption = None
    model: opt.ModelOption[str | None] = None
    teacher: opt.TeacherOption = None
    text_head: opt.TextHeadOption = None
    device: opt.DeviceOption[str] = "auto"
    dtype: opt.DtypeOption[opt.Dtype] = "fp32"
    runtime: opt.RuntimeOption[opt.Runtime] = "auto"
    precision: opt.PrecisionOption[opt.Precision] = "auto"
    batch_views: opt.BatchViewsOption = None
    decode_memory: Annotated[
        int, typer.Option(min=1, metavar="BYTES", help="Memory for decoding images.", rich_help_panel=opt.MODEL)
    ] = 1_000_000_000
    decode_seconds: Annotated[
        float,
        typer.Option(
            min=0.1, metavar="SECONDS", help="Time after which decoding one is given up.", rich_help_panel=opt.MODEL
        ),
    ] = 20.0
    method: opt.MethodOption[str] = "auto"
    settings: opt.SettingsOption = None
    views: opt.ViewsOption[str | None] = None
    keep: opt.KeepOption = None
    stop: opt.StopOption = None
    disagreement: opt.DisagreementOption = None
    augment: opt.AugmentOption[opt.Augment | None] = None
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Seed of the views.", show_default="0", rich_help_panel=opt.VOTE)
    ] = None
    format: Annotated[
        Format | None,
        typer.Option(
            help="What is written for each image.",
            show_default="by the ending of --output, else table",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the results to this file.", rich_help_panel=opt.OUTPUT)
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue --output where it stopped.", rich_help_panel=opt.OUTPUT)
    ] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --output.", rich_help_panel=opt.OUTPUT)] = (
        False
    )
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="How many labels to show with their scores.",
            show_default="3; all in json and jsonl",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None
    trace: Annotated[
        bool, typer.Option("--trace", help="Add every view to json and jsonl.", rich_help_panel=opt.OUTPUT)
    ] = False
    explain: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write a picture of why per image here, and a page of them: index.html.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None
    image_column: bulk.ImageColumnOption = None
    path_column: bulk.PathColumnOption = None
    keep_columns: bulk.KeepColumnsOption = None
    part_images: bulk.PartImagesOption = 1000
    engine: bulk.EngineOption = "local"
    ray_address: bulk.RayAddressOption = None
    actors: bulk.ActorsOption = 2
    cpus_per_actor: bulk.CpusOption = 1.0
    gpus_per_actor: bulk.GpusOption = 0.0
    wait_for_nodes: bulk.WaitOption = 600.0
    plugins: opt.PluginOption = None
    quiet: opt.QuietOption = False


@opt.takes(ClassifyOptions, first=FIRST)
def classify(asked: ClassifyOptions) -> int:
    """Classify images by labels in words."""
    opt.load_plugins(asked.plugins)
    if bulk.is_bulk(asked):
        from .bulk_answers import write_bulk

        return write_bulk(asked)
    from .answers import write_answers

    return write_answers(asked)
