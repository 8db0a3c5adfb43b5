"""What ships beside the code: the embedded model and the example photographs."""

from importlib.resources import files
from pathlib import Path

from .errors import ModelNotFoundError


def shipped(folder: str) -> Path:
    """The folder `folder` inside the installed package, or at the root of a source checkout."""
    installed = Path(str(files("viewvote"))) / folder
    checkout = Path(__file__).parents[2] / folder
    found = next((place for place in (installed, checkout) if place.is_dir()), None)
    if found is None:
        raise ModelNotFoundError(f"{folder} is missing from this installation of viewvote; expected it at {installed}.")
    return found


def example_photos() -> list[Path]:
    """The shipped photographs; their README names sources and terms."""
    return sorted(shipped("examples/photos").glob("*.jpg"))
