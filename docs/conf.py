"""The documentation site: `make docs` builds it offline, with every warning an error."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(Path(__file__).parent)]

import viewvote

project = "viewvote"
author = "The viewvote authors"
version = release = viewvote.__version__
copyright = "the viewvote authors, MIT licence"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "extensions.commands",
    "extensions.docstrings",
    "extensions.links",
    "extensions.navigation",
]
templates_path = ["_templates"]
exclude_patterns = ["extensions", "images", "_templates"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(numpy|NDArray|PIL|Image|pathlib|collections|typing|np|os)\b.*")]
suppress_warnings = ["toc.not_included"]  # extensions.navigation says what to do

myst_enable_extensions = ["attrs_inline", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # pages show what the cells printed when they were committed; tests run them

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what a value is; annotations repeat it at length
python_use_unqualified_type_names = True

smartquotes = False  # "--top" is no dash

html_theme = "furo"
html_title = "viewvote"
REPOSITORY = "https://github.com/viewvote/viewvote"
html_theme_options = {
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
    "footer_icons": [{"name": "Repository", "url": REPOSITORY, "html": "Repository", "class": ""}],
}
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
