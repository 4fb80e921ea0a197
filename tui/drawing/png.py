"""A layout as PNG, twice as fine as it is large, written with fonts of this machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from tui.drawing.colours import colours
from tui.drawing.fonts import Fonts, folders
from tui.drawing.layout import Layout
from tui.drawing.shapes import ACROSS, DOWN, Point, Shape, ShapeText, Stroke, paper, shapes

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

FINE = 2  # pixels for each unit
SMOOTH = 2  # times as large is drawn what is then made smaller: Pillow draws lines with steps
MOST_PIXELS = 40_000_000  # of what is drawn: 120 MB in memory


class TooLarge(Exception):
    """The picture would take more memory than it is worth."""


def to_png(layout: Layout, *, dark: bool = True, places: Sequence[Path] | None = None) -> bytes:
    """The drawing as a PNG file. Raises NoFont where a word cannot be written, and TooLarge. `places`: of fonts."""
    from PIL import Image, ImageDraw

    width, height = (side * FINE for side in paper(layout))
    if width * height > MOST_PIXELS:
        raise TooLarge(f"The picture would be too large ({width} × {height} pixels).")
    smooth = SMOOTH if width * height * SMOOTH**2 <= MOST_PIXELS else 1
    palette = colours(dark=dark)
    fonts = Fonts(ACROSS * 1.6 * FINE * smooth, folders() if places is None else places)
    image = Image.new("RGB", (width * smooth, height * smooth), palette["background"])
    pen = _Pen(ImageDraw.Draw(image), palette, fonts, FINE * smooth)
    for shape in shapes(layout):
        pen.draw(shape)
    file = BytesIO()
    image.reduce(smooth).save(file, "PNG", optimize=True)
    return file.getvalue()


@dataclass(frozen=True, slots=True)
class _Pen:
    on: "ImageDraw"
    palette: dict[str, str]
    fonts: Fonts
    scale: int  # pixels for each unit

    def draw(self, shape: Stroke | Shape | ShapeText) -> None:
        colour, ground = self.palette[shape.colour], self.palette["background"]
        match shape:
            case Stroke(start, end, width=width):
                self.on.line([self._at(start), self._at(end)], fill=colour, width=round(width * self.scale))
            case Shape(points, filled=filled):
                at = [self._at(point) for point in points]
                self.on.polygon(at, fill=colour if filled else ground, outline=colour, width=self.scale)
            case ShapeText((x, y), text, width):
                box = [self._at((x - 3, y - DOWN * 0.45)), self._at((x + width + 3, y + DOWN * 0.45))]
                self.on.rectangle(box, fill=ground)
                self._write(text, self._at((x, y)), width * self.scale, colour)

    def _write(self, text: str, start: Point, width: float, colour: str) -> None:
        """Text from the left end of its middle line, made smaller where it would be wider than its cells."""
        runs = self.fonts.runs(text)
        long = sum(font.getlength(run) for run, font in runs)
        small = min(1.0, width / long) if long else 1.0
        x, y = start
        for run, font in runs:
            fitted = font.font_variant(size=font.size * small) if small < 1 else font
            self.on.text((x, y), run, fill=colour, font=fitted, anchor="lm")
            x += fitted.getlength(run)

    def _at(self, point: Point) -> Point:
        return point[0] * self.scale, point[1] * self.scale
