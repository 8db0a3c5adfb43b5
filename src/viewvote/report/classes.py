"""One run class by class: accuracies, and what is taken for what."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..arrays import Int64
from ..datasets import Dataset
from ..errors import DatasetError, MissingExtraError, UsageError
from ..metrics.confusion import Confused, class_rates, confusion_matrix, most_confused
from ..rates import Rate
from ..runs.job import dataset_of
from ..runs.read import Run

SHOWN = 5


@dataclass(frozen=True)
class ClassSheet:
    """The classes of a run.

    names     of all classes; "class 7" where the dataset is not here any more
    rates     of those that have images
    matrix    (classes, classes): rows are what images show, columns what they were called
    confused  the pairs with the most images
    """

    names: tuple[str, ...]
    rates: Mapping[int, Rate]
    matrix: Int64
    confused: Sequence[Confused]

    def to_dict(self) -> dict[str, Any]:
        """All classes and the most confused pairs as JSON-ready values."""
        return {
            "classes": [{"class": self.names[label], **vars(rate)} for label, rate in self.rates.items()],
            "confused": [
                {
                    "class": self.names[pair.target],
                    "called": self.names[pair.index],
                    "n": pair.count,
                    "share": pair.share,
                }
                for pair in self.confused
            ],
        }

    def text(self, *, every: bool = False) -> str:
        """The classes that are got right least, or every class in the order of labels; then the confused pairs."""
        usable = [label for label, rate in self.rates.items() if rate.n]
        worst = sorted(usable, key=lambda label: (self.rates[label].value, -self.rates[label].n, label))
        listed = list(self.rates) if every else worst[:SHOWN]
        rows = [(self.names[label], str(self.rates[label])) for label in listed]
        width = max((len(name) for name, _ in rows), default=0) + 2
        head = "classes" if every or len(listed) == len(self.rates) else f"least accurate of {len(self.rates)} classes"
        lines = [head, *(f"  {name:{width}}{rate}" for name, rate in rows)]
        if self.confused:
            lines += ["", "most confused"]
            lines += [
                f"  {self.names[pair.target]} taken for {self.names[pair.index]}: {pair.count} ({pair.share:.0%})"
                for pair in self.confused[: None if every else SHOWN]
            ]
        return "\n".join(lines)

    def csv(self) -> str:
        """The confusion matrix as CSV, a row per class of the images."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["image shows", *self.names])  # not by name: two classes may have the same
        writer.writerows([name, *row] for name, row in zip(self.names, self.matrix.tolist(), strict=True))
        return out.getvalue()


def fill_classes(run: Run) -> ClassSheet:
    """The classes of a run."""
    columns = run.columns()
    names = class_names(run)
    matrix = confusion_matrix(columns, n_classes=len(names) or None)
    return ClassSheet(
        names=names or tuple(f"class {label}" for label in range(len(matrix))),
        rates=class_rates(columns),
        matrix=matrix,
        confused=most_confused(matrix),
    )


def class_names(run: Run) -> tuple[str, ...]:
    """The names of the run's classes; empty where its dataset is not here, or is another by now."""
    try:
        return dataset_of_run(run).class_names
    except (DatasetError, UsageError, MissingExtraError):
        return ()


def dataset_of_run(run: Run) -> Dataset:
    """The dataset that the run is over; DatasetError where it is another by now."""
    dataset = dataset_of(run.spec)
    if dataset.fingerprint != run.spec.fingerprint:
        raise DatasetError(f"{run.spec.dataset} is not what {run.path} was computed on: its fingerprint is another.")
    return dataset
