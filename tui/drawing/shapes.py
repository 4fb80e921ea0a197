"""A layout as lines, polygons and words on paper: what SVG and PNG have in common. Units: a cell is 10 × 22."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from math import cos, hypot, pi, sin

from tui.drawing.cells import cell_len
from tui.drawing.foot import left_out
from tui.drawing.layout import JoinedEdges, Layout
from tui.drawing.lines import cells_of
from tui.drawing.picture import in_words, paint
from tui.drawing.signs import NodeSign, kind_of

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
