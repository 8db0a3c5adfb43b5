"""`viewvote classify`: photos and labels in words in, answers out."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ..errors import UsageError
from .completion import offer_methods, offer_models, offer_templates, offering
from .explanations import Explainer
from .guard import complain, guarded
from .output import FORMATS, RESUMABLE, Writer, open_output
from .progress import progress
from .values import read_labels, read_settings, read_views

if TYPE_CHECKING:
    from ..classify.classifier import Classifier
    from ..encoders.base import Dtype, Precision, Runtime
    from ..views.sample import Augment

PRECISIONS = ("auto", "fp32", "int8")
RUNTIMES = ("auto", "onnxruntime", "openvino")

HELP = """Classify images by labels in words: augment, predict, keep the confident views, vote.

[bold]Examples[/bold]

  viewvote classify photo.jpg --labels "cat,dog,rocket"

  viewvote classify photos/ --labels-file labels.txt --format jsonl --output answers.jsonl

  viewvote classify "photos/**/*.png" --labels "cat,dog" --method zero-shot --format csv

  cat photo.jpg | viewvote classify - --labels "cat,dog" --format json --trace
"""


@guarded
def classify(
    images: Annotated[list[str], typer.Argument(metavar="IMAGE|FOLDER|GLOB|-...", help="What to classify.")],
    labels: Annotated[str | None, typer.Option(help="Labels, separated by commas.")] = None,
    labels_file: Annotated[Path | None, typer.Option(help="A file with one label a line.")] = None,
    model: Annotated[
        str, typer.Option(help="Model id; `viewvote models` lists them.", autocompletion=offer_models)
    ] = "pocket",
    method: Annotated[
        str, typer.Option(help="Method; `viewvote methods` lists them.", autocompletion=offer_methods)
    ] = "zero",
    views: Annotated[
        str, typer.Option(help="Views per image, the whole and random crops: a number, or adaptive (at most 64).")
    ] = "64",
    stop: Annotated[
        str | None,
        typer.Option(help="exact (leave out views that cannot change the answer), or a file of calibrate-stop."),
    ] = None,
    disagreement: Annotated[
        float | None, typer.Option(help="With adaptive views: accepted rate of other answers than with all. [0.01]")
    ] = None,
    keep: Annotated[float | None, typer.Option(help="Share of most confident views that decide.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A hyper-parameter of the method, KEY=VALUE; may be repeated.")
    ] = None,
    augment: Annotated[
        str,
        typer.Option(
            help="Views: crops | augmix (crops mixed as AugMix does).", autocompletion=offering(("crops", "augmix"))
        ),
    ] = "crops",
    templates: Annotated[
        str | None, typer.Option(help="Template set, or a template with {}.", autocompletion=offer_templates)
    ] = None,
    teacher: Annotated[
        str | None, typer.Option(help="A stronger model that votes on the kept views.", autocompletion=offer_models)
    ] = None,
    abstain_below: Annotated[float, typer.Option(help="Give no label below this confidence.")] = 0.0,
    top: Annotated[
        int | None, typer.Option(min=1, help="How many labels to show with their scores. [3; in json and jsonl all]")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the views.")] = 0,
    format: Annotated[  # noqa: A002
        str, typer.Option(help=" | ".join(FORMATS), autocompletion=offering(FORMATS))
    ] = "table",
    output: Annotated[Path | None, typer.Option(help="Write the results to this file.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue --output where it stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --output.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Add every view to json and jsonl.")] = False,
    explain: Annotated[Path | None, typer.Option(help="Write one explanatory PNG per image here.")] = None,
    device: Annotated[str, typer.Option(help="auto | cpu | cuda | mps, for torch models.")] = "auto",
    dtype: Annotated[str, typer.Option(help="fp32 | fp16 | bf16, for torch models.")] = "fp32",
    precision: Annotated[str, typer.Option(help=f"{' | '.join(PRECISIONS)}, for ONNX packs.")] = "auto",
    runtime: Annotated[str, typer.Option(help=f"{' | '.join(RUNTIMES)}, for ONNX packs.")] = "auto",
    batch_views: Annotated[
        int | None, typer.Option(min=1, help="Views encoded at once; by default what is fastest here.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> int:
    """Classify images by labels in words."""
    from ..classify.classifier import Classifier
    from ..classify.options import asked_views
    from ..encoders import LoadOptions
    from ..methods.settings import build_method
    from ..registry import unknown_name
    from ..sources import find_images

    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    if resume and output is None:
        raise UsageError("--resume continues a file: name it with --output.")
    if resume and format not in RESUMABLE:
        raise UsageError(f"--resume continues {' or '.join(RESUMABLE)} files; add --format jsonl.")
    paths = find_images(images, report=complain)
    chosen = read_labels(labels, labels_file)
    values = _with_keep(read_settings(settings or []), keep)
    n_views, rule = asked_views(read_views(views), stop=stop, disagreement=disagreement)
    classifier = Classifier(
        model,
        labels=chosen,
        method=build_method(method, values) if values else method,
        n_views=n_views,
        stop=rule,
        keep=None if values else keep,
        augment=cast("Augment", augment),
        templates=templates,
        teacher=teacher,
        abstain_below=abstain_below,
        seed=seed,
        options=LoadOptions(
            device=device,
            dtype=cast("Dtype", dtype),
            runtime=cast("Runtime", runtime),
            precision=cast("Precision", precision),
        ),
    )
    explainer = None if explain is None else Explainer(explain, paths)
    stream, done = None, set[str]()
    if output is not None:
        stream, done = open_output(output, format, resume=resume, overwrite=overwrite, top=top, classifier=classifier)
    todo = [path for path in paths if path not in done]
    fresh = stream is None or stream.tell() == 0
    writer = Writer(stream, format, top=top, trace=trace, width=_path_width(todo), fresh=fresh)
    try:
        failed = _run(classifier, todo, writer, batch_views=batch_views, explainer=explainer, quiet=quiet)
    finally:
        writer.close()
        if stream is not None:
            stream.close()
    if not quiet and (len(paths) > 1 or failed):
        skipped = f", {len(done)} done before" if done else ""
        complain(f"{len(todo) - failed} classified, {failed} failed{skipped}.")
    return 1 if failed else 0


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
    """Classifies the images, tells of the unreadable ones, and returns how many those were."""
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
