"""Images behind http and https addresses, for callers that ask for it: within a time and a number of bytes."""

import io
from time import monotonic
from typing import TypeGuard

from ..errors import ImageTooLargeError, UnreadableImageError, UsageError
from .photo import ImageLimits

SECONDS = 20.0
_CHUNK = 2**16


def is_url(source: object) -> TypeGuard[str]:
    """Whether it is an http or https address."""
    return isinstance(source, str) and source[:8].lower().startswith(("http://", "https://"))


def checked_seconds(seconds: float) -> float:
    """How long an image may take to arrive; UsageError unless it is above 0."""
    if not seconds > 0:
        raise UsageError(f"url_timeout is a number of seconds above 0; got {seconds!r}.")
    return seconds


def fetch(url: str, *, limits: ImageLimits | None = None, seconds: float = SECONDS) -> io.BytesIO:
    """The bytes behind an address, as a file of that name. Redirections lead to http and https only."""
    import http.client
    import urllib.error
    from urllib import request

    limits, end = limits or ImageLimits(), monotonic() + seconds
    opener = request.OpenerDirector()
    for handler in (  # those of urllib without the ones that read files, data: and ftp:
        request.ProxyHandler(),
        request.UnknownHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(),
        request.HTTPDefaultErrorHandler(),
        request.HTTPRedirectHandler(),
        request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    found = io.BytesIO()
    found.name = url
    try:
        asked = request.Request(url, headers={"User-Agent": "viewvote"})  # noqa: S310 - see is_url
        with opener.open(asked, timeout=seconds) as response:
            while chunk := response.read1(_CHUNK):  # what has arrived, so that a slow sender does not hold us
                found.write(chunk)
                if found.tell() > limits.max_bytes:
                    raise ImageTooLargeError(f"{url} has more than {limits.max_bytes:,} bytes, which is the limit.")
                if monotonic() > end:
                    raise TimeoutError(f"it took longer than {seconds:g} seconds")
    except (OSError, http.client.HTTPException, ValueError) as error:
        if isinstance(error, ImageTooLargeError):
            raise
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        code = f"{error.code} " if isinstance(error, urllib.error.HTTPError) else ""
        raise UnreadableImageError(f"cannot fetch {url}: {code}{reason}.") from error
    found.seek(0)
    return found
