"""A page that no section names ends the build; `name?` in a toctree is a page that need not be there."""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

LOG = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Read by Sphinx."""
    app.connect("source-read", drop_absent)
    app.connect("env-check-consistency", check_navigation)
    return {"parallel_read_safe": True}


def drop_absent(app: Sphinx, page: str, source: list[str]) -> None:
    """Drop the lines `name?` of pages that are not there, and the question marks of the others."""
    folder = Path(app.env.doc2path(page)).parent

    def line(found: re.Match[str]) -> str:
        return f"{found[1]}\n" if (folder / f"{found[1]}.md").exists() else ""

    source[0] = re.sub(r"^([\w./-]+)\?\n", line, source[0], flags=re.MULTILINE)


def check_navigation(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn, which is an error here, of each page that is in no table of contents."""
    listed = {page for pages in env.toctree_includes.values() for page in pages}
    for page in sorted(env.found_docs - listed - {app.config.root_doc}):
        LOG.warning("%s is in no toctree: name it in the page of its section (docs/guides.md ...)", env.doc2path(page))
