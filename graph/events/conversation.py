"""The events of conversations: sessions, turns, pins, heads and erasures; and what all events share.

`graph.events` joins them with the others into the closed union that the log holds.
"""

from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

MAIN_WORLD = "main"
RANDOM = "random"  # how it is written that there is no seed


class Role(StrEnum):
    """Who a turn speaks as."""

    USER = "user"
    ASSISTANT = "assistant"
    NOTE = "note"
    TOOL = "tool"


class StopReason(StrEnum):
    """Why a reply ended."""

    END = "end"
    LENGTH = "length"
    REPEATING = "repeating"  # it had begun to say again what it had said over and over
    STOPPED = "stopped"
    FAILED = "failed"
    CRASHED = "crashed"


class Sampling(BaseModel):
    """How tokens are drawn: the usual llama.cpp sampling settings of a session."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float = Field(
        default=0.7, ge=0, le=5, description="How freely words are chosen; 0: always the most likely word."
    )
    top_k: int = Field(default=40, ge=0, description="Choose among this many of the most likely words; 0: all.")
    top_p: float = Field(
        default=0.95,
        gt=0,
        le=1,
        description="Choose among the most likely words that together have this probability; 1: all.",
    )
    min_p: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Leave out words less likely than this fraction of the most likely one; 0: none.",
    )
    repeat_penalty: float = Field(
        default=1.1,
        ge=0.5,
        le=3,
        description="Above 1, recent words are less likely to be repeated; 1: off.",
    )
    seed: int | None = Field(
        default=None,
        description="With a number, the same prompt gives the same reply; random: a new one each time.",
    )
    max_tokens: int = Field(default=1024, ge=1, description="Maximum length of a reply, in tokens.")

    @field_validator("seed", mode="before")
    @classmethod
    def _no_seed(cls, value: object) -> object:
        """None can be neither typed nor written in TOML."""
        return None if value in (RANDOM, "none") else value


Strategy = Literal[
    "lexical",
    "semantic",
    "observation",
    "graph",
    "recency",
    "pin",
    "recent",
    "thread",
    "theme",
    "tool",
    "later",
    "reference",
]


class Recalled(BaseModel):
    """One item of a context pack: what was put before the model, by which strategies and ranks, with what score.

    Of what was read at a reference, or of a passage of it, when that was (UTC milliseconds) and the SHA-256 of all that
    it said then: its words are nowhere.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: Literal["turn", "observation", "chunk", "block", "reference"] = "turn"
    score: float = 0.0
    ranks: dict[Strategy, int] = Field(default_factory=dict)
    boosts: dict[str, float] = Field(default_factory=dict)
    path: tuple[tuple[str, str], ...] = ()  # relationship and node, from what matched to this
    read_at: int | None = None
    hash: str | None = None

    @field_validator("path")
    @classmethod
    def _of_today(cls, path: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """What was stored before version 5 of the graph says IN for what is IN_SESSION now."""
        return tuple(("IN_SESSION" if relationship == "IN" else relationship, node) for relationship, node in path)


class Base(BaseModel):
    """What all events share; `version` is the newest one this program writes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: ClassVar[int] = 1


class SessionStarted(Base):
    """A session begins, with no head yet. An imported one names its `source` and when it began (UTC milliseconds)."""

    version: ClassVar[int] = 2
    kind: Literal["session.started"] = "session.started"
    source: str | None = None
    said_at: int | None = None
    session: str
    world: str = MAIN_WORLD
    project: str | None = None
    client: str


class SessionTitled(Base):
    """The content gave the session a title; `sources` are the turns whose words it may carry."""

    kind: Literal["session.titled"] = "session.titled"
    session: str
    sources: tuple[str, ...]
    text: str | None


class SessionRenamed(Base):
    """The user gave the session a name, which beats any title."""

    kind: Literal["session.renamed"] = "session.renamed"
    session: str
    text: str | None


class SessionArchived(Base):
    """The session leaves the list; its memory stays."""

    kind: Literal["session.archived"] = "session.archived"
    session: str


class SessionUnarchived(Base):
    """The session is back in the list."""

    kind: Literal["session.unarchived"] = "session.unarchived"
    session: str


class SessionDeleted(Base):
    """The session leaves the list for good and its head holds no turn any more."""

    kind: Literal["session.deleted"] = "session.deleted"
    session: str


class SessionForked(Base):
    """A new session whose head starts at turn `at` of another session; in that one's world, or in a new what-if."""

    kind: Literal["session.forked"] = "session.forked"
    session: str
    origin: str
    at: str
    world: str = MAIN_WORLD
    project: str | None = None
    client: str


class SessionConfigured(Base):
    """The session's own settings from here on, whole; `text` is its system prompt. None means the default."""

    kind: Literal["session.configured"] = "session.configured"
    session: str
    model: str | None = None
    sampling: Sampling | None = None
    text: str | None = None


FROM_MEMORY = "(memory)"  # the model of a reply that no model wrote: it tells what the memory holds


class TurnSaid(Base):
    """One message. It moves the session's head to itself, unless it is `queued`: then it waits, off every path.

    A reply names its model, the `host` its words went to where that is another machine, how it ended, what it cost, how
    often it was `redrawn` as nothing but a frame of clew's or nothing at all had come and, in `recalled`, what was put
    before the model; a tool's turn what its result quotes. `parent` is the turn it follows
    on the path. An imported turn has the key of its `source` and when it was said (UTC milliseconds), where that is
    known. In a story the speaker is a member of the cast, the message is `addressed` to one who answers it, and
    `witnesses` are those who saw it; None elsewhere.
    """

    version: ClassVar[int] = 7
    kind: Literal["turn.said"] = "turn.said"
    turn: str
    session: str
    parent: str | None = None
    role: Role
    speaker: str
    client: str
    queued: bool = False
    stop_reason: StopReason | None = None
    error: str | None = None
    model: str | None = None
    host: str | None = None
    sampling: Sampling | None = None
    prompt_hash: str | None = None
    prompt_tokens: int | None = None
    evaluated_tokens: int | None = None
    completion_tokens: int | None = None
    first_token_ms: float | None = None
    total_ms: float | None = None
    redrawn: int | None = None
    recalled: tuple[Recalled, ...] = ()
    addressed: str | None = None
    witnesses: tuple[str, ...] | None = None
    source: str | None = None
    said_at: int | None = None
    text: str | None

    @property
    def retells(self) -> bool:
        """Whether it only tells again what the memory holds: a tool's answer, or a reply of the memory itself."""
        return self.role is Role.TOOL or self.model == FROM_MEMORY


class TurnTaken(Base):
    """A queued message is taken up: it follows `parent` and becomes its session's head."""

    kind: Literal["turn.taken"] = "turn.taken"
    turn: str
    session: str
    parent: str | None


class TurnHidden(Base):
    """The user took a turn out of view and memory, reversibly."""

    kind: Literal["turn.hidden"] = "turn.hidden"
    turn: str


class TurnUnhidden(Base):
    """A hidden turn is back."""

    kind: Literal["turn.unhidden"] = "turn.unhidden"
    turn: str


class TurnDeleted(Base):
    """A turn is gone for good; the append of this event erases its text."""

    kind: Literal["turn.deleted"] = "turn.deleted"
    turn: str


class TurnRated(Base):
    """How much a turn matters: 0 routine, 1 notable, 2 significant, 3 pivotal; the last rating holds."""

    kind: Literal["turn.rated"] = "turn.rated"
    turn: str
    significance: int = Field(ge=0, le=3)
    by: Literal["user", "model", "rule"]


class TurnWithheld(Base):
    """The user keeps a turn out of memory: it stays in its chat, and is neither recalled nor reflected on."""

    kind: Literal["turn.withheld"] = "turn.withheld"
    turn: str


class TurnReleased(Base):
    """A turn that was kept out of memory may be remembered again."""

    kind: Literal["turn.released"] = "turn.released"
    turn: str


class PinSet(Base):
    """The user pinned a turn or an observation: it is in every prompt of `world` until the pin is cleared.

    No world: that of what is pinned.
    """

    version: ClassVar[int] = 3
    kind: Literal["pin.set"] = "pin.set"
    turn: str | None = None
    observation: str | None = None
    world: str | None = None


class PinCleared(Base):
    """A pin is taken off in `world` (None: that of what is pinned); of a turn pinned by its significance, for good."""

    version: ClassVar[int] = 3
    kind: Literal["pin.cleared"] = "pin.cleared"
    turn: str | None = None
    observation: str | None = None
    world: str | None = None


class HeadMoved(Base):
    """The session's head stands at another turn (None: before the first)."""

    kind: Literal["head.moved"] = "head.moved"
    session: str
    turn: str | None


class TextErased(Base):
    """The texts of earlier events are erased, by sequence number; the append of this event erases them."""

    kind: Literal["text.erased"] = "text.erased"
    events: tuple[int, ...]
