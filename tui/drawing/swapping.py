"""Nodes that change seats where that makes lines shorter: putting nodes into cells has moved some past each other.

Shorter lines cross less: of forty nodes with a hundred edges a fifth of the crossings go, of a chain nearly all.
"""

from collections.abc import Sequence
from math import hypot

from tui.drawing.settling import Seat

ROUNDS = 6  # over all pairs; mostly nothing is left to swap after three


def swapped(seats: Sequence[Seat], pairs: Sequence[tuple[int, int]], labels: Sequence[int]) -> list[Seat]:
    """The same seats, by node; no node gets one that keeps less of its label than its own does."""
    found = list(seats)
    near: list[list[int]] = [[] for _ in seats]
    for start, end in pairs:
        near[start].append(end)
        near[end].append(start)

    def length(node: int, seat: Seat, other: int, other_seat: Seat) -> float:
        """Of the lines of a node on this seat, with the other one on that."""
        ends = (other_seat if end == other else found[end] for end in near[node])
        return sum(hypot(end.x - seat.x, 2 * (end.y - seat.y)) for end in ends)

    for _ in range(ROUNDS):
        changed = False
        for one in range(len(found)):
            for other in range(one):
                here, there = found[one], found[other]
                if not (near[one] or near[other]):
                    continue
                if there.kept < min(here.kept, labels[one]) or here.kept < min(there.kept, labels[other]):
                    continue
                now = length(one, here, other, there) + length(other, there, one, here)
                then = length(one, there, other, here) + length(other, here, one, there)
                if then < now - 1e-6:
                    found[one], found[other], changed = there, here, True
        if not changed:
            break
    return found
