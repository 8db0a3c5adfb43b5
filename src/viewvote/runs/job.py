"""A job: a spec with its dataset opened, ready to be computed anywhere."""

import os
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from ..classify.classifier import Classifier
from ..datasets import CATALOG, Dataset, open_dataset
from ..encoders import Encoder, LoadOptions
from ..encoders.head_file import read_head_file
from ..errors import UsageError
from ..methods import Method, StreamingMethod
from ..methods.settings import build_method
from ..reading import read_bytes
from ..stopping.options import EXACT, asked_views
from .selection import Selection
from .spec import RunSpec


@dataclass(frozen=True)
class Job:
    """A spec and the samples it takes: all that a worker needs besides the model."""

    spec: RunSpec
    dataset: Dataset

    @cached_property
    def samples(self) -> Selection:
        """The run's samples in the run's order."""
        shuffled = self.spec.order == "shuffled"
        return Selection(self.dataset, limit=self.spec.limit, shuffled=shuffled, seed=self.spec.seed)

    @property
    def is_streaming(self) -> bool:
        """Whether a sample's answer depends on those before it."""
        return isinstance(self.method, StreamingMethod)

    @cached_property
    def method(self) -> Method:
        """The method with the spec's hyper-parameters."""
        keep = {} if self.spec.keep is None else {"keep": self.spec.keep}
        return build_method(self.spec.method, {**self.spec.settings, **keep})

    def classifier(self, *, threads: int = 0, encoder: Encoder | None = None) -> Classifier:
        """The classifier; its model is loaded, unless an `encoder` that was loaded from the same spec is given."""
        spec = self.spec
        n_views, stop = asked_views(spec.views, stop=spec.stop, disagreement=spec.disagreement)
        return Classifier(
            spec.model if encoder is None else encoder,
            labels=self.dataset.class_names,
            method=self.method,
            n_views=n_views,
            stop=stop,
            templates=self.dataset.templates if spec.templates == "dataset" else spec.templates,
            teacher=spec.teacher,
            seed=spec.seed,
            options=LoadOptions(
                device=spec.device, dtype=spec.dtype, runtime=spec.runtime, precision=spec.precision, threads=threads
            ),
            augment=spec.augment,
            unique_labels=False,
            evidence=True,
            detail=spec.detail,
            text_head=spec.text_head,
        )


def place_of(name: str) -> str:
    """A catalog name as it is, a folder or file by its absolute path: folders of one name are not one dataset."""
    # Path.exists raises OSError for a name that is too long; such a one is nothing that is there.
    return str(Path(name).resolve()) if name not in CATALOG and os.path.exists(name) else name  # noqa: PTH110


def dataset_of(spec: RunSpec) -> Dataset:
    """The dataset that the spec names, opened."""
    return open_dataset(spec.dataset, root=None if spec.root is None else Path(spec.root), classes=spec.classes)


def open_job(spec: RunSpec, dataset: Dataset | None = None) -> Job:
    """The spec with its dataset, and with what follows from it filled in."""
    found = dataset or dataset_of(spec)
    if spec.fingerprint not in (None, found.fingerprint):
        raise UsageError(
            f"dataset {found.name!r} at {spec.dataset} is not the one of the spec: its fingerprint is "
            f"{found.fingerprint}, the spec says {spec.fingerprint}. Files or labels were added, removed or renamed; "
            "remove the key fingerprint for a new run on what is there."
        )
    if not len(found):
        raise UsageError(f"dataset {found.name!r} is empty.")
    placed = replace(
        _with_text_head(_with_stop_file(spec)), dataset=place_of(spec.dataset), fingerprint=found.fingerprint
    )
    job = Job(placed, found)
    if spec.order is None:
        job = replace(job, spec=replace(job.spec, order="shuffled" if job.is_streaming else "dataset"))
    return job


def _with_text_head(spec: RunSpec) -> RunSpec:
    """The spec with the absolute path, the fingerprint, the model and the templates of its class vectors, if any."""
    if spec.text_head is None:
        return spec
    path = Path(spec.text_head).resolve()
    file = read_head_file(path)
    if spec.text_head_fingerprint not in (None, file.fingerprint):
        raise UsageError(
            f"the text head {path} is not the one of the spec: its fingerprint is {file.fingerprint}, the spec has "
            f"{spec.text_head_fingerprint}. Put the old file back, or remove that key for a new run."
        )
    templates = spec.templates if file.templates is None else file.templates
    return replace(
        spec,
        text_head=str(path),
        text_head_fingerprint=file.fingerprint,
        text_head_model=file.model,
        templates=templates,
    )


def _with_stop_file(spec: RunSpec) -> RunSpec:
    """The spec with the absolute path and the fingerprint of its file of thresholds, where it names one."""
    if spec.stop is None or spec.stop == EXACT:
        return spec
    path = Path(spec.stop).resolve()
    found = sha256(read_bytes(path, error=UsageError, what="the calibration")).hexdigest()[:12]
    if spec.stop_fingerprint not in (None, found):
        raise UsageError(
            f"the calibration {path} is not the one of the spec: its fingerprint is {found}, the spec says "
            f"{spec.stop_fingerprint}. Put the old file back, or remove the key stop_fingerprint for a new run."
        )
    return replace(spec, stop=str(path), stop_fingerprint=found)
