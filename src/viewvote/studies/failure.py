"""App. F: where augmentation hurts. Accuracy from source to augmented images, calibration, and the confident views."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import UInt8
from ..errors import UsageError
from ..images.photo import open_photo
from ..images.spec import ImageSpec
from ..metrics.accuracy import over_seeds, pooled
from ..metrics.means import pooled_means
from ..pictures.plots import draw_reliability
from ..runs.job import dataset_of
from ..runs.read import Run
from ..views.sample import prepare
from .augmented import Augmented, augmented_run, kept_views
from .base import COUNTS, NAMES, Column, Finding, Group, Options, cells, groups, of_views
from .error_gap import zero_vote
from .overconfidence import KEPT, SOURCE, bins_of

SHOWN = 3
"""Most confident views beside each source image, as in the paper's figure."""

SIZE = 224
PUBLISHED = {"eurosat": (42.01, 35.21)}
"""Accuracy of CLIP-ViT-B-16 on source and augmented images, in percent (App. F)."""

COLUMNS = (
    *NAMES,
    Column("source", "source accuracy", "percent", "source_low", "source_high"),
    Column("augmented", "augmented accuracy", "percent", "augmented_low", "augmented_high", "augmented_std"),
    Column("change", "change", "points", "change_low", "change_high"),
    Column("zero", "ZERO", "percent", "zero_low", "zero_high", "zero_std"),
    Column("source_ece", "source ECE", "number"),
    Column("kept_ece", "kept ECE", "number"),
    Column("published", "paper, source to augmented"),
    *COUNTS,
)


@dataclass(frozen=True)
class Shown:
    """One image of the figure: the source view with its label, and confident views with answers and confidence."""

    label: str
    source: UInt8
    views: tuple[tuple[UInt8, str, float], ...]


def study(runs: Sequence[Run], options: Options) -> Finding:
    """What augmentation does to accuracy and calibration, per dataset."""
    found = groups(of_views(runs))
    rows = tuple(_row(group, options) for group in found)

    def draw(figure: Any) -> None:
        if len(found) != 1:
            raise UsageError("the figure shows images of one dataset; name runs over one of them, or leave --plot out.")
        run = found[0].runs[0]
        one = augmented_run(run, keep=options.keep, bins=bins_of(found[0], options))
        _draw(figure, one, confident_views(run, keep=options.keep, images=options.images))

    return Finding(
        name="failure",
        title="Source images and their confident views",
        columns=COLUMNS,
        rows=rows,
        notes=(
            f"In % with 95% intervals; the augmented dataset and ZERO keep {options.keep:.0%} of the views. A large "
            "fall from source to augmented is the failure that the paper finds on satellite images (App. F).",
            "The figure shows images that the source view gets right and the vote gets wrong, where there are any.",
        ),
        draw=draw,
        size=(7.2, 3.4 + 2.0 * options.images),
    )


def _row(group: Group, options: Options) -> dict[str, Any]:
    seeds = [augmented_run(run, keep=options.keep, bins=bins_of(group, options)) for run in group.runs]
    votes = [zero_vote(run, options.keep)[0] for run in group.runs]
    source, kept = seeds[0].source, over_seeds([one.kept.value for one in seeds])
    zero = over_seeds([rate.value for rate in votes])
    published = PUBLISHED.get(group.names["dataset"])
    spread, vote = pooled_means([one.kept for one in seeds]), pooled(votes)
    gap = pooled_means([one.gap for one in seeds])
    return {
        **group.names,
        **cells("source", source.value, source),
        **cells("augmented", kept.mean, spread, kept.std),
        "change": -gap.value,
        "change_low": -gap.high,
        "change_high": -gap.low,
        **cells("zero", zero.mean, vote, zero.std),
        "source_ece": seeds[0].source_bins.ece,
        "kept_ece": over_seeds([one.kept_bins.ece for one in seeds]).mean,
        "published": None if published is None else f"{published[0]:.2f} to {published[1]:.2f}",
        "n": source.n,
        "seeds": len(seeds),
    }


def confident_views(run: Run, *, keep: float, images: int) -> list[Shown]:
    """Images of a run's dataset with their most confident views, drawn again from seed, dataset and key.

    First come images that the source view gets right and the vote gets wrong; the most confident first.
    """
    dataset = dataset_of(run.spec)
    columns = run.columns(views=True)
    columns = columns.take(columns.usable)
    best = kept_views(columns, keep)[:, :SHOWN]
    sure = np.take_along_axis(columns.top_probability, best, axis=1).mean(axis=1)
    fooled = (columns.source_top[:, 0] == columns.target) & ~columns.correct
    chosen = np.lexsort((-sure, ~fooled))[:images]
    place = {key: i for i, key in enumerate(dataset.keys)}
    shown = []
    for i in chosen.tolist():
        item = dataset[place[columns.keys[i]]]
        sample = prepare(
            item.image,
            ImageSpec(SIZE),
            n_views=max(2, int(best[i].max()) + 1),
            seed=run.seed,
            dataset=dataset.name,
            key=item.key,
            augment=run.spec.augment,
        )
        pixels = sample.pixels
        shown.append(
            Shown(
                label=dataset.class_names[item.target],
                source=np.asarray(open_photo(item.image).full().convert("RGB")),
                views=tuple(
                    (pixels[v], dataset.class_names[int(columns.labels[i, v])], float(columns.top_probability[i, v]))
                    for v in best[i].tolist()
                ),
            )
        )
    return shown


def _draw(figure: Any, one: Augmented, shown: Sequence[Shown]) -> None:
    """Two reliability diagrams, and below a line per image: the source with its label, the views with answers."""
    above, below = figure.subfigures(2, 1, height_ratios=[3.4, 2.0 * len(shown)])
    parts = (("source", one.source.value, one.source_bins, SOURCE), ("kept views", one.kept.value, one.kept_bins, KEPT))
    for axis, (what, accuracy, bins, colour) in zip(above.subplots(1, 2), parts, strict=True):
        title = f"{what}\naccuracy {100 * accuracy:.1f}%, ECE {bins.ece:.3f}"
        draw_reliability(axis, bins, title=title, colour=colour)
    axes = below.subplots(len(shown), SHOWN + 1, squeeze=False)
    heads = ("source image", "most confident", "2nd most confident", "3rd most confident")
    for line, (row, image) in enumerate(zip(axes, shown, strict=True)):
        row[0].imshow(image.source)
        row[0].set_xlabel(image.label)
        for axis, (pixels, answer, sure) in zip(row[1:], image.views, strict=False):
            axis.imshow(pixels)
            axis.set_xlabel(f"{answer}, {sure:.2f}")
        for axis, head in zip(row, heads, strict=True):
            axis.set_xticks([])
            axis.set_yticks([])
            axis.spines[:].set_visible(False)
            axis.grid(visible=False)
            if line == 0:
                axis.set_title(head)
