"""Asking a store again that failed: requests time out, connections break, answers arrive cut off."""

import errno
import random
import sys
from collections.abc import Callable
from json import JSONDecodeError
from time import sleep
from typing import TypeVar

T = TypeVar("T")

ATTEMPTS = 6
FIRST_WAIT = 0.25
"""Seconds before the second attempt; each further wait is twice as long, and all are shortened at random."""

_FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError)
_FINAL_NUMBERS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
_FOREIGN = {
    "aiohttp": ("ClientError",),
    "botocore.exceptions": ("BotoCoreError", "ClientError"),
    "azure.core.exceptions": ("AzureError",),
    "gcsfs.retry": ("HttpError",),
    "google.auth.exceptions": ("GoogleAuthError",),
    "httpx": ("HTTPError",),
    "httpx2": ("HTTPError",),
    "requests.exceptions": ("RequestException",),
}
"""What the clients of stores raise that is no OSError."""

_REFUSALS = (ValueError, NotImplementedError, RuntimeError)
"""What they raise for addresses and requests that they cannot make sense of."""


def persist(action: Callable[[], T], *, what: str) -> T:
    """What `action` returns, tried again with growing waits while the store fails; raises OSError in the end.

    What a further attempt would not change (nothing there, not allowed, disk full) is raised at once.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return action()
        except _FINAL:
            raise
        except _passing_errors() as error:
            if _is_final(error):
                raise OSError(getattr(error, "errno", None) or errno.EIO, f"{what}: {_reason(error)}") from error
            if attempt == ATTEMPTS:
                raise OSError(errno.EIO, f"{what}: {_reason(error)} ({ATTEMPTS} attempts)") from error
        except _REFUSALS as error:
            raise OSError(errno.EINVAL, f"{what}: {_reason(error)}") from error
        sleep(FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.5, 1.0))  # noqa: S311 - apart from other workers
    raise AssertionError("the last attempt returns or raises")


def _passing_errors() -> tuple[type[Exception], ...]:
    """What a failing store raises, through Python or those of the clients that are loaded by now."""
    loaded = ((sys.modules.get(module), names) for module, names in _FOREIGN.items())
    foreign = [getattr(module, name) for module, names in loaded if module for name in names if hasattr(module, name)]
    return (OSError, EOFError, JSONDecodeError, *foreign)  # a listing in JSON that was cut off


def _is_final(error: BaseException) -> bool:
    status = _status(error)
    if status is not None and 400 <= status < 500:
        return status not in (408, 425, 429)
    return getattr(error, "errno", None) in _FINAL_NUMBERS


def _status(error: BaseException) -> int | None:
    """The status of the HTTP answer that is behind an error, wherever its client keeps that."""
    held = [(error, name) for name in ("status", "code", "status_code")]
    found = (getattr(where, name, None) for where, name in [*held, (getattr(error, "response", None), "status_code")])
    return next((status for status in found if isinstance(status, int)), None)


def _reason(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
