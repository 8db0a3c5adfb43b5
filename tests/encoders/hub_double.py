"""A hub of one's own: a loopback server that answers as the hub does for files of a repository."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class HubDouble:
    """Serves `root/owner/name/...` as revision "main" of each repository; `drop_after` cuts transfers short."""

    root: Path
    url: str = ""
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)  # method, path, range
    drop_after: dict[str, int] = field(default_factory=dict)  # file name -> bytes before the connection breaks, once

    def gets(self, name: str) -> list[str | None]:
        """The ranges of the downloads of a file so far; None is a whole one."""
        return [range_ for method, path, range_ in self.requests if method == "GET" and path.endswith(name)]


@contextmanager
def serve_hub(root: Path) -> Iterator[HubDouble]:
    hub = HubDouble(root)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, *, body: bool) -> None:
            path = self.path.partition("?")[0].strip("/")
            hub.requests.append((self.command, path, self.headers.get("Range")))
            parts = path.split("/")
            if len(parts) < 5 or parts[2] != "resolve" or not (root / parts[0] / parts[1]).is_dir():
                return self.refuse("RepoNotFound")
            if parts[3] not in ("main", COMMIT):
                return self.refuse("RevisionNotFound")
            file = root.joinpath(*parts[:2], *parts[4:])
            return self.send_file(file, body=body) if file.is_file() else self.refuse("EntryNotFound")

        def refuse(self, code: str) -> None:
            self.send_response(404)
            for name, value in {"X-Error-Code": code, "X-Repo-Commit": COMMIT, "Content-Length": "0"}.items():
                self.send_header(name, value)
            self.end_headers()

        def send_file(self, file: Path, *, body: bool) -> None:
            content = file.read_bytes()
            etag = hashlib.sha1(content).hexdigest()
            start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").split("-")[0])
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "Content-Length": str(len(content) - start)}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            limit = hub.drop_after.pop(file.name, None) if body else None
            if body:
                self.wfile.write(content[start : start + limit] if limit is not None else content[start:])
            if limit is not None:
                self.wfile.flush()
                self.connection.shutdown(2)
                self.close_connection = True

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
