"""The options that commands share, in the groups of `--help`, and commands that take them as one dataclass."""

from collections.abc import Callable, Collection, Sequence
from copy import copy
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args

import typer
from typer.models import OptionInfo

from .completion import offer_methods, offer_models, offer_templates
from .guard import guarded

ASK = "What to ask"
MODEL = "Model"
VOTE = "Views and vote"
OUTPUT = "Output"
RUN = "Run"
CLUSTER = "Cluster"
OTHER = "Other"

ONE_RUN = "A folder that `viewvote eval` wrote (by default below runs/), or a folder with that run alone in it."
RUNS = "Folders that `viewvote eval` wrote (by default below runs/), or folders of them, such as runs/ itself."

# As viewvote.encoders.base and viewvote.views.sample have them, which load numpy.
Augment = Literal["crops", "augmix"]
Dtype = Literal["fp32", "fp16", "bf16"]
Runtime = Literal["auto", "onnxruntime", "openvino"]
Precision = Literal["auto", "fp32", "int8"]

Options = TypeVar("Options")
T = TypeVar("T")  # of an option's value: `eval` has `| None` where a spec file may give it

LabelsFileOption = Annotated[
    Path | None,
    typer.Option(
        "--labels-file",
        metavar="FILE",
        help="A file of labels: text with one a line, CSV, JSON (also label to texts), JSON lines.",
        rich_help_panel=ASK,
    ),
]
LabelsColumnOption = Annotated[
    str | None,
    typer.Option(
        "--labels-column",
        metavar="NAME|N",
        help="The column of a CSV, or the key in JSON, that holds the labels.",
        show_default="label, class or name",
        rich_help_panel=ASK,
    ),
]
MaxPixelsOption = Annotated[
    int | None,
    typer.Option(
        "--max-pixels",
        min=1,
        metavar="N",
        help="Refuse images of more pixels.",
        show_default="178,956,970",
        rich_help_panel=ASK,
    ),
]
MaxBytesOption = Annotated[
    int | None,
    typer.Option(
        "--max-bytes",
        min=1,
        metavar="N",
        help="Refuse files of more bytes.",
        show_default="100,000,000",
        rich_help_panel=ASK,
    ),
]
TemplatesOption = Annotated[
    T,
    typer.Option(
        metavar="SET|TEXT",
        help="Template set, or a template with {}.",
        autocompletion=offer_templates,
        rich_help_panel=ASK,
    ),
]

ModelOption = Annotated[
    T,
    typer.Option(
        metavar="ID",
        help="Model id; `viewvote models` lists them.",
        show_default="pocket",
        autocompletion=offer_models,
        rich_help_panel=MODEL,
    ),
]
TeacherOption = Annotated[
    str | None,
    typer.Option(
        metavar="ID",
        help="A stronger model that votes on the kept views.",
        autocompletion=offer_models,
        rich_help_panel=MODEL,
    ),
]
TextHeadOption = Annotated[
    Path | None,
    typer.Option(
        "--text-head",
        metavar="FILE",
        help="Vectors of the labels (.npy, .safetensors) in place of the model's text tower.",
        rich_help_panel=MODEL,
    ),
]
DeviceOption = Annotated[
    T,
    typer.Option(
        metavar="NAME",
        help="auto, cpu, cuda, cuda:1 or mps, for torch models.",
        show_default="auto",
        rich_help_panel=MODEL,
    ),
]
DtypeOption = Annotated[T, typer.Option(help="For torch models.", show_default="fp32", rich_help_panel=MODEL)]
RuntimeOption = Annotated[T, typer.Option(help="For ONNX packs.", show_default="auto", rich_help_panel=MODEL)]
PrecisionOption = Annotated[T, typer.Option(help="For ONNX packs.", show_default="auto", rich_help_panel=MODEL)]

BatchViewsOption = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Views encoded at once.", show_default="what is fastest here", rich_help_panel=MODEL
    ),
]

MethodOption = Annotated[
    T,
    typer.Option(
        metavar="NAME",
        help="Method; `viewvote methods` lists them. eval takes several: zero,zero-shot.",
        show_default="auto, the anchored vote; eval: zero",
        autocompletion=offer_methods,
        rich_help_panel=VOTE,
    ),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A hyper-parameter of the method; may be repeated.", rich_help_panel=VOTE
    ),
]
ViewsOption = Annotated[
    T,
    typer.Option(
        metavar="N|adaptive|auto",
        help="Views per image: the source view and random crops; adaptive: as many as it needs, at most 64.",
        show_default="auto, adaptive for methods that vote; eval: 64",
        rich_help_panel=VOTE,
    ),
]
KeepOption = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Share of most confident views that decide.", rich_help_panel=VOTE),
]
StopOption = Annotated[
    str | None,
    typer.Option(
        metavar="exact|FILE",
        help="exact: leave out views that cannot change the answer; or thresholds of `viewvote calibrate-stop`.",
        rich_help_panel=VOTE,
    ),
]
DisagreementOption = Annotated[
    str | None,
    typer.Option(
        metavar="RATE|noise|strict|exact",
        help="With adaptive views: accepted rate of other answers than with all views; noise: as another seed would "
        "differ, strict: 0.01, exact: none.",
        show_default="noise",
        rich_help_panel=VOTE,
    ),
]
AugmentOption = Annotated[
    T,
    typer.Option(
        help="How views are drawn; augmix mixes crops as AugMix does.", show_default="crops", rich_help_panel=VOTE
    ),
]

OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Replace the file if it exists.", rich_help_panel=OUTPUT)
]

PluginOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE.py",
        help="Load the methods, encoders and datasets that this file registers; may be repeated.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]


def takes(
    options: type[Options], *, first: Collection[str] = ()
) -> Callable[[Callable[[Options], int | None]], Callable[..., None]]:
    """A command whose options are the fields of the dataclass `options`; the function gets one, filled.

    The fields named by `first` are what `--help` shows before all groups.
    """

    def command_of(function: Callable[[Options], int | None]) -> Callable[..., None]:
        @guarded
        def command(**values: object) -> int | None:
            return function(options(**values))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = _with_first(signature(options), first)  # type: ignore[attr-defined]
        return command

    return command_of


def _with_first(options: Signature, first: Collection[str]) -> Signature:
    """The signature with those options in no group, and the others that are in none in a group of their own."""

    def placed(one: Parameter) -> Parameter:
        kind, *infos = get_args(one.annotation)
        (info,) = infos = [copy(info) for info in infos]
        if one.name in first:
            info.rich_help_panel = None
        elif isinstance(info, OptionInfo):
            info.rich_help_panel = info.rich_help_panel or OTHER
        return one.replace(annotation=Annotated[(kind, *infos)])

    return options.replace(parameters=[placed(one) for one in options.parameters.values()]) if first else options


def load_plugins(files: Sequence[Path] | None) -> None:
    """Load the files of --plugin."""
    from ..plugins import load_plugin

    for file in files or ():
        load_plugin(file)
