"""What every drawn picture shares: ink and scale."""

from PIL import ImageFont

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

INK, FAINT, GRID = "#1A1A1A", "#767676", "#E3E3E3"
SCALE = 2  # drawn for print: twice the size of a screen
