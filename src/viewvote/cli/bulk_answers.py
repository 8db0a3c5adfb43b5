"""`viewvote classify` on shards, tables and addresses: a table of parts, or lines as for single files."""

import logging
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from ..bulk import BulkJob, Recipe, Totals, classify_bulk
from ..bulk.run import BulkEngine, LocalBulk
from ..errors import UsageError, ViewvoteError
from ..sources import STDIN, Source, SourceItem, open_source
from . import flat_csv
from .answers import classifier_arguments, classifier_of
from .bulk import is_table, place_of
from .classify import ClassifyOptions, Format
from .formats import format_of
from .guard import complain
from .output import ENDINGS, RESUMABLE, Writer, open_output, scores_shown
from .progress import EVERY_SECONDS
from .resume import as_written

if TYPE_CHECKING:
    from ..prediction import Prediction

WIDTH = 60


def write_bulk(asked: ClassifyOptions) -> int:
    """Classify and write; returns the exit code, 1 where an image could not be used."""
    _check(asked)
    keep = [name.strip() for name in asked.keep_columns.split(",")] if asked.keep_columns else []
    source = open_source(
        *(asked.images or []), image_column=asked.image_column, path_column=asked.path_column, keep_columns=keep
    )
    done, failed = _write_table(asked, source) if is_table(asked.output) else _write_lines(asked, source)
    if not asked.quiet:
        complain(f"{done - failed} classified, {failed} failed.")
    return 1 if failed else 0


def _check(asked: ClassifyOptions) -> None:
    """Raise UsageError for options that do not go together."""
    table = is_table(asked.output)
    if not asked.images or STDIN in asked.images:
        raise UsageError(
            "'-' is one image on standard input; it does not go with shards, tables, addresses or --engine ray."
        )
    if asked.explain is not None:
        raise UsageError("--explain draws single files; it does not go with shards, tables, addresses or --engine ray.")
    if asked.engine == "ray" and not table:
        raise UsageError("--engine ray writes a table of parts: give --output NAME.parquet.")
    if asked.output is not None and table and asked.output.suffix.lower() != ".parquet":
        raise UsageError(f"--output {place_of(asked.output)} must end in .parquet: only tables are written to stores.")
    for name in ("features", "watch", "context"):
        if getattr(asked, name) is not None:
            raise UsageError(f"--{name} does not go with shards, tables or addresses.")
    if table and (asked.format is not None or asked.trace):
        raise UsageError("--output NAME.parquet has columns of its own; leave --format and --trace out.")


def _write_table(asked: ClassifyOptions, source: Source) -> tuple[int, int]:
    """Make the table of parts; returns its rows and how many of them are errors."""
    if asked.output is None:
        raise AssertionError("a table has a place")
    job = BulkJob(
        source,
        Recipe(classifier_arguments(asked)),
        place_of(asked.output),
        part_images=asked.part_images,
        top=scores_shown("csv", asked.top) or 0,
        batch_views=asked.batch_views,
    )
    if not asked.quiet:
        _show_warnings()
    totals = classify_bulk(job, engine=_engine(asked), overwrite=asked.overwrite, watch=_watch(asked.quiet))
    return totals.images, totals.errors


def _engine(asked: ClassifyOptions) -> BulkEngine:
    if asked.engine == "local":
        return LocalBulk()
    from ..bulk.on_ray import RayBulk

    return RayBulk(
        address=asked.ray_address,
        actors=asked.actors,
        cpus_per_actor=asked.cpus_per_actor,
        gpus_per_actor=asked.gpus_per_actor,
        wait_for_nodes=asked.wait_for_nodes,
    )


def _write_lines(asked: ClassifyOptions, source: Source) -> tuple[int, int]:
    """Write an answer for each image as for single files; returns how many there were and how many failed."""
    fmt = format_of(asked.format, asked.output, endings=ENDINGS, default="table")
    if asked.resume and (asked.output is None or fmt not in RESUMABLE):
        raise UsageError(f"--resume continues {' or '.join(RESUMABLE)} files: write --output answers.jsonl, say.")
    classifier = classifier_of(asked)
    stream, before = None, set[str]()
    if asked.output is not None:
        stream, before = open_output(
            asked.output,
            fmt,
            resume=asked.resume,
            overwrite=asked.overwrite,
            top=asked.top,
            classifier=classifier,
        )
    fresh = stream is None or stream.tell() == 0
    writer = _KeptWriter(asked, fmt, stream, source.keep, fresh=fresh)
    ahead: deque[SourceItem] = deque()
    watch = _watch(asked.quiet)

    def items() -> Iterator[SourceItem]:
        for item in source:
            if as_written(item.key) not in before:
                ahead.append(item)
                yield item

    done = failed = 0
    try:
        for answer in classifier.predict_many(items(), batch_views=asked.batch_views, on_error="return"):
            item = ahead.popleft()
            done += 1
            if isinstance(answer, ViewvoteError):
                complain(str(answer))
                writer.fail_kept(item, answer)
                failed += 1
            else:
                writer.write_kept(replace(answer, path=item.key), item.columns)
            watch(Totals(done, failed))
    except KeyboardInterrupt as error:
        resumable = asked.output is not None and fmt in RESUMABLE
        raise KeyboardInterrupt("The same command with --resume goes on from here." if resumable else "") from error
    finally:
        writer.close()
        if stream is not None:
            stream.close()
    return done, failed


class _KeptWriter(Writer):
    """Writes kept columns too: as `columns` in JSON, behind the others in CSV."""

    def __init__(
        self, asked: ClassifyOptions, fmt: Format, stream: TextIO | None, keep: tuple[str, ...], *, fresh: bool
    ) -> None:
        self._keep = keep
        self._columns: Mapping[str, Any] = {}
        plain = fresh and not (keep and fmt == "csv")
        super().__init__(stream, fmt, top=asked.top, trace=asked.trace, width=WIDTH, fresh=plain)
        if fresh and not plain:
            self._put(flat_csv.line([*flat_csv.columns(self._top or 1), *keep]))

    def write_kept(self, prediction: "Prediction", columns: Mapping[str, Any]) -> None:
        """Add one prediction."""
        self._columns = columns
        self.write(prediction)

    def _jsonl(self, prediction: "Prediction") -> str:
        if not self._keep:
            return super()._jsonl(prediction)
        return self._dumps({**prediction.to_dict(trace=self._trace, top=self._top), "columns": dict(self._columns)})

    def fail_kept(self, item: SourceItem, error: ViewvoteError) -> None:
        """Note in CSV that an image has no answer."""
        if self._keep and self._format == "csv":
            self._columns = item.columns
            self._put(self._with_kept(flat_csv.error_row(item.key, str(error), top=self._top or 1)))
        else:
            self.fail(item.key, error)

    def _csv(self, prediction: "Prediction") -> str:
        if not self._keep:
            return super()._csv(prediction)
        return self._with_kept(flat_csv.answer_row(prediction, top=self._top or 1))

    def _with_kept(self, cells: Sequence[object]) -> str:
        return flat_csv.line([*cells, *(self._columns.get(name) for name in self._keep)])


def _watch(quiet: bool) -> Callable[[Totals], None]:
    """Reports progress on stderr, at most every half minute."""
    start = last = monotonic()
    here: int | None = None

    def show(totals: Totals) -> None:
        nonlocal last, here
        here = totals.before if here is None else here
        if not quiet and monotonic() - last >= EVERY_SECONDS:
            last = monotonic()
            rate = (totals.images - here) / (last - start)
            sys.stderr.write(f"viewvote: {totals.images} images, {totals.errors} failed, {rate:.1f}/s\n")

    return show


def _show_warnings() -> None:
    """Show what the engine reports (lost workers, a cluster without room) on stderr."""
    logger = logging.getLogger("viewvote")
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("viewvote: %(message)s"))
        logger.addHandler(handler)
