"""Hugging Face's task zero-shot-image-classification: its request and answer, so that its client works here."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import UsageError
from ..prediction import Prediction
from .intake import Asked, decode_image, parse_json
from .job import Upload
from .options import read_options
from .settings import Limits


class TaskParameters(BaseModel):
    """What the task may be asked with."""

    model_config = ConfigDict(extra="ignore", strict=True)

    candidate_labels: list[str] | None = Field(
        default=None, description="The answers to choose from; by default the service's."
    )
    hypothesis_template: str | None = Field(
        default=None, description='The sentence around a label, e.g. "a photo of a {}."'
    )


class TaskRequest(BaseModel):
    """An image and what to ask of it."""

    model_config = ConfigDict(extra="ignore", strict=True)

    inputs: str = Field(description="The image as base64.")
    parameters: TaskParameters = TaskParameters()


def read_task(body: bytes, limits: Limits) -> Asked:
    """What a request in the task's shape asks."""
    values = parse_json(body)
    try:
        task = TaskRequest.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{where[:100]}: {first['msg']}. Expected "
            '{"inputs": "<base64>", "parameters": {"candidate_labels": ["cat", "dog"]}}.'
        ) from error
    template = task.parameters.hypothesis_template
    if template is not None and "{}" not in template:
        raise UsageError(f"hypothesis_template {template[:100]!r} has no {{}} where the label belongs.")
    options = {"labels": task.parameters.candidate_labels, "templates": None if template is None else [template]}
    return Asked((Upload(decode_image(task.inputs)),), read_options(options, limits))


def task_answer(prediction: Prediction) -> list[dict[str, Any]]:
    """The labels with their scores, best first."""
    return [{"label": prediction.labels[i], "score": float(prediction.scores[i])} for i in prediction.ranking()]
