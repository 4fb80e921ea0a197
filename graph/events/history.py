"""The events of going back: marks in the log, restoring one, and undoing a change.

What they do to the memory is done by ordinary events that follow in the same append: a head that moves, a turn that is
hidden. So each of them can be undone in its turn, and nothing but the log tells of these themselves.
"""

from typing import Literal

from pydantic import Field

from graph.events.conversation import Base


class MarkSet(Base):
    """A place in the log to come back to: everything before this event. `text` is its name, where a person gave one.

    One for an import stands among what came with it, so that nobody takes it for what was decided here; not offered.
    """

    kind: Literal["mark.set"] = "mark.set"
    mark: str
    reason: Literal["named", "automatic", "rewind", "restore", "import"]
    text: str | None = None


class MarkCleared(Base):
    """A mark is not offered any more."""

    kind: Literal["mark.cleared"] = "mark.cleared"
    mark: str


class MarkRestored(Base):
    """What the user decided stands again as it was at `mark`; the events that bring it about follow in this append."""

    kind: Literal["mark.restored"] = "mark.restored"
    mark: str


class Undone(Base):
    """The events of one change are undone, by number; the events that bring it about follow in this append."""

    kind: Literal["undone"] = "undone"
    events: tuple[int, ...] = Field(min_length=1)
