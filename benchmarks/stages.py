"""Where the processor's time of a photo goes: the encoder, and every stage around it.

    python -m benchmarks.stages DATA [--images 60] [--large 24] [--labels 100 1000] [--rounds 3] [--write]

Photographs of DATA/eval/imagenet as JPEG of 600 x 400 and of 12 megapixels (enlarged: decoding costs the same), one at
a time and as a stream, with as many views as each needs. Every stage is measured by the clock of the thread it runs on,
without the stages inside it; what is left of the process's time is queues, threads and the scheduler. A round measures
each way once; of each part the median over the rounds is told, in milliseconds of processor time a photo. --write puts
the table of the stream into docs/results/performance.md.
"""

import argparse
import importlib
import io
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from benchmarks.accuracy import choose_photos
from benchmarks.endtoend import SIZES
from benchmarks.sections import add_write, section
from training.eval_sets import data_folder
from viewvote import Classifier, LoadOptions
from viewvote.classify.prefetch import PREPARING
from viewvote.images.photo import open_photo
from viewvote.views.draw import reductions

STAGES = {  # where each stage is looked up when it runs
    "opening": ("viewvote.views.sample:open_photo",),
    "hashing": ("viewvote.images.photo:content_key",),
    "boxes": ("viewvote.views.sample:views_of",),
    "decoding": ("viewvote.images.photo:level_of", "PIL.Image:Image.reduce"),
    "drawing": ("viewvote.views.draw:Drawing._draw",),
    "normalising": ("viewvote.encoders.onnx.encoder:normalise",),
    "encoder": ("viewvote.encoders.onnx.runtimes:_OnnxRuntime.run",),
    "logits": ("viewvote.classify.setup:LabelledModel.logits",),
    "stopping": ("viewvote.classify.image_task:ImageTask._reason_to_stop",),
    "vote": ("viewvote.classify.image_task:ImageTask._decide",),
    "probability": ("viewvote.classify.image_task:likelihood_of",),
    "prediction": ("viewvote.classify.image_task:ImageTask._predict",),
}
REST = "scheduling, threads, copies"
ALL = "all"
ALONE, STREAM = "one by one", "stream"
PARTS = {  # rows of the table: what each adds up
    "opening": ("opening",),
    "hashing (the key)": ("hashing",),
    "sampling boxes": ("boxes",),
    "decoding": ("decoding",),
    "drawing": ("drawing",),
    "normalising": ("normalising",),
    "**encoder**": ("encoder",),
    "logits": ("logits",),
    "stopping rule": ("stopping",),
    "vote, probability, prediction": ("vote", "probability", "prediction"),
    REST: (REST,),
}
_EVENTS = threading.local()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=data_folder, help="folder with eval/imagenet and metadata")
    parser.add_argument("--images", type=int, default=60, help="photographs of 600 x 400")
    parser.add_argument("--large", type=int, default=24, help="photographs of 12 megapixels")
    parser.add_argument("--labels", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--rounds", type=int, default=3)
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.stages", write=args.write)
    paths, targets, classes = choose_photos(args.data, "imagenet", limit=max(args.images, args.large))
    sizes = {
        "600 x 400": [resized(path, SIZES["600 x 400"]) for path in paths[: args.images]],
        "12 megapixels": [resized(path, SIZES["12 megapixels"]) for path in paths[:: -(-len(paths) // args.large)]],
    }
    shown = dict.fromkeys(classes[i] for i in targets)  # labels that the photographs show come first
    names = list(dict.fromkeys([*shown, *classes]))
    options = LoadOptions(threads=1)
    ready = {n: Classifier("pocket", labels=names[:n], options=options) for n in args.labels}
    found: dict[tuple[str, int, str], list[dict[str, float]]] = defaultdict(list)
    alone: dict[str, list[float]] = defaultdict(list)
    for _ in range(args.rounds + 1):
        for size, data in sizes.items():
            alone[size].append(decoding_seconds(data, next(iter(ready.values()))))
            for n, classifier in ready.items():
                found[size, n, ALONE].append(spent(lambda c=classifier, d=data: [c(one) for one in d]))
                found[size, n, STREAM].append(spent(lambda c=classifier, d=data: list(c.predict_many(d))))
    for way, where in ((ALONE, section("benchmarks.stages", write=False)), (STREAM, place)):
        print(f"\n{way}:\n")
        where.show(table({(size, n): runs[1:] for (size, n, each), runs in found.items() if each == way}))
    print()  # the first run of each, left out above, warmed up
    for size, seconds in alone.items():
        decoding = 1000 * statistics.median(seconds[1:])
        for n in args.labels:
            stream = statistics.median(run[ALL] for run in found[size, n, STREAM][1:])
            print(f"{size}, {n} labels: the stream takes {stream / decoding:.2f} of decoding alone ({decoding:.2f} ms)")


def resized(path: Path, size: tuple[int, int]) -> bytes:
    """The photograph as a JPEG of this size."""
    encoded = io.BytesIO()
    Image.open(path).convert("RGB").resize(size, Image.Resampling.LANCZOS).save(encoded, "JPEG", quality=90)
    return encoded.getvalue()


def decoding_seconds(photos: Sequence[bytes], classifier: Classifier) -> float:
    """Processor seconds a photo of opening and decoding them as their views need it, two at a time as in a stream."""
    spec = classifier.encoder.image_spec
    factors = [reductions(classifier.prepare(one, first=0).views, spec, of=open_photo(one).size) for one in photos]
    with ThreadPoolExecutor(PREPARING) as pool:
        start = time.process_time()
        list(pool.map(_decode, photos, factors))
        return (time.process_time() - start) / len(photos)


def _decode(data: bytes, factors: set[int]) -> None:
    open_photo(data).levels(factors)


def spent(work: Callable[[], Sequence[Any]]) -> dict[str, float]:
    """Milliseconds of processor time by stage, and views, a photo."""
    with watched() as seconds:
        start = time.process_time()
        answers = work()
        total = time.process_time() - start
    seconds |= {REST: total - sum(seconds.values()), ALL: total}
    views = statistics.mean(one.views_used for one in answers)
    return {name: 1000 * value / len(answers) for name, value in seconds.items()} | {"views": views}


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Seconds of every stage, as long as the block lasts."""
    seconds, lock, undo = dict.fromkeys(STAGES, 0.0), threading.Lock(), []
    for stage, places in STAGES.items():
        for place in places:
            owner, name = _place(place)
            undo.append((owner, name, getattr(owner, name)))
            setattr(owner, name, _timed(getattr(owner, name), stage, seconds, lock))
    try:
        yield seconds
    finally:
        for owner, name, original in undo:
            setattr(owner, name, original)


def _place(text: str) -> tuple[Any, str]:
    module, path = text.split(":")
    *owners, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for part in owners:
        owner = getattr(owner, part)
    return owner, name


def _timed(function: Callable[..., Any], stage: str, seconds: dict[str, float], lock: threading.Lock) -> Any:
    def timed(*args: Any, **kwargs: Any) -> Any:
        outer, _EVENTS.inner = getattr(_EVENTS, "inner", 0.0), 0.0
        start = time.thread_time()
        try:
            return function(*args, **kwargs)
        finally:
            taken = time.thread_time() - start
            with lock:
                seconds[stage] += taken - _EVENTS.inner
            _EVENTS.inner = outer + taken

    return timed


def table(found: dict[tuple[str, int], list[dict[str, float]]]) -> Iterator[str]:
    """One column for each size and number of labels: milliseconds and, of the whole, the share."""
    columns = [f"{size}, {n} labels" for size, n in found]
    middle = [{name: statistics.median(run[name] for run in runs) for name in runs[0]} for runs in found.values()]
    yield f"| part | {' | '.join(columns)} |"
    yield "|---|" + "---:|" * len(columns)
    for title, stages in PARTS.items():
        sums = [(sum(one[stage] for stage in stages), one[ALL]) for one in middle]
        yield row(title, (f"{part:.2f} ({part / whole:.1%})" for part, whole in sums))
    yield row(ALL, (f"{one[ALL]:.2f}" for one in middle))
    yield row("views", (f"{one['views']:.1f}" for one in middle))
    yield row("**all but the encoder**", (f"{1 - one['encoder'] / one[ALL]:.0%}" for one in middle))


def row(title: str, cells: Iterable[str]) -> str:
    return f"| {title} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
