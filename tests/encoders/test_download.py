"""One file over a real socket: whole, in two halves, after broken connections, and where it cannot be had."""

import threading
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from viewvote.encoders.download import ATTEMPTS, Transport, download, shown
from viewvote.errors import ModelNotFoundError

CONTENT = bytes(range(256)) * 4000


@dataclass
class Files:
    """A server of one file at /file; `cut` bytes into each answer the connection breaks, so many times."""

    port: int = 0
    cut: int = 0
    times: int = 0
    knows_ranges: bool = True
    asked: list[str | None] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/file"


@pytest.fixture
def files() -> Iterator[Files]:
    state = Files()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.headers.get("Range"))
            if login := self.headers.get("Authorization"):
                state.logins.append(b64decode(login.removeprefix("Basic ")).decode())
            if self.path != "/file":
                return self.send_error(404)
            asked = self.headers.get("Range") if state.knows_ranges else None
            start = int((asked or "bytes=0-").removeprefix("bytes=").rstrip("-"))
            if start >= len(CONTENT):
                return self.send_error(416)
            self.send_response(206 if asked else 200)
            self.send_header("Content-Length", str(len(CONTENT) - start))
            self.end_headers()
            if state.times:
                state.times -= 1
                self.wfile.write(CONTENT[start : start + state.cut])
                self.wfile.flush()
                return self.connection.shutdown(2)
            return self.wfile.write(CONTENT[start:])

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


def fetch(files: Files, path: Path, url: str | None = None) -> list[tuple[int, int | None]]:
    seen: list[tuple[int, int | None]] = []
    download(url or files.url, path, Transport(), watch=lambda done, total: seen.append((done, total)))
    return seen


def test_a_file_comes_whole_and_its_progress_is_told(files: Files, tmp_path: Path) -> None:
    seen = fetch(files, tmp_path / "deep" / "file")
    assert (tmp_path / "deep" / "file").read_bytes() == CONTENT
    assert (seen[0], seen[-1]) == ((0, len(CONTENT)), (len(CONTENT), len(CONTENT)))
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["file"]


def test_what_an_earlier_process_brought_is_not_fetched_again(files: Files, tmp_path: Path) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT[:300_000])
    seen = fetch(files, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert files.asked == ["bytes=300000-"]
    assert seen[0] == (300_000, len(CONTENT))


def test_a_server_without_ranges_sends_all_of_it_again(files: Files, tmp_path: Path) -> None:
    files.knows_ranges = False
    (tmp_path / "file.part").write_bytes(b"something else")
    fetch(files, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_part_that_is_longer_than_the_file_is_thrown_away(files: Files, tmp_path: Path) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT + b"more")
    fetch(files, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert files.asked == [f"bytes={len(CONTENT) + 4}-", None]


def test_broken_connections_are_taken_up_again(files: Files, tmp_path: Path) -> None:
    files.cut, files.times = 100_000, 7
    fetch(files, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert files.asked == [None, *(f"bytes={n}00000-" for n in range(1, 8))]


def test_a_connection_that_brings_nothing_is_given_up_and_the_part_is_kept(files: Files, tmp_path: Path) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT[:300_000])
    files.cut, files.times = 0, 99
    with pytest.raises(ModelNotFoundError, match=r"broke off: .*same command continues"):
        fetch(files, tmp_path / "file")
    assert len(files.asked) == ATTEMPTS
    assert (tmp_path / "file.part").read_bytes() == CONTENT[:300_000]


def test_a_file_that_is_not_there_is_no_broken_connection(files: Files, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="answers 404"):
        fetch(files, tmp_path / "file", url=files.url + "s")
    assert len(files.asked) == 1


def test_a_local_file_is_copied(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(CONTENT)
    fetch(Files(), tmp_path / "b", url=(tmp_path / "a").as_uri())
    assert (tmp_path / "b").read_bytes() == CONTENT


def test_a_password_is_sent_and_never_shown(files: Files, tmp_path: Path) -> None:
    url = f"http://ann:s%40cret@127.0.0.1:{files.port}/file"
    fetch(files, tmp_path / "file", url=url)
    assert files.logins == ["ann:s@cret"]
    assert shown(url) == files.url
    with pytest.raises(ModelNotFoundError) as caught:
        fetch(files, tmp_path / "other", url=url + "s")
    assert "cret" not in str(caught.value)


def test_other_kinds_of_addresses_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="start with https, http, file"):
        Transport().open("ftp://example.org/file")
