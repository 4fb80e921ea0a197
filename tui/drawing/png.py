"""A layout as PNG, twice as fine as it is large, written with fonts of this machine."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from tui.drawing.colours import colours
from tui.drawing.fonts import Fonts, folders
from tui.drawing.layout import Layout
from tui.drawing.shapes import ACROSS, DOWN, Point, Shape, Stroke, Words, paper, shapes

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

FINE = 2  # pixels for each unit
MOST_PIXELS = 40_000_000  # what a picture may take in memory, by four bytes


class TooLarge(Exception):
    """The picture would take more memory than it is worth."""


def to_png(layout: Layout, *, dark: bool = True, places: Sequence[Path] | None = None) -> bytes:
    """The drawing as a PNG file. Raises NoFont where a word cannot be written, and TooLarge. `places`: of fonts."""
    from PIL import Image, ImageDraw

    width, height = (side * FINE for side in paper(layout))
    if width * height > MOST_PIXELS:
        raise TooLarge(f"The picture would have {width} × {height} pixels.")
    palette = colours(dark=dark)
    fonts = Fonts(ACROSS * 1.6 * FINE, folders() if places is None else places)
    image = Image.new("RGB", (width, height), palette["background"])
    draw = ImageDraw.Draw(image)
    for shape in shapes(layout):
        _draw(draw, shape, palette, fonts)
    file = BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def _draw(draw: "ImageDraw", shape: Stroke | Shape | Words, palette: dict[str, str], fonts: Fonts) -> None:
    colour, ground = palette[shape.colour], palette["background"]
    match shape:
        case Stroke(start, end, width=width):
            draw.line([_fine(start), _fine(end)], fill=colour, width=round(width * FINE))
        case Shape(points, filled=filled):
            draw.polygon([_fine(p) for p in points], fill=colour if filled else ground, outline=colour, width=FINE)
        case Words((x, y), text, width):
            box = [_fine((x - 3, y - DOWN * 0.45)), _fine((x + width + 3, y + DOWN * 0.45))]
            draw.rectangle(box, fill=ground)
            runs = fonts.runs(text)
            long = sum(font.getlength(run) for run, font in runs)
            small = min(1.0, width * FINE / long) if long else 1.0
            at = x * FINE
            for run, font in runs:
                fitted = font.font_variant(size=font.size * small) if small < 1 else font
                draw.text((at, y * FINE), run, fill=colour, font=fitted, anchor="lm")
                at += fitted.getlength(run)


def _fine(point: Point) -> Point:
    return point[0] * FINE, point[1] * FINE
