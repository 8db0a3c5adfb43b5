"""Text in any script: no character is drawn as the box of a font that lacks it."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from viewvote.pictures import lettering
from viewvote.pictures.lettering import SHIPPED, characters, fit, length, write

SCRIPTS = ["naïve café", "Ελληνικά", "Кошка, ёж", "שלום", "قطة صغيرة", "日本語のラベル", "简体中文", "한국어"]


def parts(text):
    return [part for part, _ in lettering._runs(text)]


def drawn(text, **how):
    image = Image.new("RGB", (900, 60), "white")
    write(ImageDraw.Draw(image), (10, 10), text, size=13, fill="black", **how)
    return np.asarray(image)


@pytest.mark.parametrize("text", SCRIPTS)
def test_every_script_is_in_a_font_that_is_shipped(text, monkeypatch):
    monkeypatch.setattr(lettering, "_installed", lambda: ())
    assert "".join(parts(text)) == text
    for part, source in lettering._runs(text):
        font = ImageFont.load_default(26) if source == "" else ImageFont.truetype(source, 26)
        missing = bytes(font.getmask("\U0010fffe"))
        for character in part.replace(" ", ""):
            assert bytes(font.getmask(character)) != missing


def test_plain_english_is_in_the_usual_font_and_one_word_in_one():
    assert [source for _, source in lettering._runs("cat: 97% likely")] == [""]
    assert [source for _, source in lettering._runs("a café")] == [SHIPPED[0]]
    assert [source for _, source in lettering._runs("dog 狗 собака")] == [SHIPPED[0], SHIPPED[1], SHIPPED[0]]


def test_what_no_font_has_is_its_number_and_the_pen_stays_in_its_line(monkeypatch):
    lettering._font_of.cache_clear()
    lettering._writable.cache_clear()
    monkeypatch.setattr(lettering, "_installed", lambda: ())
    assert parts("a\U00012000") == ["a[U+12000]"]
    assert parts("two\nlines\ttab\u200e") == ["two lines tab"]
    lettering._font_of.cache_clear()
    lettering._writable.cache_clear()


def test_a_font_of_the_system_serves_where_the_shipped_ones_do_not(tmp_path, monkeypatch):
    fonttools = pytest.importorskip("fontTools.ttLib")
    font = fonttools.TTFont(SHIPPED[0])
    for table in font["cmap"].tables:
        if table.isUnicode() and table.format == 12:
            table.cmap[0x12000] = table.cmap[ord("A")]
    font.save(tmp_path / "Cuneiform.ttf")
    (tmp_path / "Broken.ttf").write_bytes(b"no font")
    lettering._font_of.cache_clear()
    lettering._writable.cache_clear()
    monkeypatch.setattr(
        lettering, "_installed", lambda: (str(tmp_path / "Broken.ttf"), str(tmp_path / "Cuneiform.ttf"))
    )
    assert parts("\U00012000") == ["\U00012000"]
    lettering._font_of.cache_clear()
    lettering._writable.cache_clear()


def test_the_characters_of_a_font_are_those_that_another_reader_finds():
    fonttools = pytest.importorskip("fontTools.ttLib")
    default = ImageFont.load_default(20).path.getvalue()
    for data in (default, *(Path(path).read_bytes() for path in SHIPPED)):
        assert characters(data) == set(fonttools.TTFont(io.BytesIO(data)).getBestCmap())


def test_text_is_written_where_it_belongs_and_within_its_width():
    pixels = drawn("wide 日本 " * 20, width=300)
    columns = np.flatnonzero((pixels < 128).any(axis=(0, 2)))
    assert columns[0] >= 10
    assert columns[-1] < 315
    rows = np.flatnonzero((drawn("Égq日") < 128).any(axis=(1, 2)))
    assert 5 <= rows[0] < rows[-1] < 45


@pytest.mark.parametrize("text", ["a very long label " * 20, "日本語" * 50, "i" * 1000])
def test_long_text_is_cut_to_its_place_and_no_shorter(text):
    cut = fit(text, 300, size=11)
    assert cut.endswith("...")
    assert length(cut, size=11) <= 300
    assert length(text[: len(cut) - 2] + "...", size=11) > 300
    assert fit("short", 10_000, size=11) == "short"
    assert fit(text, 1, size=11) == "..."
