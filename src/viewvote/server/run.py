"""A service as a process, or several: its socket, its log, and an end that answers what was accepted."""

import logging
import os
import signal
import socket
import sys
import tempfile
import warnings
from contextlib import suppress
from typing import Any

import uvicorn
from fastapi import FastAPI

from ..errors import UsageError
from .app import create_app
from .protocol import TimedProtocol
from .service import Service
from .settings import Settings

ENVIRONMENT = "VIEWVOTE_SERVE_SETTINGS"
QUIET = "VIEWVOTE_SERVE_QUIET"
CONNECTIONS = 2000
HEADER_BYTES = 65_536

logger = logging.getLogger("viewvote.server")


def serve(settings: Settings, *, workers: int = 1, verbose: bool = True) -> None:
    """Serve until SIGTERM or Ctrl-C; then take no more requests, answer those accepted, and return."""
    write_log(verbose=verbose)
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: None)  # uvicorn raises what it caught again once it is done
    with suppress(KeyboardInterrupt):
        if workers == 1:
            _serve_here(settings)
        else:
            _serve_in_processes(settings, workers, verbose=verbose)


def _serve_here(settings: Settings) -> None:
    app = create_app(Service(settings))
    keep_labels_private()
    with listen(settings) as listening:
        host, port = listening.getsockname()[:2]
        logger.info("listening on http://%s:%d", f"[{host}]" if ":" in host else host, port)
        uvicorn.Server(uvicorn.Config(app, **_configuration(settings))).run([listening])


def _serve_in_processes(settings: Settings, workers: int, *, verbose: bool) -> None:
    Service(settings)  # a mistake in the settings is reported here, once
    listen(settings).close()
    with tempfile.TemporaryDirectory(prefix="viewvote-metrics-") as shared:
        os.environ |= {ENVIRONMENT: settings.to_json(), "PROMETHEUS_MULTIPROC_DIR": shared}
        os.environ[QUIET] = "" if verbose else "1"
        logger.info("listening on http://%s:%d with %d processes", settings.host, settings.port, workers)
        uvicorn.run(
            f"{__name__}:app_from_environment",
            factory=True,
            workers=workers,
            host=settings.host,
            port=settings.port,
            **_configuration(settings),
        )


def app_from_environment() -> FastAPI:
    """The application of a worker process, with the settings of the process that started it."""
    write_log(verbose=not os.environ.get(QUIET))
    keep_labels_private()
    return create_app(Service(Settings.from_json(os.environ[ENVIRONMENT])))


def write_log(*, verbose: bool = True) -> None:
    """One line per request on standard error: method, route, status, time and request id; nothing of its content."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    warnings.filterwarnings("ignore", module="PIL")  # what is wrong with an image is its own request's business
    levels = {"viewvote.server": logging.INFO, "uvicorn": logging.ERROR}
    levels |= {"python_multipart": logging.CRITICAL, "PIL": logging.CRITICAL}
    for name, level in levels.items():
        log = logging.getLogger(name)
        log.handlers, log.propagate = [handler], False
        log.setLevel(level)
    if not verbose:
        logging.getLogger("viewvote.server.requests").setLevel(logging.WARNING)


def keep_labels_private() -> None:
    """Write no more warnings about labels: those of requests are nobody's business but the asker's."""
    logging.getLogger("viewvote.labels").setLevel(logging.ERROR)


def listen(settings: Settings) -> socket.socket:
    """The socket, or an error that says why there is none."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host.strip("[]"), settings.port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {settings.host} port {settings.port}: {error}.") from error


def _configuration(settings: Settings) -> dict[str, Any]:
    return {
        "loop": "asyncio",
        "http": TimedProtocol,
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "limit_concurrency": CONNECTIONS,
        "h11_max_incomplete_event_size": HEADER_BYTES,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": int(settings.timeout) + 5,
    }
