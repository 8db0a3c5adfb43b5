"""Notebooks as pages: their texts, and what the cells printed when they were committed. Nothing is run here."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Read by Sphinx."""
    app.add_source_suffix(".ipynb", "markdown")
    app.connect("source-read", to_markdown, priority=100)
    return {"parallel_read_safe": True}


def to_markdown(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace a notebook's JSON by Markdown."""
    if Path(app.env.doc2path(page)).suffix == ".ipynb":
        cells = json.loads(source[0])["cells"]
        source[0] = "\n".join(line for cell in cells for line in [*lines_of(cell), ""])


def lines_of(cell: dict[str, Any]) -> Iterator[str]:
    """A cell, and what it printed and drew."""
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield text
        return
    yield from ["```text" if text.startswith(("%", "!")) else "```python", text, "```", ""]
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        picture = next((kind for kind in data if kind.startswith("image/")), None)
        if picture:
            drawn = "".join(data[picture]).replace("\n", "")
            yield from [f"![What the cell above drew](data:{picture};base64,{drawn})", ""]
        else:
            yield from ["```text", "".join(data["text/plain"]).rstrip("\n"), "```", ""]
