"""What a user without rights sees, also where the tests run as root."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def as_nobody(folder: Path) -> Iterator[None]:
    """Be a user who may look into `folder` and not write there, while the block runs."""
    modes = {
        place: place.stat().st_mode & 0o7777
        for place in (folder, *folder.parents)
        if place.stat().st_uid == os.geteuid()
    }
    before = os.geteuid()
    for place, mode in modes.items():
        place.chmod(mode | 0o555 if before == 0 else mode & ~0o222 if place == folder else mode)
    try:
        if before == 0:
            os.seteuid(NOBODY)
        yield
    finally:
        if before == 0:
            os.seteuid(before)
        for place, mode in modes.items():
            place.chmod(mode)
