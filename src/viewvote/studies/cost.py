"""Table 3: seconds and peak memory of several methods, image by image in turn, each in a process of its own."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ..errors import RunError, UsageError
from ..metrics.means import Mean, mean_of
from ..runs.job import open_job
from ..runs.read import Run
from ..runs.spec import RunSpec
from ..runs.summary import peak_memory_mb
from ..views.sample import Keyed
from .base import Column, Finding, Options

PUBLISHED = {
    ("tpt", False): (0.57, 17.66),
    ("zero", False): (0.06, 1.40),
    ("rlcf prompt", True): (1.20, 18.64),
    ("rlcf image", True): (0.18, 9.04),
    ("zero", True): (0.08, 2.58),
}
"""Seconds and GB of device memory per (method, with a teacher), ImageNet's 1000 classes on an RTX 4090."""

COLUMNS = (
    Column("model", "model"),
    Column("method", "method"),
    Column("forward", "seconds, forward", "seconds", "forward_low", "forward_high"),
    Column("total", "seconds, in all", "seconds", "total_low", "total_high"),
    Column("memory_mb", "peak MB", "count"),
    Column("above_mb", "above the loaded model, MB", "count"),
    Column("device_mb", "device MB", "count"),
    Column("slower", "x the fastest", "number"),
    Column("published", "paper (RTX 4090)"),
    Column("classes", "classes", "count"),
    Column("n", "n", "count"),
)


@dataclass(frozen=True)
class Timed:
    """What one process measured: seconds per image, and memory in MB."""

    forward: tuple[float, ...]
    total: tuple[float, ...]
    memory_mb: float | None
    loaded_mb: float | None
    device_mb: float | None
    classes: int


def rounds(images: int, methods: int) -> Iterator[tuple[int, int]]:
    """(image, method) in the order of measuring: all methods on an image before the next, each image one further on."""
    for image in range(images):
        for turn in range(methods):
            yield image, (image + turn) % methods


def study(runs: Sequence[Run], options: Options) -> Finding:
    """The cost of the runs' experiments, measured again here: their specs are run, their records are not read."""
    specs = [run.spec for run in runs]
    if len({spec.dataset for spec in specs}) != 1:
        raise UsageError("methods are timed on the same images: name runs over one dataset.")
    found = measure(specs, images=options.images)
    fastest = min(float(np.mean(one.forward)) for one in found)
    rows = tuple(_row(run, one, fastest) for run, one in zip(runs, found, strict=True))
    return Finding(
        name="cost",
        title="Seconds and peak memory per image",
        columns=COLUMNS,
        rows=rows,
        notes=(
            "Means over images with 95% intervals, after one image to warm up; every method in a process of its own, "
            "all of them in turn on each image. Forward is encoding and deciding, what the paper times; in all also "
            "reads and draws. Peak MB is the process's, libraries included; the paper's is device memory in GB.",
            "The paper's seconds are on one NVIDIA RTX 4090, fp16, 64 views and 1000 classes.",
        ),
        draw=lambda figure: _draw(figure, rows),
        size=(6.8, 3.0),
    )


def _row(run: Run, one: Timed, fastest: float) -> dict[str, Any]:
    forward, total = mean_of(one.forward), mean_of(one.total)
    tune = run.spec.settings.get("tune", "prompt")
    name = f"rlcf {tune}" if run.method == "rlcf" else run.method
    published = PUBLISHED.get((name, run.spec.teacher is not None))
    above = None if one.memory_mb is None or one.loaded_mb is None else one.memory_mb - one.loaded_mb
    return {
        "model": run.model,
        "method": run.title,
        **_ends("forward", forward),
        **_ends("total", total),
        "memory_mb": None if one.memory_mb is None else round(one.memory_mb),
        "above_mb": None if above is None else round(above),
        "device_mb": None if one.device_mb is None else round(one.device_mb),
        "slower": forward.value / fastest,
        "published": None if published is None else f"{published[0]:.2f} s, {published[1]:.2f} GB",
        "classes": one.classes,
        "n": forward.n,
    }


def _ends(name: str, mean: Mean) -> dict[str, float]:
    return {name: mean.value, f"{name}_low": max(0.0, mean.low), f"{name}_high": mean.high}


def measure(specs: Sequence[RunSpec], *, images: int) -> list[Timed]:
    """Each spec's seconds and memory over the same images; one more image warms up."""
    seconds: list[list[tuple[float, float]]] = [[] for _ in specs]
    with ExitStack() as stack:
        workers = [stack.enter_context(_worker(spec)) for spec in specs]
        loaded = [_answer(worker) for worker in workers]
        for image, method in rounds(images + 1, len(specs)):
            workers[method].send(image)
            times = _answer(workers[method])
            if image:
                seconds[method].append(times)
        for worker in workers:
            worker.send(None)
        ended = [_answer(worker) for worker in workers]
    return [
        Timed(tuple(t[0] for t in times), tuple(t[1] for t in times), end[0], start[0], end[1], start[1])
        for times, start, end in zip(seconds, loaded, ended, strict=True)
    ]


@contextmanager
def _worker(spec: RunSpec) -> Iterator[Connection]:
    """A process that classifies the spec's images when their numbers are sent."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(spec, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        process.join(5)
        process.kill()


def _answer(worker: Connection) -> Any:
    try:
        found = worker.recv()
    except EOFError as error:
        raise RunError("a process that measured a method ended before it answered; was there enough memory?") from error
    if isinstance(found, str):
        raise RunError(f"a method cannot be measured: {found}")
    return found


def _work(spec: RunSpec, pipe: Connection) -> None:
    """Loads the spec's model, then times the images whose numbers come, until None comes."""
    try:
        job = open_job(spec)
        classifier = job.classifier()
        pipe.send((peak_memory_mb(), len(job.dataset.class_names)))
        size = len(job.samples)
        while (number := pipe.recv()) is not None:
            at = number % size
            (item,) = job.samples.items(range(at, at + 1))
            times = classifier(Keyed(item.image, item.key, job.dataset.name)).timings
            pipe.send((times["encode"] + times["decide"], times["total"]))
        pipe.send((peak_memory_mb(), device_mb(sys.modules.get("torch"))))
    except EOFError:
        return
    except Exception as error:  # noqa: BLE001 - the other process raises it
        pipe.send(f"{spec.method}: {error}")


def device_mb(torch: Any) -> float | None:
    """The most memory that torch held on GPUs, on all together, weights included; None without torch or a GPU.

    CUDA's and ROCm's devices keep count of their peak. Apple's does not: what its driver holds now stands in.
    """
    if torch is None:
        return None
    if torch.cuda.is_available():
        peaks = [torch.cuda.max_memory_allocated(device) for device in range(torch.cuda.device_count())]
        return float(sum(peaks) / 1e6) or None  # 0: the models are on the CPU
    if torch.backends.mps.is_available():
        return float(torch.mps.driver_allocated_memory() / 1e6) or None
    return None


def _draw(figure: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Bars of seconds, with intervals, and of memory; the model is named where it is not the same in all."""
    several = len({row["model"] for row in rows}) > 1
    names = [f"{row['method']}\n{row['model']}" if several else row["method"] for row in rows]
    for axis, key, label in zip(
        figure.subplots(1, 2), ("forward", "memory_mb"), ("seconds per image", "peak memory [MB]"), strict=True
    ):
        values = [row[key] or 0 for row in rows]
        ends = [[abs(row[f"forward_{end}"] - row["forward"]) for row in rows] for end in ("low", "high")]
        spread = {"xerr": ends, "error_kw": {"linewidth": 0.8}} if key == "forward" else {}
        axis.barh(range(len(rows)), values, color="C0", **spread)
        axis.set_yticks(range(len(rows)), names if key == "forward" else [""] * len(rows))
        axis.invert_yaxis()
        axis.set_xlabel(label)
