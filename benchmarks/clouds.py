"""Google's and Azure's stores and Hugging Face's hub on loopback, with faults: for `gs://`, `az://` and `hf://`."""

import json
import random
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

from benchmarks.stores import FAILS_IN

AZURITE_ACCOUNT = "devstoreaccount1"
AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The published ones that every Azurite has."""


class Faults:
    """Which requests fail and which answers are cut off: one in twenty each, once `at_work`, the same in every run.

    After `most` faults there are no more: Azure's client waits a quarter of a minute and more after each.
    """

    def __init__(self) -> None:
        self._random = random.Random(0)
        self._lock = threading.Lock()
        self.requests = self.failed = self.cut = 0
        self.at_work = False
        self.most = 1_000_000

    def next(self, *, may_cut: bool) -> str | None:
        """What is to happen to the request at hand."""
        with self._lock:
            self.requests += 1
            chance = self._random.random() if self.at_work and self.failed + self.cut < self.most else 1.0
            fails, cuts = chance < 1 / FAILS_IN, may_cut and 1 / FAILS_IN <= chance < 2 / FAILS_IN
            self.failed, self.cut = self.failed + fails, self.cut + cuts
            return "fail" if fails else "cut" if cuts else None


class _Handler(BaseHTTPRequestHandler):
    """Answers with `answer`, which a subclass has; some answers are errors or cut off."""

    protocol_version = "HTTP/1.1"
    faults: Faults

    def answer(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the answer to this request."""
        raise NotImplementedError

    def _respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.faults.next(may_cut=self.command == "GET")
        status, headers, data = (500, {}, b"") if fault == "fail" else self.answer(body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers and status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data[: len(data) // 2] if fault == "cut" else data)
        self.close_connection = self.close_connection or fault == "cut"

    def __getattr__(self, name: str) -> object:  # do_GET, do_PUT, ...
        if name.startswith("do_"):
            return self._respond
        raise AttributeError(name)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def _serving(handler: type[_Handler]) -> Iterator[tuple[Faults, str]]:
    handler.faults = Faults()
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield handler.faults, f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@contextmanager
def before(port: int) -> Iterator[tuple[Faults, str]]:
    """A proxy before a server of this machine."""

    class Proxy(_Handler):
        def answer(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
            connection = HTTPConnection("127.0.0.1", port, timeout=30)
            try:
                connection.request(self.command, self.path, body or None, dict(self.headers.items()))
                found = connection.getresponse()
                data = found.read()
            except (OSError, HTTPException) as error:
                return 502, {}, str(error).encode()
            finally:
                connection.close()
            left_out = ["Transfer-Encoding", "Connection", "Keep-Alive"]
            left_out += [] if self.command == "HEAD" else ["Content-Length"]
            headers = {name.title(): value for name, value in found.getheaders() if name.title() not in left_out}
            return found.status, headers, data

    with _serving(Proxy) as found:
        yield found


@contextmanager
def gs() -> Iterator[tuple[Faults, dict[str, str]]]:
    """Google's store as gcp-storage-emulator serves it; yields its faults and the environment that leads to it."""
    from gcp_storage_emulator.server import create_server

    port = _free_port()
    server = create_server("127.0.0.1", port, in_memory=True, default_bucket="photos")
    server.start()
    try:
        with before(port) as (faults, root):
            yield faults, {"STORAGE_EMULATOR_HOST": root, "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}
    finally:
        server.stop()


@contextmanager
def az() -> Iterator[tuple[Faults, dict[str, str]]]:
    """Azure's store as Azurite serves it (of npm, found on PATH)."""
    port = _free_port()
    program = shutil.which("azurite-blob") or "azurite-blob"
    flags = ["--silent", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"]
    process = subprocess.Popen([program, *flags, "--blobHost", "127.0.0.1", "--blobPort", str(port)])
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        with before(port) as (faults, root):
            account = f"AccountName={AZURITE_ACCOUNT};AccountKey={AZURITE_KEY}"
            address = f"DefaultEndpointsProtocol=http;{account};BlobEndpoint={root}/{AZURITE_ACCOUNT};"
            yield faults, {"AZURE_STORAGE_CONNECTION_STRING": address}
    finally:
        process.terminate()
        process.wait()


@contextmanager
def hub(files: Mapping[str, bytes], *, name: str = "someone/photos") -> Iterator[tuple[Faults, dict[str, str]]]:
    """A data set of Hugging Face's hub, as far as hf:// addresses ask for it."""

    class Hub(_Handler):
        def answer(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
            del body
            asked = urlsplit(self.path)
            path, api = unquote(asked.path), f"/api/datasets/{name}"
            if path in (api, f"{api}/revision/main"):
                return _json({"id": name, "sha": "0" * 40, "siblings": []})
            if path.startswith(f"{api}/tree/main"):
                recursive = parse_qs(asked.query).get("recursive", [""])[0].lower() == "true"
                found = _tree(files, path.removeprefix(f"{api}/tree/main").strip("/"), recursive=recursive)
                return _json(found) if found else (404, {"X-Error-Code": "EntryNotFound"}, b"")
            data = files.get(path.removeprefix(f"/datasets/{name}/resolve/main/"))
            if data is None:
                return 404, {"X-Error-Code": "EntryNotFound" if name in path else "RepoNotFound"}, b""
            return _part(data, self.headers.get("Range"))

    with _serving(Hub) as (faults, root):
        yield faults, {"HF_ENDPOINT": root, "HF_HUB_DISABLE_TELEMETRY": "1"}


def _json(value: object) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


def _tree(files: Mapping[str, bytes], inside: str, *, recursive: bool) -> list[dict[str, object]]:
    """The files and folders in a folder, as the hub lists them."""
    found: dict[str, dict[str, object]] = {}
    for name, data in files.items():
        if inside and not name.startswith(f"{inside}/"):
            continue
        first, deeper, _ = name.removeprefix(inside).strip("/").partition("/")
        if deeper and not recursive:
            path = f"{inside}/{first}".strip("/")
            found[path] = {"type": "directory", "oid": "0" * 40, "size": 0, "path": path}
        else:
            found[name] = {"type": "file", "oid": "0" * 40, "size": len(data), "path": name}
    return list(found.values())


def _part(data: bytes, wanted: str | None) -> tuple[int, dict[str, str], bytes]:
    if wanted is None:
        return 200, {"ETag": '"0"'}, data
    first, _, last = wanted.removeprefix("bytes=").partition("-")
    start, end = int(first), min(len(data), int(last) + 1) if last else len(data)
    return 206, {"ETag": '"0"', "Content-Range": f"bytes {start}-{end - 1}/{len(data)}"}, data[start:end]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def azurite_is_here() -> bool:
    """Whether `az` can be served."""
    return shutil.which("azurite-blob") is not None
