"""Who may ask: keys, host names, and pages of other sites."""

import hmac
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from ..errors import UsageError
from ..reading import read_text
from .refusals import RefusedError
from .settings import LOOPBACK_NAMES, Settings, is_loopback

SHORTEST = 16
"""Characters of an API key: fewer could be guessed."""

OPEN = ("/health/", "/v2/health/", "/static/", "/examples/")
"""What is answered without a key: probes, the page's own files and the shipped photographs."""


def read_keys(path: Path) -> tuple[str, ...]:
    """The keys in a file, one a line; lines that start with # are comments."""
    lines = read_text(path, error=UsageError, what="the API keys in").splitlines()
    keys = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    if not keys:
        raise UsageError(f"{path} has no API key; write one a line, e.g. made with: openssl rand -hex 32")
    for key in keys:
        if len(key) < SHORTEST or not key.isascii():
            raise UsageError(f"an API key in {path} is too short or not ASCII; it needs {SHORTEST} characters or more.")
    return keys


class Access:
    """The rules of one service. `check` raises RefusedError for a request that may not be answered."""

    def __init__(self, settings: Settings) -> None:
        self._keys = [key.encode() for key in settings.api_keys]
        self._hosts: frozenset[str] | None = None  # any
        if settings.allow_hosts or is_loopback(settings.host):
            names = (name.lower() for name in settings.allow_hosts)
            self._hosts = LOOPBACK_NAMES | frozenset([*names, settings.host.lower()])

    def check(self, method: str, path: str, headers: Headers) -> None:
        """Refuse other host names, pages of other sites, and requests without a key."""
        host = headers.get("host", "")
        if self._hosts is not None and _name(host) not in self._hosts:
            raise RefusedError("forbidden", "this host name is not served here; allow it with --allow-host NAME.")
        origin = headers.get("origin")
        if origin is not None and urlsplit_netloc(origin) != host.lower():
            raise RefusedError("forbidden", "pages of other sites may not ask this service.")
        if self._keys and not is_open(method, path) and not self._has_key(headers):
            raise RefusedError(
                "unauthorized",
                "an API key is needed: send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'.",
                headers={"WWW-Authenticate": "Bearer"},
            )

    def _has_key(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        return matches(given.encode("latin-1", "replace"), self._keys)


def matches(given: bytes, keys: Iterable[bytes]) -> bool:
    """Whether it is one of the keys; the time taken depends neither on where they differ nor on which it is."""
    found = False
    for key in keys:
        found |= hmac.compare_digest(given, key)
    return found


def is_open(method: str, path: str) -> bool:
    """Whether it is answered without a key."""
    return method in ("GET", "HEAD") and (path == "/" or path.startswith(OPEN))


def urlsplit_netloc(origin: str) -> str:
    """The host and port of an origin; nothing for "null" and for what is no origin."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _name(host: str) -> str:
    """The name in a Host header, without the port."""
    name = host.lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]
