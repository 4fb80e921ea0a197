"""What the memory hands out: plain frozen values, so that no Kuzu or SQLite object leaves this package."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from graph.events import Recalled


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as read back. `text` is None once erased; `at` is when it was said; `index` counts from 0."""

    id: str
    session: str
    parent: str | None
    index: int
    role: str
    speaker: str
    text: str | None
    at: datetime
    client: str
    queued: bool = False  # said while a reply was streaming, and not taken up yet
    hidden: bool = False
    stop_reason: str | None = None
    error: str | None = None
    model: str | None = None
    prompt_hash: str | None = None
    prompt_tokens: int | None = None
    evaluated_tokens: int | None = None
    completion_tokens: int | None = None
    first_token_ms: float | None = None
    total_ms: float | None = None
    recalled: tuple[Recalled, ...] = ()  # what was put before the model for this reply, or what a tool's result quotes
    pinned: bool = False
    withheld: bool = False  # kept out of memory by the user
    deleted: bool = False  # gone for good; what followed it follows what it followed
    sampling: dict[str, float | int | None] | None = None  # that a reply was made with, as the log has it

    @property
    def truncated(self) -> bool:
        """A reply that did not end by itself: stopped, failed, cut off by its limit or by a crash."""
        return self.stop_reason not in (None, "end")


@dataclass(frozen=True, slots=True)
class Session:
    """A session as listed. `name` is what to show: the user's name, else the title, else None."""

    id: str
    name: str | None
    named_by_user: bool
    world: str
    project: str | None
    head: str | None
    archived: bool
    deleted: bool
    started_at: datetime
    last_at: datetime
    turns: int  # said in this session, queued and off-path ones included, deleted ones not
    model: str | None = None
    system_prompt: str | None = None
    sampling: dict[str, float | int | None] | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user turn and the reply to it, if there is one yet; `tools` are what was looked up on the way, oldest first.

    Only `exchange` reads the tools: lists of exchanges are without them.
    """

    turn: Turn
    reply: Turn | None
    project: str | None
    tools: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """An appended event. `graph_behind` says that the graph could not follow and will catch up by itself."""

    seq: int
    id: str
    at: datetime
    graph_behind: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long piece of work on the memory is; `total` is 0 while unknown."""

    what: Literal["opening", "catching up", "rebuilding", "ready", "purging"]
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of the doctor: what was looked at, whether it is well, the detail, and what to do when it is not."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
