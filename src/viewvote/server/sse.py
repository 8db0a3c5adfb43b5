"""`POST /v1/classify/stream`: the rounds of a vote as they end, then its prediction."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, ExitStack

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..errors import ViewvoteError
from ..prediction import Prediction
from .events import event, prediction_data, round_data
from .intake import Asked
from .job import Job, Outcome, Size
from .metrics import Metrics
from .refusals import code_of
from .service import Service
from .work import Work, admitted, disconnected, first_of, late, seconds_for

HEARTBEAT = 10.0
"""Seconds of silence after which a comment keeps the connection open."""


async def votes(
    service: Service, asked: Asked, metrics: Metrics, *, held: ExitStack, request_id: str
) -> AsyncGenerator[bytes, None]:
    """The events of a request, with what it holds until the last of them.

    The first comes once the request is admitted: before, errors are raised as anywhere.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds_for(service, asked)
    messages: asyncio.Queue[bytes] = asyncio.Queue()
    rounds: Counter[int] = Counter()
    failed = left = len(asked.uploads)

    def seen(image: int, shown: Prediction, size: Size) -> None:
        rounds[image] += 1
        budget = shown_budget(work)
        data = round_data(shown, size, image=image, number=rounds[image], budget=budget, top=asked.options.top)
        messages.put_nowait(event("round", data))

    def finished(job: Job, outcome: Outcome) -> None:
        nonlocal left, failed
        metrics.finished(job, outcome)
        image = work.jobs.index(job)
        left -= 1
        if isinstance(outcome, Prediction):
            failed -= 1
            data = prediction_data(outcome, job.size, image=image, top=asked.options.top)
            messages.put_nowait(event("prediction", data))
        else:
            messages.put_nowait(error_event(outcome, image))

    async with AsyncExitStack() as stack:
        stack.enter_context(held)
        work = await stack.enter_async_context(admitted(service, asked, finished=finished, seen=seen))
        yield event("accepted", accepted_data(work, len(asked.uploads), request_id))
        while left or not messages.empty():
            try:
                async with asyncio.timeout(min(HEARTBEAT, end - loop.time())):
                    message = await messages.get()
            except TimeoutError:
                if loop.time() >= end:
                    yield error_event(late(seconds_for(service, asked)), None)
                    break
                message = b": waiting\n\n"
            yield message
        done = {"request_id": request_id, "predictions": len(asked.uploads) - failed, "errors": failed}
        yield event("done", done)


def shown_budget(work: Work) -> int:
    """How many views an image may cost at most."""
    return work.classifier.round_ends[-1]


def accepted_data(work: Work, images: int, request_id: str) -> dict[str, object]:
    """The data of the first event."""
    clf = work.classifier
    return {
        "request_id": request_id,
        "images": images,
        "labels": list(clf.labels),
        "method": clf.method.name,
        "model": clf.encoder.model_id,
        "budget": shown_budget(work),
        "adaptive": clf.rule is not None,
    }


def error_event(error: ViewvoteError, image: int | None) -> bytes:
    """The event of an image that has no answer; without an image, of all that are left."""
    return event("error", {"image": image, "error": str(error), "code": code_of(error)})


class VoteStream(Response):
    """An answer that is sent while it is being decided; the events are closed when its sending ends, whyever."""

    def __init__(self, first: bytes, events: AsyncGenerator[bytes, None], request: Request) -> None:
        super().__init__(media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._first = first
        self._events = events
        self._request = request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the last, or until the client is gone."""
        del scope, receive
        gone = asyncio.ensure_future(disconnected(self._request))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            message: bytes | None = self._first
            while message is not None:
                await send({"type": "http.response.body", "body": message, "more_body": True})
                message = await self._next(gone)
            await send({"type": "http.response.body", "body": b""})
        finally:
            gone.cancel()
            await self._events.aclose()

    async def _next(self, gone: "asyncio.Future[None]") -> bytes | None:
        waiting = asyncio.ensure_future(anext(self._events, None))
        try:
            await first_of(waiting, gone)
            return waiting.result() if waiting.done() else None
        finally:
            if not waiting.done():
                waiting.cancel()
                await asyncio.wait({waiting})
