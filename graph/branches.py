"""How conversations branch, as plain frozen values: worlds, alternatives, and the shape of a session's tree."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class World:
    """`main`, or a what-if: its `parent` world as it was at event `seq`, without what follows turn `fork`, and its own.

    Of main, parent, fork, session, began_at and origin are None and seq is 0. `name` is that of the session that began
    it.
    """

    id: str
    name: str | None
    parent: str | None = None
    fork: str | None = None
    session: str | None = None
    seq: int = 0
    began_at: datetime | None = None
    origin: str | None = None  # the session it left


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The turns that stand in the place of one turn of a session, oldest first, and which of them it shows."""

    turns: tuple[str, ...]
    place: int  # from 0

    @property
    def label(self) -> str:
        """As people read it: 2/3."""
        return f"{self.place + 1}/{len(self.turns)}"


@dataclass(frozen=True, slots=True)
class Branch:
    """A turn in the tree of a session, with what follows it, the oldest first; tools' turns are left out.

    `on_path`: at or above the session's head. `forks` are the sessions that leave here.
    """

    turn: str
    role: str
    speaker: str
    text: str | None  # None where it is hidden or erased
    at: datetime
    on_path: bool
    head: bool
    hidden: bool
    children: tuple["Branch", ...] = ()
    forks: tuple[str, ...] = ()
