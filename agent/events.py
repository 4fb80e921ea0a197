"""What the agent tells its faces: the typed, frozen events of one message, errors as values, and notices."""

from dataclasses import dataclass
from typing import Literal

from agent.flat_events import (
    ApprovalWanted,
    Compaction,
    EmbeddingProgress,
    ErrorValue,
    Failed,
    GraphProgress,
    Learned,
    MemoriesChanged,
    MemoryAwaited,
    MemoryReady,
    ModelFailed,
    ModelProgress,
    ModelReady,
    PromptRead,
    Proposed,
    QueueHeld,
    Reflecting,
    ReplyEnded,
    ReplyStarted,
    SessionsChanged,
    TokensArrived,
    ToolAsked,
    ToolDone,
    ToolProgress,
    TurnAccepted,
    TurnWithdrawn,
    Warned,
    WordsLeave,
)
from graph.values import Hit, Turn

__all__ = [
    "AgentEvent", "ApprovalWanted", "Compaction", "EmbeddingProgress", "ErrorValue", "Failed", "GraphProgress",
    "Learned", "MemoriesChanged", "MemoryAwaited", "MemoryPreparing", "MemoryReady", "ModelFailed", "ModelProgress",
    "ModelReady", "Notice", "PromptRead", "Proposed", "QueueHeld", "RecallDone", "Reflecting", "ReplyEnded",
    "ReplyStarted", "Route", "SessionsChanged", "TokensArrived", "ToolAsked", "ToolDone", "ToolProgress",
    "TurnAccepted", "TurnWithdrawn", "Warned", "WordsLeave",
]  # fmt: skip

Route = Literal["recall", "recent", "thread", "themes", "none"]


@dataclass(frozen=True, slots=True)
class RecallDone:
    """What the reply will be given of the memory, and how it was looked for; comes before ReplyStarted.

    `hits` are those put before the model, once each; `note` says why there are none where that needs saying. `quotes`
    are the best of them where they are to be read beside the reply, each cut to what answers: the model may waste them.
    `left_out` says of a story's lore what was called for and had no room; `read` counts the references that the reply
    is given something of.
    """

    session: str
    turn: str
    route: Route
    hits: tuple[Hit, ...]
    took_ms: float
    note: str = ""
    quotes: tuple[Hit, ...] = ()
    left_out: tuple[str, ...] = ()
    read: int = 0


@dataclass(frozen=True, slots=True)
class MemoryPreparing:
    """The memory is made ready for this version of clew: so many of so many events are read.

    The first of these brings the end of the last chat, to be read meanwhile; it is one of those that are not sent to.
    """

    done: int
    total: int
    turns: tuple[Turn, ...] = ()


AgentEvent = (
    TurnAccepted
    | TurnWithdrawn
    | RecallDone
    | ApprovalWanted
    | ToolAsked
    | ToolProgress
    | ToolDone
    | ReplyStarted
    | PromptRead
    | TokensArrived
    | ReplyEnded
    | Failed
)


Notice = (
    MemoryReady
    | MemoryAwaited
    | MemoryPreparing
    | Learned
    | Proposed
    | Reflecting
    | MemoriesChanged
    | GraphProgress
    | ModelProgress
    | ModelReady
    | ModelFailed
    | WordsLeave
    | EmbeddingProgress
    | SessionsChanged
    | QueueHeld
    | Compaction
    | Warned
)


@dataclass(frozen=True, slots=True)
class OfPrivate:
    """A notice that tells of a private chat: it is for the face whose chat that is, and for nobody else."""

    owner: str
    notice: Notice
