"""The same service as a Ray Serve deployment: as many replicas as a cluster has room for, behind one address.

    serve run viewvote.server.ray_serve:build model=pocket labels="cat,dog" replicas=4

Every replica is a whole service with a model and a queue of its own; Ray's proxies share requests among them.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

from ..errors import MissingExtraError, UsageError
from .settings import Settings

try:
    from ray import serve
except ImportError as error:
    raise MissingExtraError.for_extra("ray-serve", what="a Ray Serve deployment") from error

NAME = "viewvote"


def deployment(settings: Settings, **options: Any) -> Any:
    """An application for `serve.run`.

    Args:
        settings: what every replica is started with; its host decides, as anywhere, whether keys are needed
        options: of the deployment, e.g. num_replicas=4, ray_actor_options={"num_cpus": 2}

    """
    text = settings.to_json()

    def build_app() -> FastAPI:  # runs in the replica, where the model belongs
        from viewvote.server.app import create_app
        from viewvote.server.service import Service

        return create_app(Service(Settings.from_json(text)))

    queued = {"max_ongoing_requests": settings.max_queue}
    return serve.deployment(serve.ingress(build_app)(), name=NAME, **(queued | options)).bind()


def build(arguments: Mapping[str, str]) -> Any:
    """An application from the arguments of `serve run`: model, teacher, labels, method, views, replicas."""
    known = {"model", "teacher", "labels", "method", "views", "replicas"}
    if unknown := sorted(arguments.keys() - known):
        raise UsageError(f"no argument {unknown[0]!r}; known are {', '.join(sorted(known))}.")
    values: dict[str, Any] = {key: arguments[key] for key in ("model", "teacher", "method") if key in arguments}
    if "labels" in arguments:
        values["labels"] = tuple(label.strip() for label in arguments["labels"].split(","))
    if "views" in arguments:
        views = arguments["views"]
        values["views"] = int(views) if views.isdecimal() else views
    return deployment(Settings(**values), num_replicas=int(arguments.get("replicas", 1)))
