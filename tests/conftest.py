"""What several tests need: drawn pictures, and the real photographs where they exist."""

import signal
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from viewvote import ToyEncoder
from viewvote.encoders.clip_b16.tower import tower_file

# A shell starts background jobs with Ctrl-C ignored, and children inherit that: tests that interrupt one need it back.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TOWER = tower_file()
PHOTOS = Path(__file__).parents[2] / "shared" / "data"


def draw_photo(width: int, height: int, *, seed: int = 0) -> Image.Image:
    """A picture with edges, texture and gradients at all scales, as a photograph has."""
    rng = np.random.default_rng(seed)
    pixels = np.zeros((height, width, 3))
    for cells in (3, 9, 40):
        small = Image.fromarray(rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        pixels += np.asarray(small.resize((width, height), Image.Resampling.BICUBIC), dtype=float) / 4
    pixels += rng.normal(0, 6, pixels.shape)
    pixels[height // 3 : height // 2, width // 4 : width // 2] = (220, 40, 30)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


class Contrary(ToyEncoder):
    """A teacher that sees green where there is red, at another size, and notes what it is shown."""

    model_id = "contrary"

    def __init__(self) -> None:
        super().__init__(size=8)
        self.seen: list[tuple[int, ...]] = []

    def encode_images(self, views):
        self.seen.append(views.shape)
        return super().encode_images(views[..., [1, 0, 2]])


class Gate(ToyEncoder):
    """A toy that waits before every batch until it is let through, and remembers the batches."""

    def __init__(self):
        super().__init__()
        self.open = threading.Event()
        self.entered = threading.Event()
        self.open.set()
        self.batches = []

    def encode_images(self, views):
        self.entered.set()
        assert self.open.wait(30)
        self.batches.append(len(views))
        return super().encode_images(views)


class InBlocks(ToyEncoder):
    """A toy whose last bits depend on the other views of a block of eight, as torch's do."""

    model_id = "in-blocks"
    block_views = 8

    def encode_images(self, views):
        rows = [super(InBlocks, self).encode_images(views[i : i + 8]) for i in range(0, len(views), 8)]
        return np.concatenate([(row * np.float32(1 + 1e-6 * len(row))).astype(np.float32) for row in rows])


LONGEST = "tests/test_pages.py"
"""The file that takes longest: a minute or two in one process."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest file first: else one process works on it alone at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.fixture(scope="session")
def shipped_photos() -> list[Path]:
    """The photographs that ship: an astronaut, a cat, a cup of coffee, a rocket."""
    return sorted((Path(__file__).parents[1] / "examples" / "photos").glob("*.jpg"))


@pytest.fixture(scope="session")
def photos() -> Path:
    """The folder of real photographs; tests that need it skip where it is not beside the repository."""
    if not (PHOTOS / "eval").is_dir():
        pytest.skip("needs the photographs of ../shared/data, which are not here")
    return PHOTOS


def link_tower() -> bool:
    """Whether the image tower is in the user's cache: then it is in that of the tests."""
    if not TOWER.is_file():
        return False
    if not tower_file().exists():
        tower_file().parent.mkdir(parents=True, exist_ok=True)
        tower_file().symlink_to(TOWER)
    return True


@pytest.fixture
def clip_b16(_own_cache: None) -> None:
    """The image tower of the user's cache; tests that need it skip where it was never fetched."""
    if not link_tower():
        pytest.skip("needs the image tower of `viewvote models get clip-b16`")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests neither read nor fill the user's cache."""
    monkeypatch.setenv("VIEWVOTE_CACHE", str(tmp_path_factory.getbasetemp() / "viewvote-cache"))
