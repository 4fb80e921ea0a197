"""The ways of lines over the cells: where each begins, where it ends, and the arrow head that it ends with.

An arrow ends right above, below or beside what it points at, which is a sign with its label: so a head stands alone
beside one node only, whatever the angle of its line.
"""

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from tui.drawing.braille import DOTS_ACROSS, DOTS_DOWN, Point, along
from tui.drawing.room import Room

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
