"""The cells of a canvas: words measured by them, which are taken, signs of nodes, and lines in braille dots.

An arrow ends right above, below or beside what it points at, which is a sign with its label: so a head stands alone
beside one node only, whatever the angle of its line.
"""

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

from rich.cells import cell_len, split_graphemes

from graph.values import Node
from tui.text import one_line

LONGEST = 400  # characters of a title that are looked at: no label is longer


@lru_cache(2048)
def label_of(title: str) -> str:
    """A title as a label: one line, harmless, never empty."""
    line = normalize("NFC", one_line(title[:LONGEST]))  # fewer terminals and fonts put marks on letters themselves
    if cell_len(line) == 0:
        return "(no words)"
    return f"◌{line}" if cell_len(line[0]) == 0 else line  # a mark that would join what stands before it


@lru_cache(8192)
def cut_to(text: str, cells: int) -> str:
    """Text in at most so many cells, with … at the end where it is cut; never half of a character."""
    if cell_len(text) <= cells:
        return text
    spans, _ = split_graphemes(text)
    used, end = 0, 0
    for _, after, width in spans:
        if used + width > cells - 1:
            break
        used, end = used + width, after
    return f"{text[:end].rstrip()}…" if cells > 0 else ""


__all__ = ["LONGEST", "cell_len", "cut_to", "label_of"]


class Room:
    """`width` × `height` cells, free at first. What lies outside the canvas is never free."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._rows = [0] * height

    def free(self, y: int, start: int, end: int) -> bool:
        """Whether the cells of row `y` from `start` up to before `end` are all free."""
        if not 0 <= y < self.height or start < 0 or end > self.width:
            return False
        return not self._rows[y] & _bits(start, end)

    def take(self, y: int, start: int, end: int) -> None:
        """Take the cells of a row; what lies outside is left out."""
        if 0 <= y < self.height:
            self._rows[y] |= _bits(max(0, start), min(self.width, end))

    def give(self, y: int, start: int, end: int) -> None:
        """Free the cells of a row."""
        if 0 <= y < self.height:
            self._rows[y] &= ~_bits(max(0, start), min(self.width, end))

    def count(self, y: int, start: int, end: int) -> int:
        """How many of the cells are taken."""
        return (self._rows[y] & _bits(max(0, start), min(self.width, end))).bit_count()


def _bits(start: int, end: int) -> int:
    return (1 << end) - (1 << start) if end > start else 0


@dataclass(frozen=True, slots=True)
class NodeSign:
    """A kind of node: its word, its sign, the hollow sign, and the name of its colour in the theme."""

    word: str
    sign: str
    hollow: str
    colour: str


KINDS = {
    "Turn": NodeSign("message", "●", "○", "secondary"),
    "Observation": NodeSign("memory", "◆", "◇", "primary"),
    "Entity": NodeSign("name", "▲", "△", "accent"),
    "Session": NodeSign("chat", "■", "□", "warning"),
    "Document": NodeSign("document", "▮", "▯", "warning"),
    "Chunk": NodeSign("passage", "▪", "▫", "warning"),
    "World": NodeSign("world", "★", "☆", "error"),
    "Project": NodeSign("project", "▼", "▽", "error"),
    "CoreBlock": NodeSign("core block", "•", "◦", "foreground"),
    "Wording": NodeSign("version", "•", "◦", "foreground"),
    "Reference": NodeSign("reference", "▰", "▱", "warning"),
}


def kind_of(table: str) -> NodeSign:
    """The kind that a table holds; one that people rarely see is called as its table is."""
    return KINDS.get(table) or NodeSign(table, "•", "◦", "foreground")


def sign_of(node: Node) -> str:
    """The sign that stands where the node is."""
    kind = kind_of(node.ref.table)
    return kind.hollow if node.mark else kind.sign


DOTS_ACROSS, DOTS_DOWN = 2, 4
_BLANK = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # by row and column within a cell (Unicode, 15.4)

Point = tuple[int, int]  # in dots, from the top left


class Dots:
    """A canvas of `width` × `height` cells; what falls outside is left out."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._cells = [bytearray(width) for _ in range(height)]

    def dot(self, x: int, y: int) -> None:
        """Set a dot."""
        row, column = y // DOTS_DOWN, x // DOTS_ACROSS
        if 0 <= row < self.height and 0 <= column < self.width:
            self._cells[row][column] |= _BITS[y % DOTS_DOWN][x % DOTS_ACROSS]

    def line(self, start: Point, end: Point) -> None:
        """A straight line of dots, both ends included."""
        for x, y in along(start, end):
            self.dot(x, y)

    def lines(self) -> list[str]:
        """The rows as text: blanks where there is no dot."""
        return ["".join(chr(_BLANK + bits) if bits else " " for bits in row) for row in self._cells]


def along(start: Point, end: Point) -> Iterator[Point]:
    """The dots of a straight line from start to end, the same ones in both directions."""
    if start > end:
        yield from reversed(list(along(end, start)))
        return
    (x, y), (to_x, to_y) = start, end
    steps = max(abs(to_x - x), abs(to_y - y))
    for step in range(steps + 1):
        yield (x + _rounded(step * (to_x - x), steps), y + _rounded(step * (to_y - y), steps)) if steps else (x, y)


def _rounded(amount: int, by: int) -> int:
    """amount / by, to the nearest whole number, halves up."""
    return (2 * amount + by) // (2 * by)


Cell = tuple[int, int]
STEEP = 0.4  # of height to width as they look: a flatter line comes from the side


@dataclass(frozen=True, slots=True)
class Box:
    """A node as lines see it: the cell of its sign, and the row's cells that sign and label take, blank between."""

    x: int
    y: int
    start: int
    end: int  # the cell after the last


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line from dot to dot, and its arrow heads: their cells and triangles."""

    start: Point
    end: Point
    heads: tuple[tuple[Cell, str], ...]


def way_between(
    start: Box, end: Box, *, onward: bool, back: bool, level: bool, covered: Room, heads: MutableMapping[Cell, str]
) -> DrawnLine:
    """The way of a line with a head at its end (`onward`), its start (`back`) or both, `level` if they can be.

    Heads cover no sign or label (`covered`) and no other head (`heads`, to which they are added).
    """
    to = _port(end, start, level, covered, heads) if onward else None
    come = _port(start, end, level, covered, heads) if back else None
    return DrawnLine(
        dot_of(come[0] if come else (start.x, start.y)),
        dot_of(to[0] if to else (end.x, end.y)),
        tuple(port for port in (to, come) if port is not None),
    )


def dot_of(cell: Cell) -> Point:
    """The dot of a cell at which lines begin and end."""
    return cell[0] * DOTS_ACROSS, cell[1] * DOTS_DOWN + 1


def cells_of(start: Point, end: Point) -> list[Cell]:
    """The cells that a line of dots goes through, from start to end, both included."""
    return list(dict.fromkeys((x // DOTS_ACROSS, y // DOTS_DOWN) for x, y in along(start, end)))


def cells_between(start: Cell, end: Cell) -> list[Cell]:
    """The cells that the straight line between two cells goes through."""
    return cells_of(dot_of(start), dot_of(end))


def _port(box: Box, other: Box, flat: bool, covered: Room, heads: MutableMapping[Cell, str]) -> tuple[Cell, str] | None:
    """The free cell beside `box` at which a line from `other` ends, with its head; None where all are covered."""
    across, down = other.x - box.x, 2 * (other.y - box.y)
    level = ((box.end, box.y), "◂") if across > 0 else ((box.start - 1, box.y), "▸")
    upright = ((box.x, box.y + 1), "▴") if down > 0 else ((box.x, box.y - 1), "▾")
    beyond = other.x > box.end if across > 0 else other.x < box.start - 1
    ports = [upright, level] if not beyond or (abs(down) > STEEP * abs(across) and not flat) else [level, upright]
    rest: Sequence[tuple[Cell, str]] = (
        ((box.x, box.y - 1), "▾"),
        ((box.x, box.y + 1), "▴"),
        ((box.start - 1, box.y), "▸"),
        ((box.end, box.y), "◂"),
    )
    for (x, y), head in (*ports, *rest):
        if covered.free(y, x, x + 1) and heads.setdefault((x, y), head) == head:
            return (x, y), head
    return None
