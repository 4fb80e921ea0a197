"""A layout on paper: lines, polygons and words as SVG, that as PNG, and both kept as files. A cell is 10 × 22 units.

resvg runs in a process of its own: only in a log that it prints does it say which characters no font has.
"""

import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from math import cos, hypot, pi, sin
from pathlib import Path
from xml.sax.saxutils import escape

from textual.color import Color

from tui.drawing.cells import NodeSign, cell_len, cells_of, kind_of
from tui.drawing.layout import JoinedEdges, Layout, roomy
from tui.drawing.picture import in_words, left_out, paint
from tui.files import ExportFailed, write
from tui.text import one_line
from tui.themes import DARK, LIGHT


def colours(*, dark: bool) -> dict[str, str]:
    """Hexadecimal colours by name."""
    theme = DARK if dark else LIGHT
    ground, words = (Color.parse(colour or "") for colour in (theme.background, theme.foreground))
    named = {name: getattr(theme, name) for name in ("primary", "secondary", "accent", "warning", "error")}
    blended = {"line": ground.blend(words, 0.4).hex, "faint": ground.blend(words, 0.65).hex}
    return {**named, **blended, "foreground": words.hex, "background": ground.hex}


Point = tuple[float, float]
ACROSS, DOWN = 10.0, 22.0
MARGIN = 20.0
HEAD = 9.0  # length of an arrow head
RADIUS = 6.0

SIGNS: dict[str, list[Point]] = {
    "◆": [(0, -1.15), (1.15, 0), (0, 1.15), (-1.15, 0)],
    "▲": [(0, -1.1), (1.1, 0.9), (-1.1, 0.9)],
    "▼": [(0, 1.1), (1.1, -0.9), (-1.1, -0.9)],
    "■": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "▮": [(-0.65, -1.1), (0.65, -1.1), (0.65, 1.1), (-0.65, 1.1)],
    "▪": [(-0.6, -0.6), (0.6, -0.6), (0.6, 0.6), (-0.6, 0.6)],
    "★": [
        (r * sin(turn * pi / 5), -r * cos(turn * pi / 5))
        for turn in range(10)
        for r in (1.25 if turn % 2 == 0 else 0.5,)
    ],
    "●": [(sin(turn * pi / 12), -cos(turn * pi / 12)) for turn in range(24)],
    "•": [(0.6 * sin(turn * pi / 8), -0.6 * cos(turn * pi / 8)) for turn in range(16)],
}


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line in a colour of the theme, so wide."""

    start: Point
    end: Point
    colour: str
    width: float


@dataclass(frozen=True, slots=True)
class Shape:
    """A polygon, filled or only outlined."""

    points: tuple[Point, ...]
    colour: str
    filled: bool = True


@dataclass(frozen=True, slots=True)
class ShapeText:
    """Text from `at`, the left end of its middle line, as wide as its cells; `ground`: the ground shows behind it."""

    at: Point
    text: str
    width: float
    colour: str
    bold: bool = False
    ground: bool = True


def paper(layout: Layout) -> tuple[int, int]:
    """Width and height of the picture."""
    return round(layout.width * ACROSS + 2 * MARGIN), round((layout.height + 2) * DOWN + 2 * MARGIN)


def shapes(layout: Layout) -> Iterator[Stroke | Shape | ShapeText]:
    """All that is drawn, from the back to the front."""
    for line in layout.lines:
        yield from _line(line)
    for piece in chain.from_iterable(paint(layout).pieces):
        if piece.role == "name":
            yield _words(piece.x + 1, piece.y, piece.text.strip(), "faint")
    for spot in layout.spots:
        yield _words(spot.text_x, spot.y, spot.text, "foreground")
    for spot in layout.spots:
        yield _sign(kind_of(spot.node.ref.table), spot.x, spot.y, filled=not spot.node.mark)
    yield from _legend(layout)


def _legend(layout: Layout) -> Iterator[Shape | ShapeText]:
    """What the signs mean and what is left out, below the picture; as much as fits."""
    at, row = 0, layout.height + 1
    kinds = dict.fromkeys(kind_of(spot.node.ref.table) for spot in layout.spots)
    parts = [(kind, kind.word) for kind in kinds]
    only = [f"arrows: {in_words(layout.only_name)}"] if layout.only_name else []
    for sign, text in (*parts, *((None, words) for words in (*only, left_out(layout)))):
        cells = cell_len(text) + (2 if sign is not None else 0)
        if at + cells > layout.width:
            return
        if sign is not None:
            yield _sign(sign, at, row, filled=True)
        yield _words(at + cells - cell_len(text), row, text, "faint")
        at += cells + 3


def _at(x: float, y: float) -> Point:
    return MARGIN + x * ACROSS, MARGIN + y * DOWN


def _words(x: int, y: int, text: str, colour: str) -> ShapeText:
    return ShapeText(_at(x, y + 0.5), text, cell_len(text) * ACROSS, colour)


def _sign(kind: NodeSign, x: int, y: int, *, filled: bool) -> Shape:
    x_middle, y_middle = _at(x + 0.5, y + 0.5)
    points = tuple((x_middle + RADIUS * across, y_middle + RADIUS * down) for across, down in SIGNS[kind.sign])
    return Shape(points, kind.colour, filled=filled)


def _line(line: JoinedEdges) -> Iterator[Stroke | Shape]:
    """The line, ending within its arrow heads, and the heads, turned as the line is."""
    tips = {cell: _tip(cell, head) for cell, head in line.way.heads}
    ends = [cells_of(end, end)[0] for end in (line.way.start, line.way.end)]
    start, end = (tips.get(cell, _at(cell[0] + 0.5, cell[1] + 0.5)) for cell in ends)
    far = hypot(end[0] - start[0], end[1] - start[1]) or 1.0
    step = (end[0] - start[0]) / far, (end[1] - start[1]) / far
    heads = [(tip, way) for cell, tip, way in zip(ends, (start, end), (-1, 1), strict=True) if cell in tips]
    inset = {way: HEAD / 2 for _, way in heads}
    yield Stroke(
        (start[0] + step[0] * inset.get(-1, 0), start[1] + step[1] * inset.get(-1, 0)),
        (end[0] - step[0] * inset.get(1, 0), end[1] - step[1] * inset.get(1, 0)),
        "line",
        1.4,
    )
    for (x, y), way in heads:
        back = x - way * step[0] * HEAD, y - way * step[1] * HEAD
        aside = -step[1] * HEAD * 0.42, step[0] * HEAD * 0.42
        yield Shape(
            ((x, y), (back[0] + aside[0], back[1] + aside[1]), (back[0] - aside[0], back[1] - aside[1])), "line"
        )


def _tip(cell: tuple[int, int], head: str) -> Point:
    """Where an arrow head touches: the side of its cell to which it points."""
    across, down = {"▸": (0.9, 0.5), "◂": (0.1, 0.5), "▾": (0.5, 0.85), "▴": (0.5, 0.15)}[head]
    return _at(cell[0] + across, cell[1] + down)


_NOT_IN_XML = re.compile("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
FONTS = (
    "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono', 'Liberation Mono', 'Noto Sans CJK JP', "
    "'DejaVu Sans', 'Noto Sans', Arial, 'Roboto Mono', monospace"
)


def to_svg(layout: Layout, *, dark: bool = True) -> str:
    """The drawing as an SVG document."""
    width, height = paper(layout)
    palette = colours(dark=dark)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f'<rect width="{width}" height="{height}" fill="{palette["background"]}"/>',
        f'<g font-family="{FONTS}" font-size="{ACROSS * 1.6:g}" xml:space="preserve">',
        *(_element(shape, palette) for shape in shapes(layout)),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _element(shape: Stroke | Shape | ShapeText, palette: dict[str, str]) -> str:
    colour, ground = palette[shape.colour], palette["background"]
    match shape:
        case Stroke(start, end, width=width):
            ends = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
            return f'<line {ends} stroke="{colour}" stroke-width="{width:g}"/>'
        case Shape(points, filled=filled):
            at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            fill = colour if filled else ground
            return f'<polygon points="{at}" fill="{fill}" stroke="{colour}" stroke-width="1.6"/>'
        case ShapeText((x, y), text, width):
            box = f'x="{x - 3:.1f}" y="{y - DOWN * 0.45:.1f}" width="{width + 6:.1f}" height="{DOWN * 0.9:.1f}"'
            words = escape(_NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text))
            exact = f'textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"' if width else ""
            return (
                f'<rect {box} fill="{ground}" fill-opacity="0.85"/>'
                f'<text x="{x:.1f}" y="{y + ACROSS * 0.55:.1f}" fill="{colour}" {exact}>{words}</text>'
            )


FINE = 2  # pixels for each unit
MOST_PIXELS = 40_000_000  # 160 MB in memory
_MISSING = re.compile(r"No fonts with a .+?/U\+([0-9A-F]+) character were found")


class NoPng(Exception):
    """Why there can be no PNG of a drawing, in words for people."""


def to_png(layout: Layout, *, dark: bool = True) -> bytes:
    """The drawing as a PNG file. Raises NoPng where it is too large, or has words that cannot be written. Blocking."""
    width, height = (side * FINE for side in paper(layout))
    if width * height > MOST_PIXELS:
        raise NoPng(f"The picture would be too large ({width} × {height} pixels).")
    return rasterized(to_svg(layout, dark=dark))


def rasterized(svg: str, *, own_font: bool = False) -> bytes:
    """An SVG document as a PNG file, with `own_font` as on a computer that has none. Raises NoPng as `to_png`."""
    command = [sys.executable, "-P", "-m", "tui.drawing.rasterizer", str(FINE), *(["--own-font"] if own_font else [])]
    done = subprocess.run(command, input=svg.encode("utf-8"), capture_output=True)
    log = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        raise NoPng("The picture could not be drawn.")
    missing = (chr(int(code, 16)) for code in _MISSING.findall(log))
    # Marks and controls have no look of their own.
    if character := next((each for each in missing if unicodedata.category(each) not in ("Mn", "Cf")), None):
        raise NoPng(f"No font on this computer can show “{character}”.")
    if "No match for" in log:
        raise NoPng("There is no font on this computer to write it with.")
    return done.stdout


@dataclass(frozen=True, slots=True)
class SavedDrawing:
    """What became of it, in words; `path` is None if nothing was written."""

    path: Path | None
    words: str

    @property
    def failed(self) -> bool:
        return self.path is None


def save(layout: Layout, path: Path, *, dark: bool = True) -> SavedDrawing:
    """Write a drawing to `path`, as PNG if its name ends so, else as SVG. Blocking.

    Nodes that the terminal had no room for are on it. A PNG that cannot be made becomes an SVG beside it, and that is
    said.
    """
    why, layout = "", roomy(layout)
    try:
        if path.suffix.lower() == ".png":
            try:
                write(path, iter([to_png(layout, dark=dark)]))
                return SavedDrawing(path, f"Drawing saved to {one_line(str(path))}.")
            except NoPng as error:
                why, path = f" as SVG, not PNG: {error}", path.with_suffix(".svg")
        write(path, iter([to_svg(layout, dark=dark).encode("utf-8")]))
    except ExportFailed as error:
        return SavedDrawing(None, str(error))
    return SavedDrawing(path, f"Drawing saved to {one_line(str(path))}{why or '.'}")


def keep(layout: Layout, *, dark: bool = True) -> SavedDrawing:
    """Write a drawing as PNG to the current folder, under a name made of the time. Blocking."""
    return save(layout, Path.cwd() / f"clew-graph-{datetime.now():%Y%m%d-%H%M%S}.png", dark=dark)
