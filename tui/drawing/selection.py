"""Which node is meant: the nearest in a direction, the next as one reads, the one under the mouse."""

from collections.abc import Sequence
from math import hypot
from typing import Literal

from tui.drawing.layout import Spot

Direction = Literal["left", "right", "up", "down"]
ASIDE = 1.5  # how much a step aside counts beside one ahead


def nearest(spots: Sequence[Spot], place: int, direction: Direction) -> int | None:
    """The place of the nearest node in a direction, none that lies more aside than ahead if there is another."""
    here = spots[place]
    best: tuple[bool, float, int] | None = None
    for other, spot in enumerate(spots):
        across, down = spot.x - here.x, 2 * (spot.y - here.y)
        ahead, aside = (across, down) if direction in ("left", "right") else (down, across)
        ahead = -ahead if direction in ("left", "up") else ahead
        if ahead > 0:
            far = hypot(ahead, aside) + ASIDE * abs(aside)
            best = min(best or (True, float("inf"), other), (abs(aside) > ahead, far, other))
    return best[2] if best is not None else None


def next_one(spots: Sequence[Spot], place: int, step: int) -> int:
    """The place of the node that is so many further as one reads, line by line; from the last to the first."""
    order = sorted(range(len(spots)), key=lambda each: (spots[each].y, spots[each].x))
    return order[(order.index(place) + step) % len(order)]


def at_cell(spots: Sequence[Spot], x: int, y: int) -> int | None:
    """The place of the node whose sign or label is at a cell, or right beside it."""
    for reach in (0, 1):
        for place, spot in enumerate(spots):
            if spot.y == y and spot.box.start - reach <= x < spot.box.end + reach:
                return place
    return None
