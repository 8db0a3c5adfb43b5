"""The machine-readable contract: what each route takes and answers, with examples that can be sent as they are."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from .hf_tasks import TaskRequest
from .options import Options
from .refusals import CODES

if TYPE_CHECKING:
    from .app import Routes

ABOUT: Final = "Zero-shot image classification that augments, predicts, keeps the confident views and votes."
RED: Final = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP8xYAdMOEQH6QSAMleAQrSBL9hAAAAAElFTkSuQmCC"
"""A red square of 8 x 8 pixels as PNG."""


class Answer(BaseModel):
    """Everything a route answers may gain members later."""

    model_config = ConfigDict(extra="allow")


class ImageAnswer(Answer):
    """One image's prediction (`Prediction.to_dict()`, see docs/reference/output.md), or its `error` and `code`."""

    path: str | None = Field(description="The client's name for the image.")
    label: str | None = None
    index: int | None = None
    confidence: float | None = None
    probability: float | None = None
    probabilities: dict[str, float] | None = None
    vote_share: float | None = None
    scores: dict[str, float] | None = None
    each: dict[str, float] | None = None
    shown: list[str] | None = None
    votes: dict[str, float] | None = None
    method: str | None = None
    model: str | None = None
    views_used: int | None = None
    error: str | None = None
    code: str | None = None


class ClassifyAnswer(Answer):
    """One entry per image, in order."""

    request_id: str
    predictions: list[ImageAnswer]


class SourceView(Answer):
    """What the source view, the model's own frame of the photo, says by itself."""

    label: str
    probability: float


class ExplainAnswer(Answer):
    """A vote with every view; `kept` are the views that voted, the most confident first."""

    request_id: str
    width: int
    height: int
    prediction: ImageAnswer
    kept: list[int]
    zero_shot: SourceView


class LabelScore(Answer):
    """A label of the Hugging Face task."""

    label: str
    score: float


class ErrorAnswer(Answer):
    """What every error answers."""

    error: str = Field(description="What happened, in the words of the command line.")
    code: str = Field(description=f"One of {', '.join(CODES)}.")
    request_id: str


class ClassifyRequest(Options):
    """Images and options as JSON."""

    images: list[str] = Field(min_length=1, description="Each image as base64, or as a data: URL.")


TEXT: Final = {"type": "string"}
EVENT: Final = {
    "type": "object",
    "description": "One event of the stream; its data is JSON.",
    "required": ["event", "data"],
    "properties": {"event": {"enum": ["accepted", "round", "prediction", "error", "done"]}, "data": {"type": "string"}},
}
EXAMPLE: Final = {"images": [RED], "labels": ["red", "green"], "views": 4}


def add_routes(app: FastAPI, routes: "Routes") -> None:
    """Add every route of the service to the application."""
    post: dict[str, tuple[Callable[..., Any], dict[int | str, dict[str, Any]]]] = {
        "/v1/classify": (routes.classify, {200: {"model": ClassifyAnswer}}),
        "/v1/classify/stream": (routes.stream, {200: _content("text/event-stream", "See docs/guides/serve.md", EVENT)}),
        "/v1/explain": (routes.explain, {200: {"model": ExplainAnswer} | _content("image/png", "The picture.")}),
    }
    for path, (function, answers) in post.items():
        extra = {"parameters": _parameters(), "requestBody": _bodies()}
        _add(app, path, function, ["POST"], answers | ERRORS, openapi_extra=extra)
    task = {"requestBody": {"required": True, "content": {"application/json": _task_body()}}}
    for path in ("/", "/models/{model_id:path}"):
        _add(app, path, routes.hf_task, ["POST"], ERRORS | {200: {"model": list[LabelScore]}}, openapi_extra=task)
    for prefix in ("", "/v2"):
        _add(app, f"{prefix}/health/live", routes.live, ["GET", "HEAD"], ERRORS)
        _add(app, f"{prefix}/health/ready", routes.ready, ["GET", "HEAD"], ERRORS)
    _add(app, "/info", routes.info, ["GET"], ERRORS)
    _add(app, "/metrics", routes.show_metrics, ["GET"], ERRORS | {200: _content("text/plain", "Prometheus.")})
    for path, function in (
        ("/", routes.index),
        ("/static/{name:path}", routes.static),
        ("/examples/{name}", routes.photo),
    ):
        app.add_api_route(path, function, methods=["GET", "HEAD"], include_in_schema=False)


def _add(
    app: FastAPI,
    path: str,
    function: Callable[..., Any],
    methods: list[str],
    responses: Mapping[int | str, dict[str, Any]],
    *,
    openapi_extra: dict[str, Any] | None = None,
) -> None:
    name = f"{function.__name__}_{path.strip('/').replace('/', '_') or 'root'}"
    for method in methods:
        app.add_api_route(
            path,
            function,
            methods=[method],
            responses=dict(responses),
            response_model=None,
            openapi_extra=openapi_extra,
            operation_id=f"{name}_{method.lower()}",
            include_in_schema=method != "HEAD",
        )


def _content(kind: str, about: str, schema: Mapping[str, Any] = TEXT) -> dict[str, Any]:
    return {"description": about, "content": {kind: {"schema": schema}}}


def _errors() -> dict[int | str, dict[str, Any]]:
    statuses: dict[int | str, dict[str, Any]] = {}
    for code, status in CODES.items():
        if status != 499:  # nobody is there to read it
            about = statuses.get(status, {}).get("description")
            statuses[status] = {"model": ErrorAnswer, "description": f"{about}, {code}" if about else code}
    return statuses


ERRORS: Final = _errors()


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(ref_template="#/components/schemas/{model}")


def _parameters() -> list[dict[str, Any]]:
    """The options as query parameters."""
    return [
        {"name": name, "in": "query", "required": False, "description": schema.get("description", ""), "schema": schema}
        | ({"style": "form", "explode": False} if name == "labels" else {})
        for name, schema in _text_properties().items()
    ]


def _text_properties() -> dict[str, Any]:
    """The options as form fields and query parameters have them: never null, lists as lists."""
    properties = {}
    for name, schema in _schema(Options)["properties"].items():
        choices = [choice for choice in schema.get("anyOf", []) if choice.get("type") != "null"]
        kept = {key: value for key, value in schema.items() if key not in ("anyOf", "default", "title")}
        if name in ("labels", "templates"):
            kept |= {"type": "array", "items": {"type": "string"}}
        elif len(choices) == 1:
            kept |= choices[0]
        elif choices:
            kept |= {"anyOf": choices}
        properties[name] = kept
    return properties


def _bodies() -> dict[str, Any]:
    """The three shapes of a request."""
    binary = {"type": "string", "format": "binary"}
    form = {"type": "object", "required": ["image"], "properties": {"image": {"type": "array", "items": binary}}}
    form["properties"] = form["properties"] | _text_properties()  # type: ignore[operator]
    content = {
        "application/json": {"schema": _schema(ClassifyRequest), "example": EXAMPLE},
        "multipart/form-data": {"schema": form},
        "image/*": {"schema": binary},
    }
    return {"required": True, "content": content}


def _task_body() -> dict[str, Any]:
    example = {"inputs": RED, "parameters": {"candidate_labels": ["red", "green"]}}
    schema = _schema(TaskRequest)
    definitions = schema.pop("$defs", {})
    schema["properties"]["parameters"] = definitions["TaskParameters"]
    return {"schema": schema, "example": example}
