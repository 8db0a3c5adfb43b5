"""What the service counts, in Prometheus' text format."""

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from ..prediction import Prediction
from .job import Job, Outcome
from .refusals import code_of
from .service import Service

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
VIEWS = (1, 4, 8, 12, 16, 24, 32, 48, 64)
STAGES = ("read", "render", "encode", "decide")


class Metrics:
    """Counters of one service, in a registry of their own; processes that share a port share them by files."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, service: Service) -> None:
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "viewvote_requests", "Requests by route and status.", ["route", "status"], registry=registry
        )
        self._latency = Histogram(
            "viewvote_request_seconds",
            "Seconds from a request to its answer.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self._stages = Histogram(
            "viewvote_stage_seconds",
            "Seconds of an image in each stage: wait, read, render, encode, decide.",
            ["stage"],
            buckets=SECONDS,
            registry=registry,
        )
        self._views = Histogram(
            "viewvote_views_used", "Views looked at per image.", ["method"], buckets=VIEWS, registry=registry
        )
        self._images = Counter(
            "viewvote_images",
            "Images by outcome: answered, abstained, or an error's code.",
            ["outcome"],
            registry=registry,
        )
        self._refusals = Counter("viewvote_refusals", "Requests refused, by reason.", ["reason"], registry=registry)
        self._batches = Histogram(
            "viewvote_batch_views", "Views encoded together.", buckets=(1, 2, 4, 8, 16, 32, 64, 128), registry=registry
        )
        self._gauges(service)
        service.engine.on_batch = self._batches.observe

    def answered(self, route: str, *, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(route, str(status)).inc()
        self._latency.labels(route).observe(seconds)

    def refused(self, reason: str) -> None:
        """Count a refusal."""
        self._refusals.labels(reason).inc()

    def finished(self, job: Job, outcome: Outcome) -> None:
        """Count an image."""
        self._stages.labels("wait").observe(job.waited)
        if not isinstance(outcome, Prediction):
            self._images.labels(code_of(outcome)).inc()
            return
        self._images.labels("abstained" if outcome.abstained else "answered").inc()
        self._views.labels(outcome.method).observe(outcome.views_used)
        for stage in STAGES:
            self._stages.labels(stage).observe(outcome.timings[stage])

    def exposition(self) -> bytes:
        """Everything counted, as text; of all processes that share the port."""
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            shared = CollectorRegistry()
            multiprocess.MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
            return generate_latest(shared)
        return generate_latest(self._registry)

    def _gauges(self, service: Service) -> None:
        engine, heads, features = service.engine, service.heads, service.features
        for name, about, value in (
            ("viewvote_queue_images", "Images admitted and not answered yet.", lambda: engine.admitted),
            ("viewvote_queue_waiting", "Images whose preparation has not started.", lambda: engine.waiting),
            ("viewvote_text_heads", "Label sets whose text features are in memory.", lambda: len(heads)),
            ("viewvote_text_heads_built", "Label sets that had to be encoded.", lambda: heads.misses),
            ("viewvote_feature_hits", "Images whose features were known.", lambda: features.hits),
        ):
            if not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):  # such gauges are of one process
                Gauge(name, about, registry=self._registry).set_function(value)
