"""The events of references: where something lies that is read from its source, and who wrote it; never what it says."""

from typing import Literal

from graph.events.conversation import Base

Sort = Literal["thread", "page", "file"]


class ReferenceAdded(Base):
    """A session refers to something from here on, or again; `text` is its address.

    Where it went along with a message, `turn`, only while that is on the session's path, or waits.
    """

    kind: Literal["reference.added"] = "reference.added"
    reference: str
    session: str
    category: Sort
    turn: str | None = None
    text: str | None


class ReferenceDropped(Base):
    """Its session refers to it no more."""

    kind: Literal["reference.dropped"] = "reference.dropped"
    reference: str


class ReferenceWritten(Base):
    """Who wrote what lies there, or some of it: an entity. `text` is two lines: its handle, its DID (AT Protocol)."""

    kind: Literal["reference.written"] = "reference.written"
    reference: str
    author: str
    text: str | None


PREFIX = "reference:"


def quoted_as(reference: str, hash: str, passage: int | None = None) -> str:
    """How a prompt and a context pack name what a reference said when that had this hash, or one passage of it."""
    return f"{PREFIX}{reference}@{hash[:16]}" + (f"#{passage}" if passage is not None else "")


def referred(id: str) -> str:
    """The reference in such a name."""
    return id.removeprefix(PREFIX).partition("@")[0]
