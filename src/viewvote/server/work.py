"""The images of one request as jobs of the engine: admitted together, given up together."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from starlette.requests import Request

from ..classify.classifier import Classifier
from ..prediction import Prediction
from .intake import Asked
from .job import Job, Outcome, Size
from .refusals import RefusedError
from .service import Service

Finished = Callable[[Job, Outcome], None]
Seen = Callable[[int, Prediction, Size], None]


@dataclass
class Work:
    """The jobs of a request that was admitted, and a future for each outcome."""

    classifier: Classifier
    jobs: list[Job] = field(default_factory=list)
    outcomes: list[asyncio.Future[Outcome]] = field(default_factory=list)


@asynccontextmanager
async def admitted(
    service: Service, asked: Asked, *, finished: Finished | None = None, seen: Seen | None = None
) -> AsyncIterator[Work]:
    """The work of a request while it lasts: at the end, whatever is not answered is given up."""
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        stack.enter_context(service.engine.admitted_images(len(asked.uploads)))
        work = Work(await service.classifier_for(asked.options))
        for index, upload in enumerate(asked.uploads):
            outcome: asyncio.Future[Outcome] = loop.create_future()
            watch = None if seen is None else partial(_show, loop, seen, index)
            job = Job(upload, work.classifier, deliver=partial(_hand_over, loop, outcome), watch=watch)
            work.jobs.append(job)
            work.outcomes.append(outcome)
            stack.callback(job.cancel)
            if finished is not None:
                outcome.add_done_callback(partial(_finish, finished, job))
        service.engine.submit(work.jobs)
        yield work


async def outcomes_of(request: Request, work: Work) -> list[Outcome]:
    """The outcomes in order; RefusedError as soon as the client is gone."""
    answers = asyncio.ensure_future(_all(work.outcomes))
    gone = asyncio.ensure_future(disconnected(request))
    try:
        await first_of(answers, gone)
        if not answers.done():
            raise RefusedError("client_closed_request", "the client went away.")
        return answers.result()
    finally:
        gone.cancel()
        answers.cancel()


@asynccontextmanager
async def deadline(service: Service, asked: Asked) -> AsyncIterator[None]:
    """RefusedError (504) if it lasts longer than the service or the request allows."""
    seconds = seconds_for(service, asked)
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise late(seconds) from error


def seconds_for(service: Service, asked: Asked) -> float:
    """The seconds that a request may take."""
    given = asked.options.timeout
    return service.settings.timeout if given is None else min(given, service.settings.timeout)


def late(seconds: float) -> RefusedError:
    """The error of a request whose time is up."""
    return RefusedError("deadline_exceeded", f"no answer within {seconds:g} seconds; the request was given up.")


async def _all(outcomes: Sequence[asyncio.Future[Outcome]]) -> list[Outcome]:
    return [await outcome for outcome in outcomes]


async def first_of(*futures: asyncio.Future[Any]) -> None:
    """Returns when one of the futures is done; none is cancelled."""
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


async def disconnected(request: Request) -> None:
    """Returns when the client is gone; the body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _hand_over(loop: asyncio.AbstractEventLoop, future: asyncio.Future[Outcome], outcome: Outcome) -> None:
    with suppress(RuntimeError):  # the loop is closed: the process ends and nobody waits
        loop.call_soon_threadsafe(_settle, future, outcome)


def _settle(future: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not future.done():
        future.set_result(outcome)


def _finish(finished: Finished, job: Job, future: asyncio.Future[Outcome]) -> None:
    if not future.cancelled():
        finished(job, future.result())


def _show(loop: asyncio.AbstractEventLoop, seen: Seen, index: int, shown: Prediction, size: Size) -> None:
    with suppress(RuntimeError):  # as above
        loop.call_soon_threadsafe(seen, index, shown, size)
