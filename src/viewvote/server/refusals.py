"""What goes wrong, as HTTP: a status, a word for programs, and the command line's words for people."""

from collections.abc import Mapping
from typing import Any

from ..errors import ImageError, ImageTooLargeError, MissingExtraError, UsageError, ViewvoteError

CODES: Mapping[str, int] = {
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "slow_request": 408,
    "request_too_large": 413,
    "image_too_large": 413,
    "unsupported_media_type": 415,
    "invalid_request": 422,
    "unreadable_image": 422,
    "queue_full": 429,
    "client_closed_request": 499,
    "internal_error": 500,
    "model_error": 500,
    "not_ready": 503,
    "deadline_exceeded": 504,
}
"""Every code of an error answer and its status; docs/guides/serve.md lists them."""


class RefusedError(ViewvoteError):
    """A request that is not answered, for a reason that only a service has."""

    def __init__(self, code: str, message: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.headers = dict(headers or {})


def code_of(error: ViewvoteError) -> str:
    """The word for programs."""
    match error:
        case RefusedError():
            return error.code
        case ImageTooLargeError():
            return "image_too_large"
        case ImageError():
            return "unreadable_image"
        case UsageError() | MissingExtraError():
            return "invalid_request"
    return "model_error"


def status_of(error: ViewvoteError) -> int:
    """The HTTP status."""
    return CODES[code_of(error)]


def error_body(error: ViewvoteError, *, request_id: str) -> dict[str, Any]:
    """The answer to a request that failed as a whole."""
    return {"error": str(error), "code": code_of(error), "request_id": request_id}


def image_error(error: ViewvoteError, *, path: str | None) -> dict[str, Any]:
    """What stands in the place of one image's prediction."""
    return {"path": path, "error": str(error), "code": code_of(error)}
