"""`--explain`: one picture per image under a name of its own, and a page of them all."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..outputs import check_output, put_output
from ..prediction import Prediction
from ..reading import open_regular, reason
from ..sources import STDIN

if TYPE_CHECKING:
    from ..images.photo import ImageLimits
    from ..pictures.gallery import Shown

PAGE, SHOWN, THUMBNAILS = "index.html", "gallery.jsonl", "thumbnails"
ENDING = ".webp"
LONGEST = 200
"""Bytes of a name before its number and ending; file systems take 255 in all."""


class Explainer:
    """Writes the pictures of `paths` into a folder; raises UsageError at once where it could not, or may not.

    What the page shows is noted in a file beside it, so that a resumed run has the images of the one before too.
    """

    def __init__(
        self,
        folder: Path,
        paths: Sequence[str],
        *,
        resume: bool = False,
        overwrite: bool = False,
        limits: "ImageLimits | None" = None,
    ) -> None:
        if STDIN in paths:
            raise UsageError("--explain needs a file; standard input can be read only once.")
        self._folder = folder
        self._limits = limits
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._replaces = overwrite or resume
        self._shown: dict[str, Shown] = _read_shown(folder / SHOWN) if resume else {}
        try:
            (folder / THUMBNAILS).mkdir(parents=True, exist_ok=True)
            check_output(folder / PAGE, overwrite=self._replaces)
            self.add(paths)
            put_output(folder / SHOWN, "".join(map(_line, self._shown.values())))
        except OSError as error:
            raise UsageError(f"cannot write into --explain {folder}: {reason(error)}.") from error

    def add(self, paths: Sequence[str]) -> None:
        """Give each path a file name: its stem, numbered where several have the same.

        All the images that were named take part, also those a resumed run has done before: their pictures are there.
        """
        for path in paths:
            if path not in self._names:
                stem = os.fsdecode(os.fsencode(Path(path).stem)[:LONGEST])
                name, n = stem, 1
                while name.casefold() in self._taken:
                    n += 1
                    name = f"{stem}-{n}"
                self._taken.add(name.casefold())
                self._names[path] = name + ENDING
                check_output(self._folder / self._names[path], overwrite=self._replaces)

    def write(self, path: str, prediction: Prediction) -> None:
        """Draw the picture of one prediction, and its thumbnail."""
        from ..images.photo import open_photo
        from ..pictures.compact import save_webp, webp
        from ..pictures.explain import explain  # with Pillow's fonts, which nothing else needs
        from ..pictures.gallery import Shown, thumbnail_of

        name = self._names[path]
        photo = open_photo(path, limits=self._limits)
        save_webp(explain(photo, prediction), self._folder / name)
        put_output(self._folder / THUMBNAILS / name, webp(thumbnail_of(photo)))
        shown = Shown(
            path, name, f"{THUMBNAILS}/{name}", prediction.label, prediction.probability, prediction.votes_won
        )
        self._note(shown)

    def write_page(self) -> None:
        """Write the page of all that was explained so far."""
        from ..pictures.gallery import gallery_page

        put_output(self._folder / PAGE, gallery_page([*self._shown.values()]))

    def _note(self, shown: "Shown") -> None:
        self._shown[shown.picture] = shown
        with (self._folder / SHOWN).open("a", encoding="utf-8", newline="\n") as file:
            file.write(_line(shown))


def _line(shown: "Shown") -> str:
    return json.dumps(asdict(shown)) + "\n"


def _read_shown(path: Path) -> dict[str, "Shown"]:
    """What an earlier run noted, by picture; lines that are cut or of something else are left out."""
    from ..pictures.gallery import Shown

    found = {}
    try:
        with open_regular(path) as file:
            lines = file.read().decode("utf-8").split("\n")
    except (OSError, ValueError):
        return {}
    for line in lines:
        with suppress(ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            row = json.loads(line)
            for name in ("path", "picture", "thumbnail", "votes"):
                os.fsencode(row[name])  # raises where a name has characters that no file name has
            (row["label"] or "").encode()
            found[row["picture"]] = Shown(**{**row, "probability": float(row["probability"])})
    return found
