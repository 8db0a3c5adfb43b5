"""The outermost layer: a request id, headers that keep browsers safe, one line of log, and errors in one shape."""

import logging
import re
from time import perf_counter
from typing import Final
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import ViewvoteError
from .access import Access
from .metrics import Metrics
from .refusals import RefusedError, code_of, error_body, status_of

logger = logging.getLogger("viewvote.server.requests")

POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob: data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
SAFETY: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Edge:
    """Wraps the application; every request passes here first and every answer last."""

    def __init__(self, app: ASGIApp, *, access: Access, metrics: Metrics) -> None:
        self._app = app
        self._access = access
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = perf_counter()
        headers = Headers(scope=scope)
        request_id = _request_id(headers)
        scope.setdefault("state", {})["request_id"] = request_id
        status = 0

        async def dressed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _dress(MutableHeaders(scope=message), request_id)
            await send(message)

        try:
            self._access.check(scope["method"], scope["path"], headers)
            await self._app(scope, receive, dressed)
        except ClientDisconnect:
            status = status or 499
        except ViewvoteError as error:
            self._metrics.refused(code_of(error))
            await _answer(error, request_id)(scope, receive, dressed)
        except Exception as error:
            logger.exception("request %s failed", request_id)
            if status:  # the answer has started, so that the connection must break
                raise
            failure = RefusedError(
                "internal_error", f"unexpected {type(error).__name__}; the log has this request's id."
            )
            await _answer(failure, request_id)(scope, receive, dressed)
        finally:
            seconds = perf_counter() - start
            self._metrics.answered(_route(scope), status=status, seconds=seconds)
            logger.info("%s %s %d %.1f ms %s", scope["method"], _route(scope), status, 1000 * seconds, request_id)


def _answer(error: ViewvoteError, request_id: str) -> Response:
    headers = error.headers if isinstance(error, RefusedError) else None
    return JSONResponse(error_body(error, request_id=request_id), status_of(error), headers)


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if _ID.fullmatch(given) else uuid4().hex


def _dress(headers: MutableHeaders, request_id: str) -> None:
    headers["X-Request-Id"] = request_id
    headers.setdefault("Cache-Control", "no-store")
    for name, value in SAFETY.items():
        headers[name] = value


def _route(scope: Scope) -> str:
    """The route's pattern, never the address itself: what a client writes there has no place in logs and counters."""
    route = scope.get("route")
    return str(getattr(route, "path", "unknown"))
