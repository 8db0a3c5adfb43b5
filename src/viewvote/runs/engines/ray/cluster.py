"""A connection to a Ray cluster, or to a Ray of this process's own."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from ....errors import MissingExtraError, RunError

CONNECT_SECONDS = 10.0
"""How long a cluster may take to answer: Ray itself goes on trying an address where nothing listens."""


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """The ray module, connected; a connection that was made here is closed again."""
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtraError.for_extra("ray", what="the Ray engine") from error
    if ray.is_initialized():
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS") or None
    try:
        check_reachable(address)
        # Without an address Ray would join whatever cluster was last started on this machine, another user's even.
        ray.init(address=address or "local", log_to_driver=False, logging_level="ERROR")
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().rstrip(".")
        where = f"to Ray at {address}" if address else "to a Ray of its own"
        token = "" if os.environ.get("RAY_AUTH_MODE") else " If it asks for a token, set RAY_AUTH_MODE=token here too."
        raise RunError(f"cannot connect {where}: {reason}. Is the cluster up (`ray status`)?{token}") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def check_reachable(address: str | None) -> None:
    """Raise OSError if the address names a host and a port and nothing listens there."""
    parts = urlsplit(address if address and "://" in address else f"//{address or ''}")
    if parts.hostname and parts.port:
        socket.create_connection((parts.hostname, parts.port), timeout=CONNECT_SECONDS).close()
