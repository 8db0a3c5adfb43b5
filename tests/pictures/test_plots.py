"""Plots share one look, on light and on dark pages, and leave matplotlib's settings as they were."""

import pytest
from PIL import Image

from viewvote.pictures.plots import DARK, LIGHT, faint, ink, page, save_plot

mpl = pytest.importorskip("matplotlib")


def corner_and_text(tmp_path, *, dark):
    """The page's colour as it was saved, and the colours that drawing was told."""
    told = {}

    def draw(figure):
        figure.subplots().plot([0, 1], [1, 0])
        told.update(ink=ink(), faint=faint(), page=page())

    save_plot(draw, tmp_path / f"{dark}.png", size=(2, 2), dark=dark)
    with Image.open(tmp_path / f"{dark}.png") as picture:
        return picture.convert("RGB").getpixel((0, 0)), told


def test_a_plot_is_dark_on_light_or_light_on_dark(tmp_path):
    before = dict(mpl.rcParams)
    light, told = corner_and_text(tmp_path, dark=False)
    dark, told_dark = corner_and_text(tmp_path, dark=True)
    assert (light, dark) == ((255, 255, 255), (0x16, 0x16, 0x16))
    assert (told["ink"], told_dark["ink"]) == ("#1A1A1A", "#EDEDED")
    assert told["page"] == "white"
    assert told["faint"] != told_dark["faint"]
    assert dict(mpl.rcParams) == before


def test_the_styles_name_settings_that_matplotlib_has():
    light, dark = (mpl.rc_params_from_file(style, use_default_template=False) for style in (LIGHT, DARK))
    assert set(dark) < set(light)
    assert len(light["axes.prop_cycle"]) == len(dark["axes.prop_cycle"]) == 7


def test_the_same_plot_gives_the_same_svg(tmp_path):
    for name in ("a", "b"):
        save_plot(lambda figure: figure.subplots().plot([0, 1], [1, 0]), tmp_path / f"{name}.svg", size=(2, 2))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
