"""A contact sheet: images of some classes under their names, to see with one's own eyes that the labels are right."""

from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageOps

from ..datasets import Dataset, Item
from ..errors import ImageError, UsageError
from ..images.photo import open_photo
from ..outputs import put_output
from .drawing import FAINT, GRID, INK, SCALE, fit, font

CELL, CAPTION, GAP, MARGIN = 112 * SCALE, 46 * SCALE, 10 * SCALE, 24 * SCALE
COLUMNS, LEAST_COLUMNS = 10, 4
MOST = 60


def contact_sheet(dataset: Dataset, *, most: int = MOST) -> Image.Image:
    """The first image of each of up to `most` classes, spread evenly over the labels; unreadable ones as a cross."""
    items = _one_per_class(dataset, _spread(sorted(set(dataset.targets)), most))
    counts = Counter(dataset.targets)
    columns = min(COLUMNS, max(LEAST_COLUMNS, len(items)))
    rows = -(-len(items) // columns)
    top = MARGIN + 30 * SCALE
    width = 2 * MARGIN + columns * (CELL + GAP) - GAP
    sheet = Image.new("RGB", (width, top + rows * (CELL + CAPTION + GAP) + MARGIN), "white")
    draw = ImageDraw.Draw(sheet)
    title = f"{dataset.name}: {len(items)} of {len(dataset.class_names):,} classes, {len(dataset):,} images"
    draw.text((MARGIN, MARGIN), fit(title, width - 2 * MARGIN, font(15)), fill=INK, font=font(15))
    for n, item in enumerate(items):
        x, y = MARGIN + n % columns * (CELL + GAP), top + n // columns * (CELL + CAPTION + GAP)
        sheet.paste(_cell(item), (x, y))
        lines = _two_lines(dataset.class_names[item.target])
        for n_line, text in enumerate(lines):
            draw.text((x, y + CELL + (3 + 13 * n_line) * SCALE), text, fill=INK, font=font(11))
        below = f"label {item.target}, {counts[item.target]:,} image{'s' * (counts[item.target] > 1)}"
        draw.text((x, y + CELL + (4 + 13 * len(lines)) * SCALE), below, fill=FAINT, font=font(9))
    return sheet


def save_contact_sheet(dataset: Dataset, path: Path) -> None:
    """Write the contact sheet to a file, whose ending names the kind of image."""
    kind, out = Image.registered_extensions().get(path.suffix.lower()), BytesIO()
    if kind not in Image.SAVE:
        raise UsageError(f"cannot write the contact sheet {path}: unknown file extension: {path.suffix}.")
    try:
        contact_sheet(dataset).save(out, kind)
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
    first = next((n for n in range(len(words), 0, -1) if font(11).getlength(" ".join(words[:n])) <= CELL), 1)
    lines = [" ".join(words[:first]), " ".join(words[first:])]
    return [fit(line, CELL, font(11)) for line in lines if line]


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
