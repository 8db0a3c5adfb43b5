"""The ASGI application: routes, and the order in which a request is read, admitted, answered and counted."""

from collections.abc import AsyncIterator
from contextlib import ExitStack, aclosing, asynccontextmanager

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from .. import __version__
from ..errors import UsageError, ViewvoteError
from ..prediction import Prediction
from . import openapi
from .access import Access
from .body import Buffers, Space, bounded_stream, check_length
from .edge import Edge
from .explaining import explained, picture, wants_json
from .hf_tasks import read_task, task_answer
from .info import info
from .intake import Asked, read_asked
from .job import Job, Outcome
from .metrics import Metrics
from .page_files import INDEX, page_files, photo_files, send_file
from .refusals import RefusedError, error_body, image_error, status_of
from .service import Service
from .sse import VoteStream, votes
from .work import admitted, deadline, outcomes_of

BUFFERED = 8
"""How many bodies of the largest size may be in memory at a time."""


class Routes:
    """The functions behind the routes of one service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.metrics = Metrics(service)
        self.buffers = Buffers(BUFFERED * service.settings.limits.bytes)
        self.page = page_files()
        self.photos = photo_files()

    async def classify(self, request: Request) -> Response:
        """Classify 1 to 32 images."""
        async with self._asked(request) as asked:
            outcomes = [outcome for _, outcome in await self._answer(request, asked)]
            if len(outcomes) == 1 and isinstance(outcomes[0], ViewvoteError):
                raise outcomes[0]
            names = [upload.name for upload in asked.uploads]
            shown = [_shown(o, path=name, asked=asked) for o, name in zip(outcomes, names, strict=True)]
        return JSONResponse({"request_id": request.state.request_id, "predictions": shown})

    async def stream(self, request: Request) -> Response:
        """Classify, and show every round of the vote as it ends."""
        with ExitStack() as stack:
            asked = await self._read(request, stack.enter_context(self.buffers.space()))
            held = stack.pop_all()
        events = votes(self.service, asked, self.metrics, held=held, request_id=request.state.request_id)
        async with deadline(self.service, asked):
            first = await anext(events)
        return VoteStream(first, events, request)

    async def explain(self, request: Request) -> Response:
        """Explain one image's vote."""
        async with self._asked(request) as asked:
            if len(asked.uploads) > 1:
                raise UsageError(f"one image is explained at a time; got {len(asked.uploads)}.")
            ((job, outcome),) = await self._answer(request, asked)
            if isinstance(outcome, ViewvoteError):
                raise outcome
            if wants_json(request.headers.get("accept", "")):
                request_id = request.state.request_id
                return JSONResponse(explained(job, outcome, top=asked.options.top, request_id=request_id))
            return Response(await picture(self.service, job, outcome), media_type="image/png")

    async def hf_task(self, request: Request, model_id: str = "") -> Response:
        """Answer Hugging Face's task zero-shot-image-classification."""
        if model_id and model_id != self.service.encoder.model_id:
            known = self.service.encoder.model_id
            raise RefusedError("not_found", f"this service has the model {known!r} and no other.")
        async with self._asked(request, as_task=True) as asked:
            ((_, outcome),) = await self._answer(request, asked)
            if isinstance(outcome, ViewvoteError):
                raise outcome
            return JSONResponse(task_answer(outcome))

    async def live(self) -> Response:
        """Whether the process lives."""
        return JSONResponse({"status": "live"})

    async def ready(self) -> Response:
        """Whether images are taken."""
        if not self.service.engine.alive:
            raise RefusedError("not_ready", "the service starts or drains.")
        return JSONResponse({"status": "ready"})

    async def info(self) -> Response:
        """What runs here, what it offers and what it allows."""
        return JSONResponse(info(self.service))

    async def show_metrics(self) -> Response:
        """What was counted, for Prometheus."""
        return Response(self.metrics.exposition(), media_type=self.metrics.content_type)

    async def index(self, request: Request) -> Response:
        """The page."""
        return send_file(request, INDEX, self.page)

    async def static(self, request: Request, name: str) -> Response:
        """A file of the page."""
        return send_file(request, name, self.page)

    async def photo(self, request: Request, name: str) -> Response:
        """A shipped photograph."""
        return send_file(request, name, self.photos)

    @asynccontextmanager
    async def _asked(self, request: Request, *, as_task: bool = False) -> AsyncIterator[Asked]:
        """What a request asks; its bytes count as long as it lasts."""
        with self.buffers.space() as space:
            yield await self._read(request, space, as_task=as_task)

    async def _read(self, request: Request, space: Space, *, as_task: bool = False) -> Asked:
        """Read a request, unless it would be refused anyway."""
        settings = self.service.settings
        check_length(request, max_bytes=settings.limits.bytes)
        self.service.engine.check_room()
        stream = bounded_stream(request, space, max_bytes=settings.limits.bytes, seconds=settings.body_seconds)
        async with aclosing(stream):
            if as_task:
                return read_task(b"".join([chunk async for chunk in stream]), settings.limits)
            return await read_asked(request, stream, settings.limits)

    async def _answer(self, request: Request, asked: Asked) -> list[tuple[Job, Outcome]]:
        """The outcomes of a request's images, in order, each with its job."""
        async with deadline(self.service, asked), admitted(self.service, asked, finished=self.metrics.finished) as work:
            return list(zip(work.jobs, await outcomes_of(request, work), strict=True))


def create_app(service: Service) -> FastAPI:
    """The application around a service, which it starts and closes."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(service.start)
        yield
        await run_in_threadpool(service.close)

    routes = Routes(service)
    app = FastAPI(
        title="viewvote",
        version=__version__,
        description=openapi.ABOUT,
        lifespan=lifespan,
        docs_url=None,  # those pages come from elsewhere
        redoc_url=None,
    )
    app.add_middleware(Edge, access=Access(service.settings), metrics=routes.metrics)
    app.add_exception_handler(HTTPException, _plain_error)
    openapi.add_routes(app, routes)
    return app


async def _plain_error(request: Request, error: Exception) -> Response:
    """An address or method that is not there, in the shape of all errors."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    refused = RefusedError("not_found", "there is nothing at this address; /openapi.json lists what is.")
    if status == 405:
        refused = RefusedError("method_not_allowed", f"{request.method} is not possible here.")
    headers = dict(getattr(error, "headers", None) or {})
    return JSONResponse(error_body(refused, request_id=request.state.request_id), status_of(refused), headers)


def _shown(outcome: Outcome, *, path: str | None, asked: Asked) -> dict[str, object]:
    if isinstance(outcome, Prediction):
        return outcome.to_dict(trace=asked.options.trace, top=asked.options.top)
    return image_error(outcome, path=path)
