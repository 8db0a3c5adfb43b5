"""`GET /info`: what runs here, what it offers and what it allows."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from .. import __version__
from ..labels.templates import template_sets
from ..methods import VotingMethod, method_entry
from ..methods.settings import build_method, settings_of
from ..stopping.options import ADAPTIVE, ALL, AUTO
from .options import Options, served_methods, served_settings
from .page_files import photo_files
from .service import Service
from .settings import Settings


def info(service: Service) -> dict[str, Any]:
    """The values of the answer; nothing in them is secret, and none is a path."""
    settings = service.settings
    return {
        "name": "viewvote",
        "version": __version__,
        "model": service.encoder.model_id,
        "models": [service.encoder.model_id],
        "teacher": None if service.teacher is None else service.teacher.model_id,
        "labels": None if settings.labels is None else list(settings.labels),
        "texts": _texts(settings),
        "defaults": {"method": settings.method, "views": _views(settings), "templates": settings.templates},
        "methods": [_method(name, summary) for name, summary in served_methods().items()],
        "templates": {name: summary for name, (summary, _) in template_sets().items()},
        "options": sorted(Options.model_fields),
        "limits": asdict(settings.limits) | {"queue": settings.max_queue, "seconds": settings.timeout},
        "examples": [f"/examples/{name}" for name in photo_files()],
    }


def _texts(settings: Settings) -> dict[str, list[str]]:
    """What the service's labels have for texts beside their names."""
    labels = settings.labels if isinstance(settings.labels, Mapping) else {}
    texts = {label: [own] if isinstance(own, str) else list(own) for label, own in labels.items()}
    return {label: own for label, own in texts.items() if own != [label]}


def _views(settings: Settings) -> int | str:
    """The views of a request that names none, as the page shows them."""
    if settings.views != AUTO:
        return settings.views
    return ADAPTIVE if isinstance(build_method(settings.method, {}), VotingMethod) else ALL


def _method(name: str, summary: str) -> dict[str, Any]:
    method = build_method(name, {})
    return {
        "name": name,
        "summary": summary,
        "adaptive": isinstance(method, VotingMethod),
        "keep": "keep" in settings_of(name),
        "settings": list(served_settings(name)),
        "default_keep": method_entry(name).keep,
        "teacher": method.asks_teacher,
    }
