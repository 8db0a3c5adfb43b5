"""What a classifier is made of: its arguments, checked, and what follows from them before any image is seen."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

from ..arrays import Float32
from ..checks import checked_share, checked_whole
from ..context.base import Context, digest_of
from ..encoders import Encoder, LoadOptions, load_encoder
from ..encoders.base import checked_encoder
from ..encoders.reopening import close
from ..encoders.scripts import warn_of_scripts
from ..encoders.text_head import BuildHead, TextHead, build_text_head
from ..images.photo import ImageLimits, ImageSource
from ..images.urls import SECONDS, checked_seconds
from ..labels.doubts import warn_of_labels
from ..labels.templates import resolve_templates
from ..labels.texts import Labels, checked_texts
from ..methods import Method, VotingMethod
from ..prediction import NONE_OF_THESE
from ..probability import ProbabilityFit
from ..stopping.options import Views, checked_budget, checked_stop, settled_views
from ..views.sample import Augment, Keyed, Sample, checked_augment
from .arguments import check_types
from .calibration import probability_fit
from .each_label import Thresholds
from .gather import checked_context, teacher_offsets
from .image_task import ImageTask, round_ends
from .objects import shortened
from .options import check_teacher, check_text_head, check_tuning, checked_method
from .presence import asked_presence
from .setup import LabelledModel, Setup, start_decider
from .view_plan import ViewPlan


class BaseClassifier:
    """The models, the labels and how views decide: what every answer of a `Classifier` follows from.

    The arguments are those of `Classifier`.
    """

    def __init__(
        self,
        model: str | Encoder = "pocket",
        *,
        labels: Labels,
        method: str | Method = "auto",
        n_views: Views = "auto",
        keep: float | None = None,
        templates: str | Sequence[str] | None = None,
        teacher: str | Encoder | None = None,
        abstain_below: float = 0.0,
        none_of_these: bool = False,
        multi_label: bool = False,
        thresholds: Thresholds | None = None,
        calibration: str | Path | ProbabilityFit | None = None,
        seed: int = 0,
        options: LoadOptions | None = None,
        limits: ImageLimits | None = None,
        cache_dir: str | Path | None = None,
        augment: Augment = "crops",
        unique_labels: bool = True,
        evidence: bool = False,
        stop: Literal["exact"] | None = None,
        detail: bool = False,
        build_head: BuildHead = build_text_head,
        text_head: str | Path | None = None,
        context: Context | str | Path | None = None,
        allow_urls: bool = False,
        url_timeout: float = SECONDS,
    ) -> None:
        check_types(labels=labels, keep=keep, templates=templates, abstain_below=abstain_below, calibration=calibration)
        check_types(options=options, limits=limits, cache_dir=cache_dir, augment=augment, unique_labels=unique_labels)
        check_types(evidence=evidence, stop=stop, detail=detail, text_head=text_head, build_head=build_head)
        self.labels, self.texts = checked_texts(labels, unique=unique_labels)
        self.unique_labels = unique_labels
        self.evidence = evidence or detail
        self.detail = detail
        self.method = checked_method(method, keep, text_head=text_head is not None)
        self._decider = start_decider(self.method)
        check_teacher(self.method, teacher)
        n_views = settled_views(n_views, stop=stop, method=self.method)
        self.n_views = checked_budget(n_views)
        # Exact promises the label of all views. Which label an answer has depends, where it may abstain, on its
        # probability, which every view moves.
        model_id = model if isinstance(model, str) else getattr(model, "model_id", None)
        rule = checked_stop(n_views, stop, method=self.method, model=model_id)
        self.rule = None if stop and abstain_below > 0 else rule
        self.stop = stop
        self._views_asked = n_views
        self.augment = checked_augment(augment)
        self.templates = resolve_templates(self.method.templates if templates is None else templates)
        self.abstain_below = checked_share(abstain_below, name="abstain_below")
        self.seed = checked_whole(seed, name="seed")
        self.limits = limits
        self.cache_dir = None if cache_dir is None else Path(cache_dir)
        self.build_head = build_head
        self.allow_urls = allow_urls
        self.url_timeout = checked_seconds(url_timeout)
        self.none_of_these, self.multi_label, self.thresholds = none_of_these, multi_label, thresholds
        self.encoder = load_encoder(model, options) if isinstance(model, str) else checked_encoder(model)
        self.teacher = load_encoder(teacher, options) if isinstance(teacher, str) else teacher
        if self.teacher is not None:
            checked_encoder(self.teacher, role="teacher")
        self._build_heads(None if text_head is None else Path(text_head))
        self.likely = probability_fit(self.encoder if self.teacher is None else self.teacher, self.method, calibration)
        self.presence = asked_presence(
            self.encoder,
            self.text_head,
            self.labels,
            none_of_these_asked=none_of_these,
            multi_label=multi_label,
            thresholds=thresholds,
            templates=self.templates,
            cache_dir=self.cache_dir,
            build_head=build_head,
        )
        own_vectors = None if text_head is None else self.text_head.features
        self.labels_digest = digest_of(self.labels, self.templates, features=own_vectors)
        self.context = checked_context(context, self)
        self._sources: Mapping[str, Float32] = {}

    def _build_heads(self, given: Path | None) -> None:
        """Turn the labels into vectors of each model, or take those of the file that is given."""
        named = self.texts == self.labels
        if given is None:
            check_tuning(self.method, self.encoder, self.teacher, named=named)
            self.text_head = self._head(self.encoder)
            warn_of_scripts(self.encoder, self.labels)
            warn_of_labels(self.labels, named=named, none_of_these=self.none_of_these, multi_label=self.multi_label)
        else:
            check_text_head(self.method, asks_presence=self.none_of_these or self.multi_label)
            self.text_head = self._head_in(given)
        self.teacher_head = None if self.teacher is None else self._head(self.teacher)
        self.likeness = self._likeness() if self.method.asks_likeness else None

    def _head_in(self, path: Path) -> TextHead:
        from ..encoders.head_file import open_head, read_head_file  # few ask for it, and starting should be quick

        return open_head(read_head_file(path), self.labels, self.encoder)

    def _head(self, encoder: Encoder) -> TextHead:
        return self.build_head(encoder, self.texts, templates=self.templates, cache_dir=self.cache_dir)

    def _likeness(self) -> float:
        """How alike the labels are to the model that votes."""
        from ..encoders.likeness import label_likeness

        model, head = self.encoder, self.text_head
        if self.teacher is not None and self.teacher_head is not None:
            model, head = self.teacher, self.teacher_head
        return label_likeness(
            model, head, templates=self.templates, cache_dir=self.cache_dir, build_head=self.build_head
        )

    def __repr__(self) -> str:
        shown = [f"labels={shortened(self.labels)}", f"method={self.method.name!r}"]
        shown += [f"keep={self.method.keep}"] if isinstance(self.method, VotingMethod) else []
        shown.append(f"n_views={self._views_asked!r}")
        shown += [f"teacher={self.teacher.model_id!r}"] if self.teacher is not None else []
        return f"Classifier({self.encoder.model_id!r}, {', '.join(shown)})"

    def reset(self) -> None:
        """Forget the images before: what a streaming method has learned, and RLCF's momentum. Others never learn."""
        self._decider = start_decider(self.method)
        self.method.reset()

    @property
    def choices(self) -> tuple[str, ...]:
        """Every answer there may be: the labels, and "none of these" where that was asked."""
        extra = () if self.presence is None or self.presence.none is None else (NONE_OF_THESE,)
        return (*self.labels, *extra)

    def __copy__(self) -> Self:
        """A shallow copy shares the model; deep copies and pickles open it again."""
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__)
        return found

    def __getstate__(self) -> dict[str, Any]:
        teacher = None if self.teacher is None else close(self.teacher)
        return self.__dict__ | {"encoder": close(self.encoder), "teacher": teacher, "_sources": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        teacher = None if state["teacher"] is None else state["teacher"].open()
        self.__dict__.update(state | {"encoder": state["encoder"].open(), "teacher": teacher})

    @property
    def plan(self) -> ViewPlan:
        """Which views the classifier may look at."""
        seconds = self.url_timeout if self.allow_urls else None
        return ViewPlan(self.encoder, self.n_views, self.seed, self.augment, self.limits, self.cache_dir, seconds)

    def prepare(self, image: ImageSource | Keyed, *, first: int | None = None) -> Sample:
        """An image read, its `first` views drawn (None: those of the first round, unless known; 0: none yet)."""
        plan = replace(self.plan, n_views=self.method.views_used(self.n_views))
        if first is not None or not self._knows_sources:
            return plan.prepare(image, first=self.round_ends[0] if first is None else first)
        sample = plan.prepare(image, first=0)
        sample.source = self._sources.get(sample.photo.key)
        if sample.source is None:
            sample.draw(0, 1)
        return sample

    @property
    def _knows_sources(self) -> bool:
        """Whether photos of the context need not be encoded for a first round, that of the source view alone."""
        return bool(self._sources) and self.round_ends[0] == 1 and self.teacher is None

    def setup(self) -> Setup:
        """What the classifier knows apart from the images."""
        teacher = None
        if self.teacher is not None and self.teacher_head is not None:
            teacher = LabelledModel(self.teacher, self.teacher_head, teacher_offsets(self.context))
        return Setup(
            labels=self.labels,
            method=self.method,
            decider=self._decider,
            model=LabelledModel(self.encoder, self.text_head, None if self.context is None else self.context.offsets),
            teacher=teacher,
            rule=self.rule,
            abstain_below=self.abstain_below,
            evidence=self.evidence,
            detail=self.detail,
            fit=self.likely,
            presence=self.presence,
            likeness=self.likeness or 0.0,
            context=self.context,
        )

    @property
    def round_ends(self) -> tuple[int, ...]:
        """How many views of an image have been looked at after each round; without a stopping rule there is one."""
        return round_ends(self.rule, self.method.views_used(self.n_views), self.encoder)

    def task(self, sample: Sample, *, ends: Sequence[int] | None = None) -> ImageTask:
        """A prepared image as a task of a scheduler; `ends` are other rounds than `round_ends` to look in."""
        return ImageTask(sample, self.setup(), ends=self.round_ends if ends is None else ends)
