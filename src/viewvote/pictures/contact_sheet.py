"""A contact sheet: images of some classes under their names, to see with one's own eyes that the labels are right."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageOps

from ..datasets import Dataset, Item
from ..errors import ImageError, UsageError
from ..images.photo import open_photo
from ..outputs import put_output
from .drawing import FAINT, GRID, INK, SCALE
from .lettering import fit, length, write

CELL, CAPTION, GAP, MARGIN = 112 * SCALE, 46 * SCALE, 10 * SCALE, 24 * SCALE
COLUMNS, LEAST_COLUMNS = 10, 4
MOST = 60


@dataclass(frozen=True)
class Cell:
    """A picture of a sheet, its name in a line or two, and a note in small letters."""

    item: Item
    name: str
    note: str


def contact_sheet(dataset: Dataset, *, most: int = MOST) -> Image.Image:
    """The first image of each of up to `most` classes, spread evenly over the labels; unreadable ones as a cross."""
    items = _one_per_class(dataset, _spread(sorted(set(dataset.targets)), most))
    counts = Counter(dataset.targets)
    title = f"{dataset.name}: {len(items)} of {len(dataset.class_names):,} classes, {len(dataset):,} images"
    cells = [
        Cell(
            item,
            dataset.class_names[item.target],
            f"label {item.target}, {counts[item.target]:,} image{'s' * (counts[item.target] > 1)}",
        )
        for item in items
    ]
    return draw_sheet(title, cells)


def draw_sheet(title: str, cells: Sequence[Cell]) -> Image.Image:
    """Pictures in rows under a title; those that cannot be read as a cross."""
    columns = min(COLUMNS, max(LEAST_COLUMNS, len(cells)))
    rows = -(-len(cells) // columns)
    top = MARGIN + 30 * SCALE
    width = 2 * MARGIN + columns * (CELL + GAP) - GAP
    sheet = Image.new("RGB", (width, top + rows * (CELL + CAPTION + GAP) + MARGIN), "white")
    draw = ImageDraw.Draw(sheet)
    write(draw, (MARGIN, MARGIN), title, size=15, fill=INK, width=width - 2 * MARGIN)
    for n, cell in enumerate(cells):
        x, y = MARGIN + n % columns * (CELL + GAP), top + n // columns * (CELL + CAPTION + GAP)
        sheet.paste(_cell(cell.item), (x, y))
        lines = _two_lines(cell.name)
        for n_line, text in enumerate(lines):
            write(draw, (x, y + CELL + (3 + 13 * n_line) * SCALE), text, size=11, fill=INK)
        below = (x, y + CELL + (4 + 13 * len(lines)) * SCALE)
        write(draw, below, cell.note, size=9, fill=FAINT, width=CELL)
    return sheet


def save_contact_sheet(dataset: Dataset, path: Path) -> None:
    """Write the contact sheet to a file, whose ending names the kind of image."""
    save_sheet(contact_sheet(dataset), path)


def save_sheet(sheet: Image.Image, path: Path) -> None:
    """Write a sheet to a file, whose ending names the kind of image."""
    kind, out = Image.registered_extensions().get(path.suffix.lower()), BytesIO()
    if kind not in Image.SAVE:
        raise UsageError(f"cannot write the contact sheet {path}: unknown file extension: {path.suffix}.")
    try:
        sheet.save(out, kind)
    except (OSError, ValueError) as error:  # a kind that has no colours
        raise UsageError(f"cannot write the contact sheet {path}: {error}.") from error
    put_output(path, out.getvalue())


def _spread(labels: Sequence[int], most: int) -> list[int]:
    """Up to `most` labels, evenly spaced from the first to the last."""
    if len(labels) <= most:
        return list(labels)
    return [labels[i * (len(labels) - 1) // max(1, most - 1)] for i in range(most)]


def _one_per_class(dataset: Dataset, labels: Sequence[int]) -> list[Item]:
    """The first item of each label, in the order of the labels; no other is read."""
    first = {label: position for position, label in reversed([*enumerate(dataset.targets)])}
    return [dataset[first[label]] for label in labels]


def _two_lines(name: str) -> list[str]:
    """The name in one line or two, cut where it is longer still."""
    words = name.split()
    first = next((n for n in range(len(words), 0, -1) if length(" ".join(words[:n]), size=11) <= CELL), 1)
    lines = [" ".join(words[:first]), " ".join(words[first:])]
    return [fit(line, CELL, size=11) for line in lines if line]


def _cell(item: Item) -> Image.Image:
    cell = Image.new("RGB", (CELL, CELL), GRID)
    try:
        picture = ImageOps.contain(open_photo(item.image).full(), (CELL, CELL))
    except ImageError:
        ImageDraw.Draw(cell).line((0, 0, CELL, CELL), fill=FAINT, width=SCALE)
        ImageDraw.Draw(cell).line((0, CELL, CELL, 0), fill=FAINT, width=SCALE)
        return cell
    cell.paste(picture, ((CELL - picture.width) // 2, (CELL - picture.height) // 2))
    return cell
