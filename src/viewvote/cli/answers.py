"""The answers of `viewvote classify`: one line per image as it is classified, unreadable images reported."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..classify.classifier import Classifier
from ..classify.options import named_method
from ..classify.recall import check_recall
from ..encoders import LoadOptions
from ..errors import ImageError, UsageError, ViewvoteError
from ..methods.settings import build_method
from ..prediction import Prediction
from ..sources import STDIN, Watcher
from ..stopping.options import asked_views, read_disagreement
from .classify import ClassifyOptions
from .explanations import Explainer
from .formats import format_of
from .guard import complain
from .inputs import Inputs, find_inputs
from .known_images import KnownImages
from .output import ENDINGS, RESUMABLE, Writer, check_answers, open_output
from .progress import progress
from .resume import as_written
from .surroundings import Adviser, summary_of, with_asked_context
from .terminal import columns_of
from .values import read_labels, read_limits, read_settings, read_thresholds, read_views
from .watching import answer_what_comes


def write_answers(asked: ClassifyOptions) -> int:
    """Classify the images and write what is found; returns the exit code, 1 where an image could not be used."""
    if asked.resume and asked.output is None:
        raise UsageError("--resume continues a file: name it with --output.")
    fmt = format_of(asked.format, asked.output, endings=ENDINGS, default="table")
    if asked.resume and fmt not in RESUMABLE:
        raise UsageError(f"--resume continues {' or '.join(RESUMABLE)} files: write --output answers.jsonl, say.")
    if asked.output is not None:
        check_answers(asked.output, resume=asked.resume, overwrite=asked.overwrite)
    known = None if asked.features is None else KnownImages.of(asked)
    inputs = find_inputs(asked) if known is None else Inputs(known.paths)
    own = [] if asked.explain is None else [asked.explain]
    watcher = None if asked.watch is None else Watcher(asked.watch, leave_out=own)
    explainer = None
    if asked.explain is not None:
        limits = read_limits(asked.max_pixels, asked.max_bytes)
        explainer = Explainer(
            asked.explain, inputs.paths, resume=asked.resume, overwrite=asked.overwrite, limits=limits
        )
    classifier = classifier_of(asked if known is None else known.completed(asked))
    if known is not None:
        check_recall(classifier, known.features.encoding)  # before anything is written
    classifier = with_asked_context(
        classifier,
        inputs.paths,
        asked=asked.context,
        mix=asked.context_mix,
        beside=asked.output,
        resume=asked.resume,
        quiet=asked.quiet,
    )
    stream, done = None, set[str]()
    if asked.output is not None:
        stream, done = open_output(
            asked.output,
            fmt,
            resume=asked.resume,
            overwrite=asked.overwrite,
            top=asked.top,
            classifier=classifier,
        )
    todo = [path for path in inputs.paths if as_written(path) not in done] if done else inputs.paths
    fresh = stream is None or not stream.seekable() or stream.tell() == 0
    width = _path_width(todo, watching=watcher is not None)
    writer = Writer(stream, fmt, top=asked.top, trace=asked.trace, width=width, fresh=fresh)
    adviser = Adviser(classifier)
    answering = Answering(classifier, writer, adviser, explainer, asked.batch_views, asked.quiet, inputs.piped, known)
    try:
        answering.answer(todo)
        if watcher is not None:
            watcher.leave(done | set(todo))
            answer_what_comes(answering, watcher)
    except KeyboardInterrupt as error:
        resumable = asked.output is not None and fmt in RESUMABLE
        raise KeyboardInterrupt("The same command with --resume goes on from here." if resumable else "") from error
    finally:
        writer.close()
        if explainer is not None:
            explainer.write_page()
        if stream is not None:
            with suppress(OSError):  # of what is no file on a disk
                os.fsync(stream.fileno())
            stream.close()
    several = answering.answered + answering.failed + len(done) > 1 or watcher is not None
    if not asked.quiet and (several or answering.failed):
        before = f", {len(done)} done before" if done else ""
        abstained = f" ({writer.abstained} abstained)" if writer.abstained else ""
        complain(f"{answering.answered} classified{abstained}, {answering.failed} failed{before}.")
    if not asked.quiet and classifier.context is not None:
        complain(summary_of(classifier.context, classifier.labels))
    if not asked.quiet and (said := adviser.advice()) is not None:
        complain(said)
    return 1 if answering.failed else 0


def classifier_of(asked: ClassifyOptions) -> Classifier:
    """The classifier that the options describe, its model loaded."""
    return Classifier(**classifier_arguments(asked))


def classifier_arguments(asked: ClassifyOptions) -> dict[str, Any]:
    """The arguments of the classifier that the options describe."""
    labels = read_labels(asked.labels, asked.labels_file, asked.labels_column)
    settings = read_settings(asked.settings or [])
    if settings and asked.keep is not None:
        if "keep" in settings:
            raise UsageError("--keep and --set keep=... are the same setting; give one of them.")
        settings["keep"] = asked.keep
    disagreement = None if asked.disagreement is None else read_disagreement(asked.disagreement)
    n_views, rule = asked_views(read_views(asked.views or "auto"), stop=asked.stop, disagreement=disagreement)
    method = named_method(asked.method, text_head=asked.text_head is not None)
    return {
        "model": asked.model or "pocket",
        "labels": labels,
        "method": build_method(method, settings) if settings else method,
        "n_views": n_views,
        "stop": rule,
        "keep": None if settings else asked.keep,
        "augment": asked.augment or "crops",
        "templates": asked.templates,
        "teacher": asked.teacher,
        "abstain_below": asked.abstain_below,
        "none_of_these": asked.none,
        "multi_label": asked.multi_label,
        "thresholds": read_thresholds(asked.threshold or []),
        "calibration": asked.calibration,
        "seed": asked.seed or 0,
        "limits": replace(
            read_limits(asked.max_pixels, asked.max_bytes),
            decode_memory=asked.decode_memory,
            decode_seconds=asked.decode_seconds,
        ),
        "text_head": asked.text_head,
        "options": LoadOptions(
            device=asked.device, dtype=asked.dtype, runtime=asked.runtime, precision=asked.precision
        ),
    }


@dataclass
class Answering:
    """What answers are written with, and how many there are; `piped` is the image on standard input.

    `known` has the features of the images, where they are not read.
    """

    classifier: Classifier
    writer: Writer
    adviser: Adviser
    explainer: Explainer | None
    batch_views: int | None
    quiet: bool
    piped: bytes
    known: KnownImages | None = None
    answered: int = 0
    failed: int = 0

    def answer(self, paths: list[str]) -> list[str]:
        """Write the prediction of each image, report the unreadable ones, and return these."""
        failed = []
        with progress(len(paths), quiet=self.quiet) as step:
            for path, result in zip(paths, self._results(paths), strict=True):
                if isinstance(result, ViewvoteError):
                    complain(str(result))
                    self.writer.fail(path, result)
                    self.failed += 1
                    failed.append(path)
                else:
                    prediction = replace(result, path=path)
                    self._explain(path, prediction)  # first: --resume does not come back to an image that is written
                    self.writer.write(prediction)
                    self.adviser.watch(prediction)
                    self.answered += 1
                step()
        return failed

    def _results(self, paths: list[str]) -> Iterator[Prediction | ViewvoteError]:
        if self.known is not None:
            return self.known.predict(self.classifier, paths)
        sources = (self.piped if path == STDIN else path for path in paths)
        return self.classifier.predict_many(sources, batch_views=self.batch_views, on_error="return")

    def _explain(self, path: str, prediction: Prediction) -> None:
        """Draw the picture of why, where they are asked for; an image that has gone meanwhile has none."""
        if self.explainer is None:
            return
        try:
            self.explainer.write(path, prediction)
        except ImageError as error:
            complain(f"no picture of why: {error}")


def _path_width(paths: list[str], *, watching: bool) -> int:
    """How many characters of a table's line the paths may take; half of it, if others may come."""
    columns = os.get_terminal_size().columns if os.isatty(1) else 200
    if watching:
        return min(columns // 2, 60)
    return max(10, min(max(map(columns_of, paths), default=0), columns // 2))
