"""A page of explanations: thumbnails, the most doubtful first, each with its picture behind it. It asks no server."""

import html
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from urllib.parse import quote

from PIL import Image, ImageOps

from ..images.photo import Photo

THUMBNAIL = (352, 264)
"""Pixels: twice what a screen shows."""


@dataclass(frozen=True)
class Shown:
    """One image of the page: its picture and thumbnail relative to the page, and what was answered.

    `label` is None where the classifier abstained; `votes` are in words, "17 of 19", and may be empty.
    """

    path: str
    picture: str
    thumbnail: str
    label: str | None
    probability: float
    votes: str


def gallery_page(shown: Sequence[Shown]) -> str:
    """The page."""
    ordered = sorted(shown, key=lambda one: one.probability)
    template = (files("viewvote.pictures") / "gallery.html").read_text(encoding="utf-8")
    title = f"{len(shown):,} image{'' if len(shown) == 1 else 's'} classified by viewvote"
    entries = "\n".join(map(_entry, ordered))
    return template.replace("{{title}}", title).replace("{{entries}}", entries)


def thumbnail_of(photo: Photo) -> Image.Image:
    """The photo filling the shape of a thumbnail, decoded no finer than that needs."""
    room = min(photo.size[0] / THUMBNAIL[0], photo.size[1] / THUMBNAIL[1])
    factor = next((factor for factor in (8, 4, 2) if factor <= room), 1)
    return ImageOps.fit(photo.levels([factor])[factor], THUMBNAIL)


def _entry(one: Shown) -> str:
    name, label = _text(os.path.basename(one.path)), _text(one.label or "")  # noqa: PTH119 - of any text
    votes = f" &middot; {_text(one.votes)} votes" if one.votes else ""
    return (
        f'<li data-label="{label}" data-name="{name}"><a href="{_link(one.picture)}" title="{_text(one.path)}">'
        f'<img src="{_link(one.thumbnail)}" alt="" loading="lazy" width="{THUMBNAIL[0]}" height="{THUMBNAIL[1]}">'
        f'<span class="said"><b><span dir="auto">{label or "(abstained)"}</span><span>{one.probability:.0%}</span></b>'
        f'<span class="likely"><i style="width: {one.probability:.0%}"></i></span>'
        f"<small><bdi>{name}</bdi>{votes}</small></span></a></li>"
    )


def _text(text: str) -> str:
    """The text in HTML, whatever bytes a file name has."""
    return html.escape(text.encode("utf-8", "backslashreplace").decode())


def _link(path: str) -> str:
    return quote(os.fsencode(path))
