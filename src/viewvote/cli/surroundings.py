"""How commands gather, find and report the context of unlabelled photos."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..classify.classifier import Classifier
from ..classify.gather import Gathered, SourceLogits, context_from, source_logits
from ..context import Context
from ..context.advice import advice_of
from ..context.file import read_context, write_context
from ..context.rule import VARIED
from ..context.sample import LogitSample
from ..context.shares import read_shares
from ..encoders import LoadOptions
from ..errors import UsageError, ViewvoteError
from ..methods import TrainingFreeMethod
from ..prediction import Prediction
from ..sources import STDIN, find_images
from .context import ContextOptions
from .guard import complain
from .progress import progress
from .values import read_labels

SELF = "self"
SHOWN = 3


def write_context_of(asked: ContextOptions) -> int:
    """Gather the context of the photos and write it; returns 1 where a photo could not be used."""
    if asked.out.exists() and not asked.overwrite:
        raise UsageError(f"{asked.out} exists. Replace it with --overwrite.")
    paths = find_images(asked.images, report=complain)
    classifier = Classifier(
        asked.model,
        labels=read_labels(asked.labels, asked.labels_file),
        method="zero",  # decides nothing here, and asks for nothing but logits
        templates=asked.templates,
        teacher=asked.teacher,
        text_head=asked.text_head,
        options=LoadOptions(device=asked.device, dtype=asked.dtype, runtime=asked.runtime, precision=asked.precision),
    )
    found, failed = gathered(classifier, paths, mix=asked.context_mix, quiet=asked.quiet)
    for error in failed:
        complain(str(error))
    write_context(found.context, asked.out)
    if not asked.quiet:
        complain(f"{summary_of(found.context, classifier.labels)} Written to {asked.out}.")
    return 1 if failed else 0


def with_asked_context(
    classifier: Classifier,
    paths: Sequence[str],
    *,
    asked: str | None,
    mix: str | None,
    beside: Path | None,
    resume: bool,
    quiet: bool,
) -> Classifier:
    """The classifier with the context of --context: none, a file, or the photos at hand.

    `beside` is the file of answers that a run is continued by: there the context of its first part is kept, so that a
    resumed run answers as the run would have, also where photos were added.
    """
    if asked is None:
        if mix is not None:
            raise UsageError("--context-mix describes the photos of --context self; add it.")
        return classifier
    if asked != SELF:
        if mix is not None:
            raise UsageError("--context-mix is taken when a context is made; give it to `viewvote context`.")
        return classifier.in_context(Path(asked))
    kept = None if beside is None else beside.with_name(f"{beside.name}.context.json")
    if resume and kept is not None and kept.exists():
        return classifier.in_context(read_context(kept))
    found, _ = gathered(classifier, paths, mix=mix, quiet=quiet)
    if kept is not None:
        write_context(found.context, kept)
    return classifier.in_context(found.context, sources=found.sources)


def gathered(
    classifier: Classifier, paths: Sequence[str], *, mix: str | None, quiet: bool
) -> tuple[Gathered, list[ViewvoteError]]:
    """The context of these photos, and why some of them could not be used."""
    if STDIN in paths:
        raise UsageError("a context needs files; standard input can be read only once.")
    shares = _mix_of(mix, classifier.labels)
    failed: list[ViewvoteError] = []

    def usable() -> Iterator[SourceLogits]:
        with progress(len(paths), quiet=quiet, what="photos as context") as step:
            for one in source_logits(classifier, paths):
                if isinstance(one, SourceLogits):
                    yield one
                else:
                    failed.append(one)
                step()

    found = context_from(usable(), classifier, mix=shares)
    return found, failed


def _mix_of(given: str | None, labels: Sequence[str]) -> Sequence[float] | str | None:
    """The mix of --context-mix."""
    if given in (None, VARIED):
        return given
    if not Path(given).exists():
        raise UsageError(
            f"--context-mix is {VARIED!r} or a JSON file of the labels' shares; there is no file {given!r}."
        )
    return read_shares(Path(given), labels)


def summary_of(context: Context, labels: Sequence[str]) -> str:
    """What the context takes off, in one line."""
    if not context.is_used:
        return f"{context.note or 'context: nothing is taken off'}."
    order = context.offsets.argsort()[::-1]
    most = [f"{context.taken_off(int(i)):.0%} off {labels[i]!r}" for i in order[:SHOWN] if context.offsets[i] > 0]
    part = f" ({context.note.removeprefix('context: ')})" if context.note else ""
    return f"context of {context.n} photos{part}: {', '.join(most)}."


class Adviser:
    """Watches answers that were given without context, and knows whether one would have helped."""

    def __init__(self, classifier: Classifier) -> None:
        watches = classifier.context is None and isinstance(classifier.method, TrainingFreeMethod)
        self._sample = LogitSample() if watches else None
        self._labels = classifier.labels

    def watch(self, prediction: Prediction) -> None:
        """Take one more answer."""
        if self._sample is not None and prediction.trace is not None and prediction.trace.source is not None:
            self._sample.add(prediction.trace.source)

    def advice(self) -> str | None:
        """One line where photos of this folder are pulled to a label; None where they are not, or are too few."""
        return None if self._sample is None else advice_of(self._sample.rows(), self._labels)
