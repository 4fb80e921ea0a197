"""Nodes put into cells: each near the place that it wants, with room for its sign, arrows and label, then swapped.

A node is a sign with its label on the same line, right or left of it: so it is plain whose label it is. Nodes are put
down in their order, each at the nearest place where its sign and the least of its label fit, and where neither lies
beside the sign of another, where the arrow heads come. Where that does not fit, less room is kept.

Shorter lines cross less: of forty nodes with a hundred edges a fifth of the crossings go, of a chain nearly all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tui.drawing.cells import Room
from tui.drawing.force import Position

TRIES = (
    (10, True),
    (8, True),
    (10, False),
    (8, False),
    (5, False),
    (3, False),
)  # cells of a label kept, room for heads
FEW = 4  # nodes: up to three times as many do not take the whole area
MARGIN = 12  # cells at the sides, into which labels look


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a node is: the cell of its sign, and how many cells are kept for its label, on which side."""

    x: int
    y: int
    right: bool
    kept: int

    def stretch(self, cells: int, *, right: bool | None = None) -> tuple[int, int]:
        """The cells of the row that sign and label take, with a blank at each end: from, up to before."""
        if self.right if right is None else right:
            return self.x - 1, self.x + 2 + cells + 1
        return self.x - 1 - cells - 1, self.x + 2


def settle(
    wanted: Sequence[Position], labels: Sequence[int], width: int, height: int, *, rightward: bool, stacked: bool
) -> list[Seat]:
    """A seat for each, in their order; fewer where even the least room does not suffice for all.

    `wanted`: places from 0 to 1; `labels`: cells of each label; `rightward`: labels rather on the right of each sign,
    else on the side that looks away from the middle; `stacked`: arrows come from the side, none from above or below.
    """
    best: list[Seat] = []
    for kept, heads in (each for each in TRIES if not (stacked and each[1])):
        seats = _settled(wanted, [min(kept, label) for label in labels], width, height, heads, rightward)
        if len(seats) > len(best):
            best = seats
        if len(best) == len(wanted):
            break
    return best


def _settled(
    wanted: Sequence[Position], kept: Sequence[int], width: int, height: int, heads: bool, rightward: bool
) -> list[Seat]:
    taken, zones = Room(width, height), Room(width, height) if heads else None
    seats: list[Seat] = []
    share = min(1.0, (len(wanted) + FEW) / (4 * FEW))
    left, right = (0, min(MARGIN, width // 5)) if rightward else (min(MARGIN, width // 5),) * 2
    for (x, y), cells in zip(wanted, kept, strict=True):
        near_x = left + round((x if rightward else 0.5 + (x - 0.5) * share) * (width - 1 - left - right))
        near_y = round((0.5 + (y - 0.5) * share) * (height - 1))
        seat = _nearest(taken, zones, near_x, near_y, cells, rightward or x >= 0.5)
        if seat is None:
            return seats
        seats.append(seat)
        taken.take(seat.y, *seat.stretch(cells))
        if zones is not None:
            for row in (seat.y - 1, seat.y, seat.y + 1):
                zones.take(row, seat.x - 1, seat.x + 2)
    return seats


def _nearest(taken: Room, zones: Room | None, x: int, y: int, cells: int, right: bool) -> Seat | None:
    width, height = taken.width, taken.height
    for across, down in _offsets(width, height):
        at, row = x + across, y + down
        if not 0 <= row < height or not 1 <= at < width - 1 or not taken.free(row, at - 1, at + 2):
            continue
        if zones is not None and not _heads_fit(taken, at, row):
            continue
        for side in (right, not right):
            seat = Seat(at, row, side, cells)
            start, end = seat.stretch(cells)
            if taken.free(row, start, end) and (zones is None or zones.free(row, start, end)):
                return seat
    return None


def _heads_fit(taken: Room, x: int, y: int) -> bool:
    """Whether nothing lies above and below, where arrow heads would come."""
    return all(taken.free(row, x - 1, x + 2) for row in (y - 1, y + 1) if 0 <= row < taken.height)


@lru_cache(8)
def _offsets(width: int, height: int) -> list[tuple[int, int]]:
    """Steps to every cell from any other, the nearest first; a cell is twice as high as it is wide."""
    steps = [(x, y) for y in range(1 - height, height) for x in range(1 - width, width)]
    return sorted(steps, key=lambda step: (step[0] ** 2 + 4 * step[1] ** 2, step))


MOST = 4  # swaps for each node
LEAST = 0.5  # cells that a swap must save


def swapped(seats: Sequence[Seat], pairs: Sequence[tuple[int, int]], labels: Sequence[int]) -> list[Seat]:
    """The same seats, by node; no node gets one that keeps less of its label than its own does.

    Each time the best of all swaps is done. What a swap saves: the lengths of the lines of both nodes, each on its
    own seat, less those on the other's seat; a line between the two is as long as before.
    """
    import numpy as np

    count = len(seats)
    if count < 3 or not pairs:
        return list(seats)
    points = np.array([(seat.x, 2 * seat.y) for seat in seats], dtype=float)
    far = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))  # of seats
    joined = np.zeros((count, count))
    for start, end in pairs:
        joined[start, end] = joined[end, start] = 1
    kept = np.array([seat.kept for seat in seats])
    enough = kept[None] >= np.minimum(kept[:, None], np.array(labels)[:count, None])  # of a node, on another's seat
    seat_of = np.arange(count)
    lengths = joined @ far  # of the lines of a node (row), on a seat (column)
    for _ in range(MOST * count):
        on = lengths[:, seat_of]
        own = on.diagonal()
        saved = own[:, None] + own[None] - on - on.T - 2 * joined * far[np.ix_(seat_of, seat_of)]
        fits = enough[:, seat_of]
        saved[~(fits & fits.T)] = 0
        one, other = divmod(int(saved.argmax()), count)
        if saved[one, other] < LEAST:
            break
        change = far[seat_of[other]] - far[seat_of[one]]
        lengths += (joined[:, one] - joined[:, other])[:, None] * change[None]
        seat_of[[one, other]] = seat_of[[other, one]]
    return [seats[int(seat)] for seat in seat_of]
