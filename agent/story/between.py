"""What lies between two of a cast beside how they stand to each other: what only they saw, and when they last spoke."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from graph.values import Member, Turn

MOST = 5  # private moments that are told; the others are counted
QUOTED = 120  # characters of a message


@dataclass(frozen=True, slots=True)
class Moment:
    """A message, as it is told of: its id, who said it, and the beginning of its words."""

    turn: str
    speaker: str
    said: str


@dataclass(frozen=True, slots=True)
class Between:
    """Of two members, in the order of their seats: what only they saw, counted, and the last of it, the oldest first.

    `last` is the last message of one of them that both saw.
    """

    one: str
    other: str
    count: int
    private: tuple[Moment, ...]
    last: Moment | None


def between(cast: Sequence[Member], path: Iterable[Turn]) -> list[Between]:
    """What each two of a cast share, by the messages of a path, the oldest first. Of two alone, nothing is private."""
    told = [turn for turn in path if turn.text is not None and not turn.hidden and turn.role in ("user", "assistant")]
    everybody = {each.id for each in cast}
    found = []
    for one, other in combinations(cast, 2):
        both = {one.id, other.id}
        shared = [turn for turn in told if turn.member in both and both <= set(turn.witnesses or ())]
        private = [turn for turn in shared if everybody & set(turn.witnesses or ()) == both < everybody]
        moments = tuple(_moment(turn) for turn in private[-MOST:])
        found.append(Between(one.id, other.id, len(private), moments, _moment(shared[-1]) if shared else None))
    return found


def _moment(turn: Turn) -> Moment:
    return Moment(turn.id, turn.speaker, " ".join((turn.text or "").split())[:QUOTED])
