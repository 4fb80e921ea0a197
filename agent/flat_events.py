"""The events and notices that are made of plain values, and errors as values.

Next to nothing is imported here: what only shows a reply that another process makes need not wait for the rest.
"""

import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from agent.errors import AgentError


@dataclass(frozen=True, slots=True)
class ErrorValue:
    """An error as a value: the name of its class, which is one of clew's or Python's, and its message."""

    type: str
    message: str

    @classmethod
    def of(cls, error: Exception) -> "ErrorValue":
        return cls(type(error).__name__, str(error))

    def exception(self) -> Exception:
        """The error again, with its message and without its other attributes; an AgentError if its class is unknown."""
        found = next((each for each in _known() if each.__name__ == self.type), AgentError)
        error = found.__new__(found)
        error.args = (self.message,)
        return error


def _known() -> Iterator[type[Exception]]:
    """The classes of errors that faces are told of."""
    from graph.errors import MemoryFailure
    from models.errors import ModelError

    left: list[type[Exception]] = [AgentError, MemoryFailure, ModelError]
    while left:
        each = left.pop()
        yield each
        left += each.__subclasses__()
    # Of the system's own only Python's: a library may have one of the same name as ours.
    yield from (each for each in vars(builtins).values() if isinstance(each, type) and issubclass(each, OSError))


@dataclass(frozen=True, slots=True)
class TurnAccepted:
    """The message is durable. `queued`: another reply is streaming, this one's turn comes after it."""

    session: str
    turn: str
    text: str
    queued: bool
    new_session: bool


@dataclass(frozen=True, slots=True)
class TurnWithdrawn:
    """The message was taken back before its turn came: it is hidden, and will not be answered. Ends the iterator."""

    session: str
    turn: str


@dataclass(frozen=True, slots=True)
class ReplyStarted:
    """The turn is taken up and the model is asked; `cut_tokens` were left out of a message too long for the context.

    `speaker` is the name of who replies in a story.
    """

    session: str
    turn: str
    reply_turn: str
    model: str
    prompt_tokens: int
    cut_tokens: int = 0
    speaker: str = "assistant"


@dataclass(frozen=True, slots=True)
class PromptRead:
    """The model has read `done` of the `total` tokens that are new to it; told now and then where they are many."""

    session: str
    turn: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class TokensArrived:
    """More of the reply; `tokens` counts those sampled so far, `thinking` tells that a reasoning segment is running."""

    session: str
    reply_turn: str
    text: str
    tokens: int
    tokens_per_second: float
    thinking: bool = False


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """The reply is durable, also a stopped or failed one (then `truncated`, with the text that came)."""

    session: str
    turn: str
    reply_turn: str
    text: str
    truncated: bool
    stop_reason: str
    error: str | None
    prompt_tokens: int
    evaluated_tokens: int
    completion_tokens: int
    first_token_ms: float | None
    total_ms: float
    context_used: int
    context_total: int


@dataclass(frozen=True, slots=True)
class Failed:
    """What went wrong, what is safe and what to do next. Ends the iterator; `turn` is set if the message is durable.

    `error` is the cause where there was one: a face makes an exit code of it.
    """

    message: str
    turn: str | None = None
    error: ErrorValue | None = field(default=None, compare=False, repr=False)

    @classmethod
    def because(cls, error: Exception, message: str = "", turn: str | None = None) -> "Failed":
        """What an error says, or a longer message that begins with that."""
        return cls(message or str(error), turn, ErrorValue.of(error))


@dataclass(frozen=True, slots=True)
class ToolAsked:
    """The model called a tool; `call` is the id of the tool's turn, `arguments` are JSON values by name."""

    session: str
    turn: str
    call: str
    tool: str
    arguments: dict[str, str | int | float | None]


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """How far a tool that takes long has come: `done` of `total` steps."""

    session: str
    turn: str
    call: str
    tool: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class ToolDone:
    """The tool's turn is durable: what it answered, or why it failed."""

    session: str
    turn: str
    call: str
    tool: str
    result: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ApprovalWanted:
    """A tool wants to change the memory, and waits: `Agent.approvals` takes the answer; none refuses."""

    session: str
    turn: str
    approval: str
    tool: str
    what: str  # in words for people: what would change


@dataclass(frozen=True, slots=True)
class MemoryReady:
    """The log can be read and written: chats can be shown and messages accepted."""

    turns: int
    recovered: int  # replies cut off by the last stop, now truncated turns


@dataclass(frozen=True, slots=True)
class MemoryAwaited:
    """Another clew has the memory for a moment, and it is waited for; the message says which."""

    message: str


@dataclass(frozen=True, slots=True)
class GraphProgress:
    """The graph is catching up or being rebuilt; `state` "ready" ends it."""

    state: Literal["opening", "catching up", "rebuilding", "ready", "purging", "failed"]
    done: int = 0
    total: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """The model is being fetched (bytes) or loaded (hundredths); total 0: nobody knows how far."""

    state: Literal["fetching", "loading"]
    name: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class ModelReady:
    """This model answers from now on."""

    name: str
    context: int


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """No model can answer; the message says why and how to choose another."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class WordsLeave:
    """The other machines that words go to from now on, by the model that answers or by one beside it; none: they stay.

    A model beside it that has not been needed yet counts, as it may be needed at any time.
    """

    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """Turns being turned into vectors in the background; "ready" when all have one, "failed" with why."""

    state: Literal["loading", "embedding", "ready", "failed"]
    model: str
    done: int = 0
    total: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class SessionsChanged:
    """Something in the session list changed: a title, a name, a new or archived session."""

    session: str


@dataclass(frozen=True, slots=True)
class QueueHeld:
    """The messages of a chat that wait until `Agent.go_on` (a stop put them on hold), in their order; empty: none."""

    session: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compaction:
    """The prompt is being shortened in the background, or that ended; tokens before and after."""

    session: str
    state: Literal["started", "done", "interrupted"]
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Warned:
    """Something failed beside the conversation and was survived; say it once."""

    message: str


@dataclass(frozen=True, slots=True)
class Learned:
    """A reflection taught something: ids and texts of the observations made or revised, `review` of those that wait."""

    session: str
    observations: tuple[tuple[str, str], ...]
    review: int


@dataclass(frozen=True, slots=True)
class Proposed:
    """Another program wants something remembered; it waits, with so many in all, for the user's review."""

    observation: str
    text: str
    by: str
    review: int


@dataclass(frozen=True, slots=True)
class Reflecting:
    """Reflection in the background: exchanges still to do (0: it rests); `trust` is what the model is fit for."""

    left: int
    trust: Literal["model", "verbatim", "unknown"]


@dataclass(frozen=True, slots=True)
class MemoriesChanged:
    """Observations, blocks, projects, ratings or documents changed by someone's hand: what shows them reads again."""
