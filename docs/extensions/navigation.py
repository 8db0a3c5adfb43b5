"""A page that no section names ends the build."""

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

LOG = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Read by Sphinx."""
    app.connect("env-check-consistency", check_navigation)
    return {"parallel_read_safe": True}


def check_navigation(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn, which is an error here, of each page that is in no table of contents."""
    listed = {page for pages in env.toctree_includes.values() for page in pages}
    for page in sorted(env.found_docs - listed - {app.config.root_doc}):
        LOG.warning("%s is in no toctree: name it in the index of its section", env.doc2path(page))
