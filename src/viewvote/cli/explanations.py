"""`--explain`: one picture per image, under a name of its own."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from ..errors import UsageError
from ..outputs import check_output, put_output
from ..prediction import Prediction
from ..reading import reason
from ..sources import STDIN


class Explainer:
    """Writes the pictures of `paths` into a folder; raises UsageError at once where it could not, or may not."""

    def __init__(self, folder: Path, paths: Sequence[str], *, overwrite: bool) -> None:
        if STDIN in paths:
            raise UsageError("--explain needs a file; standard input can be read only once.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write into --explain {folder}: {reason(error)}.") from error
        self._folder = folder
        self._names = picture_names(paths)
        for name in self._names.values():
            check_output(folder / name, overwrite=overwrite)

    def write(self, path: str, prediction: Prediction) -> None:
        """Draw the picture of one prediction."""
        from ..pictures.explain import explain  # with Pillow's fonts, which nothing else needs

        out = BytesIO()
        explain(path, prediction).save(out, "PNG")
        put_output(self._folder / self._names[path], out.getvalue())


def picture_names(paths: Sequence[str]) -> dict[str, str]:
    """A different file name for each path: its stem, numbered where several have the same.

    All the images that were named take part, also those a resumed run has done before: their pictures are there.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for path in paths:
        stem = Path(path).stem
        name, n = f"{stem}.png", 1
        while name in taken:
            n += 1
            name = f"{stem}-{n}.png"
        taken.add(name)
        names[path] = name
    return names
