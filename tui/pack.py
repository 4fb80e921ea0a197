"""What the memory panel shows, as one frozen value; packing.py makes it, out of what no first paint waits for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph.hits import Kind


@dataclass(frozen=True, slots=True)
class PackItem:
    """One thing recalled or pinned: where it stands, what it says, and why it is here."""

    turn: str
    session: str
    head: str
    words: str
    why: str = ""
    pinned: bool = False
    hidden: bool = False
    kind: "Kind" = "turn"
    whole: str = ""  # the whole text of a piece of a document


@dataclass(frozen=True, slots=True)
class Pack:
    """The panel: the pinned items, then the recalled ones of `title`; `note` says what is missing, and why."""

    title: str = ""
    world: str = ""  # what the what-if it is of is called; empty for the main world
    recalled: tuple[PackItem, ...] = ()
    pinned: tuple[PackItem, ...] = ()
    more_pinned: int = 0
    note: str = ""
