"""Labels beside their signs: as long as there is room, over few lines, never over another label or sign."""

from collections.abc import Sequence

from tui.drawing.cells import cell_len, cut_to
from tui.drawing.lines import Cell, cells_between
from tui.drawing.room import Room
from tui.drawing.settling import Seat

LONGEST = 24  # cells: what is longer hides more lines than it tells
PER_CELL, WHOLE = 1.0, 6.0  # worth of a cell of a label, and of one that is not cut
PER_LINE_CELL, PER_HEAD = 1.5, 6.0  # cost of hiding a line or an arrow head


def placed_labels(
    labels: Sequence[str],
    seats: Sequence[Seat],
    lines: Sequence[tuple[int, int]],
    width: int,
    height: int,
    *,
    steady: float,
) -> list[tuple[str, int]]:
    """The text of each label as it is shown and the cell of the row at which it begins.

    `lines`: the places in `seats` that lines join; `steady`: what it is worth, in cells, that a
    label stays on the side of its seat. Each label gets at least what `settle` kept for it.
    """
    taken, drawn, heads = Room(width, height), Room(width, height), Room(width, height)
    for seat in seats:
        taken.take(seat.y, *seat.stretch(seat.kept))
    for start, end in lines:
        way = cells_between(_cell(seats[start]), _cell(seats[end]))
        for x, y in way:
            drawn.take(y, x, x + 1)
        for x, y in (way[1], way[-2]) if len(way) > 2 else ():
            heads.take(y, x, x + 1)
    found = []
    for label, seat in zip(labels, seats, strict=True):
        taken.give(seat.y, *seat.stretch(seat.kept))
        text, right = _best(label, seat, steady, taken, drawn, heads)
        taken.take(seat.y, *seat.stretch(cell_len(text), right=right))
        found.append((text, seat.x + 2 if right else seat.x - 1 - cell_len(text)))
    return found


def _best(label: str, seat: Seat, steady: float, taken: Room, drawn: Room, heads: Room) -> tuple[str, bool]:
    whole = min(cell_len(label), LONGEST)
    best, text, side = float("-inf"), "", seat.right
    for right in (seat.right, not seat.right):
        least = min(seat.kept, whole) if right == seat.right else min(6, whole)
        for cells in range(least, whole + 1):
            start, end = seat.stretch(cells, right=right)
            if not taken.free(seat.y, start, end):
                break
            shown = cut_to(label, cells)
            worth = cell_len(shown) * PER_CELL + (WHOLE if shown == label else 0) + steady * (right == seat.right)
            first = seat.x + 1 if right else start + 1
            hidden = drawn.count(seat.y, first, first + cells + 1)
            worth -= hidden * PER_LINE_CELL + heads.count(seat.y, first, first + cells + 1) * PER_HEAD
            if worth > best:
                best, text, side = worth, shown, right
    return text, side


def _cell(seat: Seat) -> Cell:
    return seat.x, seat.y
