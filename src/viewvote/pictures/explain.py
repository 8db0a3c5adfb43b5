"""One picture of why: where the kept views looked, what each said, and how the votes fell."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from PIL import Image, ImageDraw

from ..context import Context
from ..images.photo import ImageSource, Photo, open_photo
from ..images.spec import ImageSpec
from ..prediction import Box, Prediction, ViewTrace
from ..views.crops import View
from ..views.draw import render_views
from .drawing import FAINT, GRID, INK, SCALE
from .lettering import write

# Distinct for people with colour-blindness too (Okabe and Ito's set, without its yellow, which vanishes on white).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#6A3D9A")
OTHER = "#8A8A8A"

MARGIN, GAP = 24 * SCALE, 8 * SCALE
PHOTO, KEPT, LOST = 420 * SCALE, 96 * SCALE, 48 * SCALE
COLUMNS, LEAST_COLUMNS = 7, 4
BY_EYE = 0.005
"""Shorter bars are left out; bars that differ by as much from the share of the votes are said to show more."""


def explain(image: ImageSource | Photo, prediction: Prediction) -> Image.Image:
    """The explanatory picture of a prediction: the photo with the kept boxes, the views, and the tally."""
    photo = image if isinstance(image, Photo) else open_photo(image)
    views = prediction.trace.views if prediction.trace else ()
    colours = _colours(prediction, views)
    tiles = render_views(photo, [View(v.box, v.flip) for v in _whole(views)], ImageSpec(size=KEPT))
    kept = sorted((i for i, v in enumerate(views) if v.kept), key=lambda i: views[i].entropy)
    lost = sorted((i for i, v in enumerate(views) if not v.kept), key=lambda i: views[i].entropy)

    grid = _grid([Image.fromarray(tiles[i]) for i in kept], [views[i] for i in kept], colours)
    grey = _strip([Image.fromarray(tiles[i]) for i in lost], width=grid.width)
    left = _photo(photo.full(), [views[i] for i in kept], colours)
    bars = _tally(prediction, views, colours)

    top = MARGIN + (56 if prediction.path is None else 72) * SCALE
    height = max(left.height + MARGIN + bars.height, grid.height + (grey.height + 5 * GAP if grey else 0))
    canvas = Image.new("RGB", (PHOTO + grid.width + 4 * MARGIN, top + height + MARGIN), "white")
    draw, room = ImageDraw.Draw(canvas), canvas.width - 2 * MARGIN
    write(draw, (MARGIN, MARGIN), _title(prediction), size=19, fill=INK, width=room)
    if prediction.path is not None:
        write(draw, (MARGIN, MARGIN + 28 * SCALE), _file_name(prediction.path), size=12, fill=FAINT, width=room)
    if prediction.context is not None:
        below = MARGIN + (28 if prediction.path is None else 46) * SCALE
        said = _surroundings(prediction.context, prediction)
        write(draw, (MARGIN, below), said, size=11, fill=FAINT, width=room)
    canvas.paste(left, (MARGIN, top))
    canvas.paste(bars, (MARGIN, top + left.height + MARGIN))
    x = PHOTO + 3 * MARGIN
    canvas.paste(grid, (x, top))
    if grey:
        below = top + grid.height + 2 * GAP
        write(draw, (x, below), f"{_counted(len(lost), 'less confident view')}, not counted", size=11, fill=FAINT)
        canvas.paste(grey, (x, below + 3 * GAP))
    return canvas


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _file_name(path: str) -> str:
    return "standard input" if path == "-" else PurePath(path).name


def _title(prediction: Prediction) -> str:
    label = prediction.label if prediction.label is not None else "no label (too unsure)"
    said = "" if prediction.votes is None else f", {prediction.votes_won} votes"
    return f"{label}: {prediction.probability:.0%} likely{said}"


def _surroundings(context: Context, prediction: Prediction) -> str:
    """What other photos took off, in words."""
    if not context.is_used:
        return context.note or f"context of {context.n} photos: nothing taken off"
    most = context.strongest()
    return (
        f"context of {context.n} photos: {context.taken_off(most):.0%} taken off {prediction.labels[most]}, "
        "which all of them resemble"
    )


def _whole(views: Sequence[ViewTrace]) -> list[ViewTrace]:
    """The views with their boxes on whole pixels, so that the source view can be drawn as a crop too."""
    return [replace(v, box=Box(*(round(x) for x in (v.box.left, v.box.top, v.box.right, v.box.bottom)))) for v in views]


def _colours(prediction: Prediction, views: Sequence[ViewTrace]) -> dict[str, str]:
    """A colour for each label with votes, best first; labels beyond the palette share grey."""
    said = [view.label for view in views if view.kept]
    order = [prediction.labels[prediction.index], *sorted(set(said), key=lambda label: (-said.count(label), label))]
    return dict(zip(dict.fromkeys(order), PALETTE, strict=False))


def _photo(image: Image.Image, kept: Sequence[ViewTrace], colours: dict[str, str]) -> Image.Image:
    """The photo with the box of every kept view in the colour of its vote."""
    ratio = PHOTO / max(image.size)
    shown = image.resize(
        (max(1, round(image.width * ratio)), max(1, round(image.height * ratio))), Image.Resampling.BICUBIC
    )
    draw = ImageDraw.Draw(shown)
    for view in reversed(kept):
        box = [round(x * ratio) for x in (view.box.left, view.box.top, view.box.right, view.box.bottom)]
        corners = (box[0], box[1], max(box[0], box[2] - 1), max(box[1], box[3] - 1))
        draw.rectangle(corners, outline=colours.get(view.label, OTHER), width=2 * SCALE)
    out = Image.new("RGB", (PHOTO, shown.height + 4 * GAP), "white")
    out.paste(shown, (0, 0))
    where = "where the kept view looked" if len(kept) == 1 else f"where the {len(kept)} kept views looked"
    write(ImageDraw.Draw(out), (0, shown.height + GAP), where if kept else "no view was kept", size=11, fill=FAINT)
    return out


def _grid(tiles: Sequence[Image.Image], views: Sequence[ViewTrace], colours: dict[str, str]) -> Image.Image:
    """The kept views, most confident first, each framed in the colour of its vote."""
    columns = min(COLUMNS, max(LEAST_COLUMNS, len(tiles)))
    rows = -(-len(tiles) // columns)
    step_x, step_y = KEPT + GAP, KEPT + GAP + 30 * SCALE
    out = Image.new("RGB", (columns * step_x - GAP, max(1, rows * step_y - GAP)), "white")
    draw = ImageDraw.Draw(out)
    for n, (tile, view) in enumerate(zip(tiles, views, strict=True)):
        x, y = n % columns * step_x, n // columns * step_y
        colour = colours.get(view.label, OTHER)
        out.paste(tile, (x, y))
        draw.rectangle((x, y, x + KEPT - 1, y + KEPT - 1), outline=colour, width=3 * SCALE)
        write(draw, (x, y + KEPT + 3 * SCALE), view.label, size=11, fill=colour, width=KEPT)
        write(draw, (x, y + KEPT + 16 * SCALE), f"p = {view.top_probability:.2f}", size=9, fill=FAINT)
    return out


def _strip(tiles: Sequence[Image.Image], *, width: int) -> Image.Image | None:
    """The discarded views, small and grey."""
    if not tiles:
        return None
    per_row = max(1, (width + GAP) // (LOST + GAP))
    rows = -(-len(tiles) // per_row)
    out = Image.new("RGB", (width, rows * (LOST + GAP) - GAP), "white")
    for n, tile in enumerate(tiles):
        small = tile.resize((LOST, LOST), Image.Resampling.BILINEAR).convert("L").convert("RGB")
        faded = Image.blend(small, Image.new("RGB", small.size, "white"), 0.55)
        out.paste(faded, (n % per_row * (LOST + GAP), n // per_row * (LOST + GAP)))
    return out


def _tally(prediction: Prediction, views: Sequence[ViewTrace], colours: dict[str, str]) -> Image.Image:
    """The scores as bars, best first, and what the plain model says of the source view."""
    rows = [i for i in prediction.ranking(8) if prediction.scores[i] >= BY_EYE or i == prediction.index]
    row_height, name_width = 34 * SCALE, 150 * SCALE
    out = Image.new("RGB", (PHOTO, (len(rows) + 3) * row_height), "white")
    draw = ImageDraw.Draw(out)
    unit = "votes" if prediction.votes is not None else "probability"
    if (
        prediction.votes is not None
        and abs(prediction.scores - prediction.votes / prediction.votes.sum()).max() > BY_EYE
    ):
        unit = "votes (the bars count the source view too)"
    write(draw, (0, 0), unit, size=11, fill=FAINT)
    room = PHOTO - name_width - 60 * SCALE
    for n, i in enumerate(rows):
        y = 22 * SCALE + n * row_height
        name = prediction.labels[i]
        text = f"{prediction.votes[i]:g}" if prediction.votes is not None else f"{prediction.scores[i]:.2f}"
        length = max(SCALE, round(room * float(prediction.scores[i])))
        bold = i == prediction.index
        write(draw, (0, y + 4 * SCALE), name, size=13, fill=INK if bold else FAINT, width=name_width - GAP)
        draw.rectangle((name_width, y, name_width + room, y + 24 * SCALE), fill=GRID)
        draw.rectangle((name_width, y, name_width + length, y + 24 * SCALE), fill=colours.get(name, OTHER))
        write(draw, (name_width + room + GAP, y + 4 * SCALE), text, size=13, fill=INK)
    if views:
        y = 22 * SCALE + len(rows) * row_height + 2 * GAP
        plain, voted = views[0], prediction.labels[prediction.index]
        verdict = "the same answer" if plain.label == voted else "another answer"
        verdict = "" if prediction.method == "zero-shot" else f", {verdict}"
        lines = f"zero-shot: {plain.label} (p = {plain.top_probability:.2f}){verdict}"
        write(draw, (0, y), lines, size=12, fill=INK, width=PHOTO)
        if prediction.method != "zero-shot":
            write(draw, (0, y + 18 * SCALE), f"{prediction.method}: {voted}", size=12, fill=INK, width=PHOTO)
        if prediction.settled:
            write(draw, (0, y + 36 * SCALE), prediction.settled, size=11, fill=FAINT, width=PHOTO)
    return out
