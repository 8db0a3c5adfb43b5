"""What every drawn picture shares: ink, scale and text that fits."""

from PIL import ImageFont

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

INK, FAINT, GRID = "#1A1A1A", "#767676", "#E3E3E3"
SCALE = 2  # drawn for print: twice the size of a screen


def font(size: int) -> Font:
    """The font at a size in screen pixels."""
    return ImageFont.load_default(size * SCALE)


def fit(text: str, width: int, font: Font) -> str:
    """The text, cut with an ellipsis where it is wider than `width`."""
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "...") > width:
        text = text[:-1]
    return text + "..."
