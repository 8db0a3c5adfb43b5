"""The answers of `viewvote classify`: one line per image as it is classified, unreadable images reported."""

import os
from contextlib import suppress
from dataclasses import replace

from ..classify.classifier import Classifier
from ..classify.options import named_method
from ..encoders import LoadOptions
from ..errors import UsageError, ViewvoteError
from ..methods.settings import build_method
from ..sources import STDIN, find_images, read_stdin
from ..stopping.options import asked_views, read_disagreement
from .classify import ClassifyOptions
from .explanations import Explainer
from .guard import complain
from .output import RESUMABLE, Writer, check_answers, open_output
from .progress import progress
from .resume import as_written
from .values import read_labels, read_settings, read_thresholds, read_views


def write_answers(asked: ClassifyOptions) -> int:
    """Classify the images and write what is found; returns the exit code, 1 where an image could not be used."""
    if asked.resume and asked.output is None:
        raise UsageError("--resume continues a file: name it with --output.")
    if asked.resume and asked.format not in RESUMABLE:
        raise UsageError(f"--resume continues {' or '.join(RESUMABLE)} files; add --format jsonl.")
    if asked.output is not None:
        check_answers(asked.output, resume=asked.resume, overwrite=asked.overwrite)
    paths = find_images(asked.images, report=complain)
    explainer = None
    if asked.explain is not None:
        explainer = Explainer(asked.explain, paths, overwrite=asked.overwrite or asked.resume)
    classifier = classifier_of(asked)
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
    todo = [path for path in paths if as_written(path) not in done] if done else paths
    fresh = stream is None or not stream.seekable() or stream.tell() == 0
    writer = Writer(stream, asked.format, top=asked.top, trace=asked.trace, width=_path_width(todo), fresh=fresh)
    try:
        failed = _write_each(
            classifier, todo, writer, batch_views=asked.batch_views, explainer=explainer, quiet=asked.quiet
        )
    finally:
        writer.close()
        if stream is not None:
            with suppress(OSError):  # of what is no file on a disk
                os.fsync(stream.fileno())
            stream.close()
    if not asked.quiet and (len(paths) > 1 or failed):
        skipped = f", {len(done)} done before" if done else ""
        complain(f"{len(todo) - failed} classified, {failed} failed{skipped}.")
    return 1 if failed else 0


def classifier_of(asked: ClassifyOptions) -> Classifier:
    """The classifier that the options describe, its model loaded."""
    labels = read_labels(asked.labels, asked.labels_file)
    settings = read_settings(asked.settings or [])
    if settings and asked.keep is not None:
        if "keep" in settings:
            raise UsageError("--keep and --set keep=... are the same setting; give one of them.")
        settings["keep"] = asked.keep
    disagreement = None if asked.disagreement is None else read_disagreement(asked.disagreement)
    n_views, rule = asked_views(read_views(asked.views), stop=asked.stop, disagreement=disagreement)
    method = named_method(asked.method, text_head=asked.text_head is not None)
    return Classifier(
        asked.model,
        labels=labels,
        method=build_method(method, settings) if settings else method,
        n_views=n_views,
        stop=rule,
        keep=None if settings else asked.keep,
        augment=asked.augment,
        templates=asked.templates,
        teacher=asked.teacher,
        abstain_below=asked.abstain_below,
        none_of_these=asked.none,
        multi_label=asked.multi_label,
        thresholds=read_thresholds(asked.threshold or []),
        calibration=asked.calibration,
        seed=asked.seed,
        text_head=asked.text_head,
        options=LoadOptions(device=asked.device, dtype=asked.dtype, runtime=asked.runtime, precision=asked.precision),
    )


def _write_each(
    classifier: Classifier,
    paths: list[str],
    writer: Writer,
    *,
    batch_views: int | None,
    explainer: Explainer | None,
    quiet: bool,
) -> int:
    """Write the prediction of each image, report the unreadable ones, and return how many those were."""
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
    """How many characters of a table's line the paths may take."""
    columns = os.get_terminal_size().columns if os.isatty(1) else 200
    return max(10, min(max((len(path) for path in paths), default=0), columns // 2))
