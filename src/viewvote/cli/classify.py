"""`viewvote classify`: photos and labels in words in, answers out."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from .edge import complain, guarded
from .inputs import STDIN, expand, read_labels, read_method, read_stdin
from .output import FORMATS, Writer, open_output, stdout
from .progress import progress

if TYPE_CHECKING:
    from ..classifier import Classifier
    from ..samples import Augment
    from ..types import Prediction

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
    model: Annotated[str, typer.Option(help="Model id; `viewvote models` lists them.")] = "pocket",
    method: Annotated[str, typer.Option(help="Method; `viewvote methods` lists them.")] = "zero",
    views: Annotated[int, typer.Option(help="Views per image: the whole and random crops.")] = 64,
    keep: Annotated[float | None, typer.Option(help="Share of most confident views that decide.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A hyper-parameter of the method, KEY=VALUE; may be repeated.")
    ] = None,
    augment: Annotated[str, typer.Option(help="Views: crops | augmix (crops mixed as AugMix does).")] = "crops",
    templates: Annotated[str | None, typer.Option(help="Template set, or a template with {}.")] = None,
    teacher: Annotated[str | None, typer.Option(help="A stronger model that votes on the kept views.")] = None,
    abstain_below: Annotated[float, typer.Option(help="Give no label below this confidence.")] = 0.0,
    top: Annotated[int, typer.Option(min=1, help="How many labels to show with their scores.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the views.")] = 0,
    format: Annotated[str, typer.Option(help=" | ".join(FORMATS))] = "table",  # noqa: A002
    output: Annotated[Path | None, typer.Option(help="Write the results to this file.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue --output where it stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --output.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Add every view to json and jsonl.")] = False,
    explain: Annotated[Path | None, typer.Option(help="Write one explanatory PNG per image here.")] = None,
    device: Annotated[str, typer.Option(help="auto | cpu | cuda | mps, for torch models.")] = "auto",
    batch_views: Annotated[int, typer.Option(min=1, help="Views encoded at once.")] = 64,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> int:
    """Classify images by labels in words."""
    from ..classifier import Classifier
    from ..encoders import LoadOptions
    from ..errors import UsageError
    from ..registry import unknown_name

    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    if resume and output is None:
        raise UsageError("--resume continues a file: name it with --output.")
    paths = expand(images)
    chosen = read_labels(labels, labels_file)
    classifier = Classifier(
        model,
        labels=chosen,
        method=read_method(method, settings) if settings else method,
        n_views=views,
        keep=keep,
        augment=cast("Augment", augment),
        templates=templates,
        teacher=teacher,
        abstain_below=abstain_below,
        seed=seed,
        options=LoadOptions(device=device),
    )
    stream, done = (
        (stdout(), set[str]()) if output is None else open_output(output, format, resume=resume, overwrite=overwrite)
    )
    todo = [path for path in paths if path not in done]
    writer = Writer(stream, format, top=top, trace=trace, width=_path_width(todo), fresh=not done)
    try:
        failed = _run(classifier, todo, writer, batch_views=batch_views, explain=explain, quiet=quiet)
    finally:
        writer.close()
        if output is not None:
            stream.close()
    if not quiet and (len(paths) > 1 or failed):
        skipped = f", {len(done)} done before" if done else ""
        complain(f"{len(todo) - failed} classified, {failed} failed{skipped}.")
    return 1 if failed else 0


def _run(
    classifier: "Classifier", paths: list[str], writer: Writer, *, batch_views: int, explain: Path | None, quiet: bool
) -> int:
    """Classifies the images, tells of the unreadable ones, and returns how many those were."""
    from dataclasses import replace

    from ..errors import ViewvoteError

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
                if explain is not None:
                    _explain(path, prediction, explain)
            step()
    return failed


def _explain(path: str, prediction: "Prediction", folder: Path) -> None:
    from ..errors import UsageError
    from ..report.explain import explain

    if path == STDIN:
        raise UsageError("--explain needs a file; standard input can be read only once.")
    folder.mkdir(parents=True, exist_ok=True)
    explain(path, prediction).save(_free_name(folder, Path(path).stem))


def _free_name(folder: Path, stem: str) -> Path:
    """A name in `folder` that no other picture of this run has: two folders may hold photos of one name."""
    candidates = (folder / f"{stem}{'' if n == 1 else f'-{n}'}.png" for n in range(1, 10**6))
    return next(path for path in candidates if path not in _written and not _written.add(path))  # type: ignore[func-returns-value]


_written: set[Path] = set()


def _path_width(paths: list[str]) -> int:
    columns = os.get_terminal_size().columns if os.isatty(1) else 200
    return max(10, min(max((len(path) for path in paths), default=0), columns // 2))
