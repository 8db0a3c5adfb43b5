"""The map of the code is the code's: rooms and layers of docs/design/architecture.md are those of the tree."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "viewvote"
PAGE = (ROOT / "docs" / "design" / "architecture.md").read_text(encoding="utf-8")


def section(title):
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rooms():
    """Folders and modules as the page's table names them."""
    return re.findall(r"^\| `([\w./]+)` \|", section("Rooms"), flags=re.MULTILINE)


def layers():
    """The rooms of each line of the page's drawing, top first."""
    return [line.strip().split(", ") for line in section("Layers").splitlines() if line.startswith("    ")]


def test_every_room_is_on_the_map_once_and_nothing_else_is():
    folders = [f"{path.name}/" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    modules = [path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("__")]
    assert sorted(rooms()) == sorted(folders + modules)


def test_the_layers_on_the_map_are_those_that_are_checked():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    checked = [layer.split(" : ") for layer in contract["layers"]]
    assert [[f"viewvote.{name}" for name in layer] for layer in layers()] == checked


def test_every_room_has_a_layer():
    assert sorted(name for layer in layers() for name in layer) == sorted(Path(name).stem for name in rooms())
