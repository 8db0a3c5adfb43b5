"""One large file over HTTP: what an earlier attempt has brought is kept, and a dropped connection is taken up again."""

import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

from ..errors import ModelNotFoundError

BLOCK = 2**18
ATTEMPTS = 5
"""How often in a row a transfer may break off without a byte having come."""
SECONDS = 30.0
SCHEMES = ("https", "http", "file")
Watch = Callable[[int, int | None], None]
"""Called with the bytes that are there and those there will be, where that is known."""


@dataclass(frozen=True)
class Transport:
    """How addresses are opened: a file of certificates and a proxy, where the system's own will not do."""

    certificates: str | None = None
    proxy: str | None = None

    def open(self, address: str, *, headers: Mapping[str, str] | None = None) -> Any:
        """The answer to a GET; a name and password in the address are sent to its own host alone."""
        parts = urlsplit(address)
        if parts.scheme not in SCHEMES:
            raise OSError(f"addresses start with {', '.join(SCHEMES)}; got {shown(address)}")
        request = Request(_bare(address), headers=dict(headers or {}))  # noqa: S310 - checked above
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            request.add_unredirected_header("Authorization", "Basic " + b64encode(login.encode()).decode())
        proxies = {"http": self.proxy, "https": self.proxy} if self.proxy else None
        opener = build_opener(ProxyHandler(proxies), HTTPSHandler(context=_context(self.certificates)))
        try:
            return opener.open(request, timeout=SECONDS)
        except HTTPError as error:
            error.close()  # it is an answer too
            raise


@cache
def _context(certificates: str | None) -> ssl.SSLContext:
    """What a server must show: a certificate of the file's authorities, or of those that the system knows."""
    context = ssl.create_default_context(cafile=certificates)
    if certificates is None and find_spec("certifi"):  # some Pythons come without certificates
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def unwatched(done: int, total: int | None) -> None:
    """Watch nothing."""
    del done, total


def download(address: str, path: Path, transport: Transport, *, watch: Watch) -> None:
    """Put the file at `address` at `path`; until it is whole, it is `path` with ".part" after its name."""
    part = path.with_name(f"{path.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    idle, cause = 0, None
    while idle < ATTEMPTS:
        before = _size(part)
        try:
            if _continue(address, part, transport, watch):
                part.replace(path)
                return
        except HTTPError as error:
            if error.code != 416:
                raise ModelNotFoundError(f"{shown(address)} answers {error.code} {error.reason}.") from error
            part.unlink()  # it is no beginning of this file
        except (OSError, HTTPException) as error:
            if getattr(error, "filename", None):  # the disk, not the network
                raise
            cause = error
        idle = idle + 1 if _size(part) == before else 0
    reason = getattr(cause, "reason", None) or cause or "the connection was closed"
    raise ModelNotFoundError(
        f"the download of {shown(address)} broke off: {reason}. {_size(part) / 1e6:.0f} MB are kept; "
        "the same command continues."
    ) from cause


def _continue(address: str, part: Path, transport: Transport, watch: Watch) -> bool:
    """Append what is missing; whether the file is whole."""
    start = _size(part)
    headers = {"Range": f"bytes={start}-"} if start else {}
    with transport.open(address, headers=headers) as answer:
        if start and answer.status != 206:  # the server sends all of it again
            start = 0
        length = answer.headers.get("Content-Length")
        total = None if length is None else start + int(length)
        with part.open("ab" if start else "wb") as file:
            watch(start, total)
            while block := answer.read(BLOCK):
                file.write(block)
                start += len(block)
                watch(start, total)
    return total is None or start == total


def shown(address: str) -> str:
    """The address without a password."""
    return address if "@" not in urlsplit(address).netloc else _bare(address)


def _bare(address: str) -> str:
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
