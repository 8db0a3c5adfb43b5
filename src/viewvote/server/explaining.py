"""`POST /v1/explain`: one image's vote as a picture, or as JSON with boxes."""

import asyncio
import io
from typing import Any

from ..pictures.explain import explain
from ..prediction import Prediction
from .events import zero_shot_of
from .job import Job
from .service import Service


def explained(job: Job, prediction: Prediction, *, top: int | None, request_id: str) -> dict[str, Any]:
    """What the picture shows, as JSON values."""
    views = prediction.trace.views if prediction.trace else ()
    return {
        "request_id": request_id,
        "width": job.size[0],
        "height": job.size[1],
        "prediction": prediction.to_dict(trace=True, top=top),
        "kept": sorted(prediction.kept, key=lambda view: views[view].entropy),
        "zero_shot": zero_shot_of(prediction),
    }


async def picture(service: Service, job: Job, prediction: Prediction) -> bytes:
    """The explanatory picture as PNG, drawn on a thread of its own."""
    return await asyncio.get_running_loop().run_in_executor(service.pictures, _draw, job.upload.data, prediction)


def _draw(data: bytes, prediction: Prediction) -> bytes:
    out = io.BytesIO()
    explain(data, prediction).save(out, format="PNG", compress_level=1)  # a third of the time, a tenth more bytes
    return out.getvalue()


def wants_json(accept: str) -> bool:
    """Whether an Accept header prefers JSON to a picture."""
    kinds = [part.split(";")[0].strip().lower() for part in accept.split(",")]
    return "application/json" in kinds and "image/png" not in kinds
