"""What the screen knows, as one frozen value, and the pure fold of the agent's events into it.

Nothing here imports Textual: the tests fold events without an app. The conversation itself is not kept here (the log
has it); the state holds what is on its way: the reply being written, messages waiting for one, the model, the graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from agent.events import (
    AgentEvent,
    Compaction,
    Failed,
    GraphProgress,
    MemoryReady,
    ModelFailed,
    ModelProgress,
    ModelReady,
    Notice,
    ReplyEnded,
    ReplyStarted,
    SessionsChanged,
    TokensArrived,
    TurnAccepted,
    Warned,
)


@dataclass(frozen=True, slots=True)
class Model:
    """The model as the screen shows it; `done` and `total` are bytes while fetching."""

    state: Literal["none", "fetching", "loading", "ready", "failed"] = "none"
    name: str = ""
    done: int = 0
    total: int = 0
    context: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A durable message that has no reply yet; `queued` behind one that is being written."""

    session: str
    turn: str
    text: str
    queued: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply being written, whole so far."""

    session: str
    turn: str
    reply_turn: str
    model: str
    prompt_tokens: int
    cut_tokens: int = 0
    text: str = ""
    tokens: int = 0
    tokens_per_second: float = 0.0
    thinking: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """Everything the screen shows that is not read from the memory."""

    memory_open: bool = False
    recovered: int = 0
    graph: GraphProgress = field(default_factory=lambda: GraphProgress("opening"))
    model: Model = Model()
    reply: Reply | None = None
    waiting: tuple[Waiting, ...] = ()
    context: Mapping[str, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))  # used, total
    compacting: str | None = None  # the session whose prompt is being shortened
    last: ReplyEnded | None = None
    trouble: str | None = None

    def waiting_in(self, session: str | None) -> tuple[Waiting, ...]:
        return tuple(message for message in self.waiting if message.session == session)

    def reply_in(self, session: str | None) -> Reply | None:
        return self.reply if self.reply is not None and self.reply.session == session else None


def fold(state: State, event: AgentEvent | Notice) -> State:
    """The state after `event`."""
    match event:
        case TurnAccepted() | ReplyStarted() | TokensArrived() | ReplyEnded() | Failed():
            return _fold_reply(state, event)
        case MemoryReady(recovered=recovered):
            return replace(state, memory_open=True, recovered=recovered)
        case GraphProgress():
            return replace(state, graph=event)
        case ModelProgress(state=stage, name=name, done=done, total=total):
            return replace(state, model=Model(stage, name, done, total))
        case ModelReady(name=name, context=context):
            return replace(state, model=Model("ready", name, context=context))
        case ModelFailed(name=name, message=message):
            return replace(state, model=Model("failed", name, message=message))
        case Compaction(session=session, state=stage, after=after):
            if stage == "started":
                return replace(state, compacting=session)
            used = _used(state, session, after) if stage == "done" else state.context
            return replace(state, compacting=None, context=used)
        case Warned(message=message):
            return replace(state, trouble=message)
        case SessionsChanged():
            return state


def _fold_reply(state: State, event: AgentEvent) -> State:
    match event:
        case TurnAccepted(session=session, turn=turn, text=text, queued=queued):
            return replace(state, waiting=(*state.waiting, Waiting(session, turn, text, queued)))
        case ReplyStarted():
            reply = Reply(
                event.session, event.turn, event.reply_turn, event.model, event.prompt_tokens, event.cut_tokens
            )
            return replace(state, reply=reply, waiting=_without(state.waiting, event.turn))
        case TokensArrived():
            if state.reply is None or state.reply.reply_turn != event.reply_turn:
                return state
            reply = replace(
                state.reply,
                text=state.reply.text + event.text,
                tokens=event.tokens,
                tokens_per_second=event.tokens_per_second,
                thinking=event.thinking,
            )
            return replace(state, reply=reply)
        case ReplyEnded(session=session):
            ours = state.reply is not None and state.reply.reply_turn == event.reply_turn
            context = MappingProxyType({**state.context, session: (event.context_used, event.context_total)})
            return replace(
                state,
                reply=None if ours else state.reply,
                waiting=_without(state.waiting, event.turn),
                context=context,
                last=event,
            )
        case Failed(message=message, turn=turn):
            ours = state.reply is not None and state.reply.turn == turn
            return replace(
                state, reply=None if ours else state.reply, waiting=_without(state.waiting, turn), trouble=message
            )


def _without(waiting: tuple[Waiting, ...], turn: str | None) -> tuple[Waiting, ...]:
    return tuple(message for message in waiting if message.turn != turn)


def _used(state: State, session: str, used: int) -> Mapping[str, tuple[int, int]]:
    total = state.context.get(session, (0, 0))[1]
    return MappingProxyType({**state.context, session: (used, total)})


def resumed(state: State, session: str, used: int) -> State:
    """The state after opening a chat whose newest reply left `used` tokens of context; what is known better stays."""
    if session in state.context:
        return state
    return replace(state, context=_used(state, session, used))


def activity(state: State, session: str | None) -> str:
    """One or two words for the status bar: what clew is doing now."""
    if not state.memory_open:
        return "opening"
    reply = state.reply
    if reply is not None:
        if reply.session != session:
            return "writing elsewhere"
        return "thinking" if reply.thinking or not reply.text else "writing"
    match state.model.state:
        case "fetching":
            return "fetching the model"
        case "loading":
            return "loading the model"
        case "failed":
            return "no model"
        case "ready":
            return "waiting" if state.waiting_in(session) else "ready"
        case "none":
            return "starting"
