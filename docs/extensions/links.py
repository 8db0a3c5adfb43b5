"""Links from a page to a file of the repository that is no page lead to where the repository is published."""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

REPOSITORY = "https://github.com/viewvote/viewvote"
LINK = re.compile(r"(?<=\]\()(?!https?://|mailto:|data:)([^)#\s]+)(?=[)#])")


def setup(app: Sphinx) -> dict[str, bool]:
    """Read by Sphinx."""
    app.connect("source-read", rewrite_links)
    return {"parallel_read_safe": True}


def rewrite_links(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the links of a page that lead out of the folder of pages."""
    docs = Path(app.srcdir)
    here = Path(app.env.doc2path(page)).parent

    def address(found: re.Match[str]) -> str:
        target = (here / found[1]).resolve()
        if not target.exists():
            raise ExtensionError(f"{page} links to {found[1]}, which is not there: mend the link.")
        if target.is_relative_to(docs) and target.is_file():
            return found[1]
        kind = "tree" if target.is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{target.relative_to(docs.parent).as_posix()}"

    source[0] = LINK.sub(address, source[0])
