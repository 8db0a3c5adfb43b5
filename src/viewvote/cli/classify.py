"""`viewvote classify`: photos and labels in words in, answers out."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import UsageError
from . import options as opt
from .explanations import Explainer
from .guard import complain
from .output import RESUMABLE, Format, Writer, open_output
from .progress import progress
from .values import read_labels, read_settings, read_views

if TYPE_CHECKING:
    from ..classify.classifier import Classifier

HELP = """Classify images by labels in words: augment, predict, keep the confident views, vote.

[bold]Examples[/bold]

  viewvote classify photo.jpg --labels "cat,dog,rocket"

  viewvote classify photos/ --labels-file labels.txt --format jsonl --output answers.jsonl

  viewvote classify "photos/**/*.png" --labels "cat,dog" --method zero-shot --format csv

  cat photo.jpg | viewvote classify - --labels "cat,dog" --format json --trace
"""


@dataclass(frozen=True)
class ClassifyOptions:
    """What `viewvote classify` is asked."""

    images: Annotated[list[str], typer.Argument(metavar="IMAGE|FOLDER|GLOB|-...", help="What to classify.")]
    labels: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Labels, separated by commas.", rich_help_panel=opt.ASK)
    ] = None
    labels_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with one label a line.", rich_help_panel=opt.ASK)
    ] = None
    templates: opt.TemplatesOption[str | None] = None
    abstain_below: Annotated[
        float, typer.Option(metavar="SHARE", help="Give no label below this confidence.", rich_help_panel=opt.ASK)
    ] = 0.0
    model: opt.ModelOption[str] = "pocket"
    teacher: opt.TeacherOption = None
    device: opt.DeviceOption[str] = "auto"
    dtype: opt.DtypeOption[opt.Dtype] = "fp32"
    runtime: opt.RuntimeOption[opt.Runtime] = "auto"
    precision: opt.PrecisionOption[opt.Precision] = "auto"
    batch_views: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Views encoded at once.",
            show_default="what is fastest here",
            rich_help_panel=opt.MODEL,
        ),
    ] = None
    method: opt.MethodOption[str] = "zero"
    settings: opt.SettingsOption = None
    views: opt.ViewsOption[str] = "64"
    keep: opt.KeepOption = None
    stop: opt.StopOption = None
    disagreement: opt.DisagreementOption = None
    augment: opt.AugmentOption[opt.Augment] = "crops"
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the views.", rich_help_panel=opt.VOTE)] = 0
    format: Annotated[Format, typer.Option(help="What is written for each image.", rich_help_panel=opt.OUTPUT)] = (
        "table"
    )
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
        typer.Option(metavar="DIR", help="Write one explanatory PNG per image here.", rich_help_panel=opt.OUTPUT),
    ] = None
    plugins: opt.PluginOption = None
    quiet: opt.QuietOption = False


@opt.takes(ClassifyOptions)
def classify(asked: ClassifyOptions) -> int:
    """Classify images by labels in words."""
    from ..sources import find_images

    opt.load_plugins(asked.plugins)
    if asked.resume and asked.output is None:
        raise UsageError("--resume continues a file: name it with --output.")
    if asked.resume and asked.format not in RESUMABLE:
        raise UsageError(f"--resume continues {' or '.join(RESUMABLE)} files; add --format jsonl.")
    paths = find_images(asked.images, report=complain)
    classifier = _classifier(asked)
    explainer = None if asked.explain is None else Explainer(asked.explain, paths)
    stream, done = None, set[str]()
    if asked.output is not None:
        stream, done = open_output(
            asked.output,
            asked.format,
            resume=asked.resume,
            overwrite=asked.overwrite,
            top=asked.top,
            classifier=classifier,
        )
    todo = [path for path in paths if path not in done]
    fresh = stream is None or stream.tell() == 0
    writer = Writer(stream, asked.format, top=asked.top, trace=asked.trace, width=_path_width(todo), fresh=fresh)
    try:
        failed = _run(classifier, todo, writer, batch_views=asked.batch_views, explainer=explainer, quiet=asked.quiet)
    finally:
        writer.close()
        if stream is not None:
            stream.close()
    if not asked.quiet and (len(paths) > 1 or failed):
        skipped = f", {len(done)} done before" if done else ""
        complain(f"{len(todo) - failed} classified, {failed} failed{skipped}.")
    return 1 if failed else 0


def _classifier(asked: ClassifyOptions) -> "Classifier":
    """The classifier that the options describe, its model loaded."""
    from ..classify.classifier import Classifier
    from ..encoders import LoadOptions
    from ..methods.settings import build_method
    from ..stopping.options import asked_views

    labels = read_labels(asked.labels, asked.labels_file)
    values = _with_keep(read_settings(asked.settings or []), asked.keep)
    n_views, rule = asked_views(read_views(asked.views), stop=asked.stop, disagreement=asked.disagreement)
    return Classifier(
        asked.model,
        labels=labels,
        method=build_method(asked.method, values) if values else asked.method,
        n_views=n_views,
        stop=rule,
        keep=None if values else asked.keep,
        augment=asked.augment,
        templates=asked.templates,
        teacher=asked.teacher,
        abstain_below=asked.abstain_below,
        seed=asked.seed,
        options=LoadOptions(device=asked.device, dtype=asked.dtype, runtime=asked.runtime, precision=asked.precision),
    )


def _with_keep(values: dict[str, object], keep: float | None) -> dict[str, object]:
    """The settings of --set, and --keep among them where there are any."""
    if keep is None or not values:
        return values
    if "keep" in values:
        raise UsageError("--keep and --set keep=... are the same setting; give one of them.")
    return {**values, "keep": keep}


def _run(
    classifier: "Classifier",
    paths: list[str],
    writer: Writer,
    *,
    batch_views: int | None,
    explainer: Explainer | None,
    quiet: bool,
) -> int:
    """Classify the images, report the unreadable ones, and return how many those were."""
    from dataclasses import replace

    from ..errors import ViewvoteError
    from ..sources import STDIN, read_stdin

    failed = 0
    sources = (read_stdin() if path == STDIN else path for path in paths)
    with progress(len(paths), quiet=quiet) as step:
        results = classifier.predict_many(sources, batch_views=batch_views, on_error="return")
        for path, result in zip(paths, results, strict=True):
            if isinstance(result, ViewvoteError):
                complain(str(result))
                failed += 1
            else:
                prediction = replace(result, path=path)
                writer.write(prediction)
                if explainer is not None:
                    explainer.write(path, prediction)
            step()
    return failed


def _path_width(paths: list[str]) -> int:
    columns = os.get_terminal_size().columns if os.isatty(1) else 200
    return max(10, min(max((len(path) for path in paths), default=0), columns // 2))
