"""The pure fold of the agent's events and notices into what the screen knows; the tests run it without an app."""

from dataclasses import replace
from types import MappingProxyType

from agent.events import (
    AgentEvent,
    ApprovalWanted,
    Compaction,
    EmbeddingProgress,
    Failed,
    GraphProgress,
    Learned,
    MemoriesChanged,
    MemoryAwaited,
    MemoryPreparing,
    MemoryReady,
    ModelFailed,
    ModelProgress,
    ModelReady,
    Notice,
    PromptRead,
    Proposed,
    QueueHeld,
    RecallDone,
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
from tui.state import RECALLS_KEPT, Model, Reply, State, Waiting, used_now


def fold(state: State, event: AgentEvent | Notice) -> State:
    """The state after `event`."""
    match event:
        case TurnAccepted() | RecallDone() | ApprovalWanted() | ToolAsked() | ToolProgress() | ToolDone():
            return _fold_reply(state, event)
        case ReplyStarted() | PromptRead() | TokensArrived() | ReplyEnded() | Failed() | TurnWithdrawn():
            return _fold_reply(state, event)
        case MemoryReady(recovered=recovered):
            return replace(state, memory_open=True, recovered=recovered)
        case GraphProgress():
            return replace(state, graph=event)
        case ModelProgress(state=stage, name=name, done=done, total=total):
            return replace(state, model=Model(stage, name, done, total))
        case ModelReady(name=name, context=context):
            ready = Model("ready", name, context=context)
            sizes = MappingProxyType({session: (used, context) for session, (used, _) in state.context.items()})
            return replace(state, model=ready, loaded=ready, context=sizes)
        case ModelFailed(name=name, message=message):
            failed = Model("failed", name, message=message)
            return replace(state, model=state.loaded or failed, trouble=message)
        case WordsLeave(hosts=hosts):
            return replace(state, away=hosts)
        case Compaction(session=session, state=stage, after=after):
            if stage == "started":
                return replace(state, compacting=session)
            used = used_now(state, session, after) if stage == "done" else state.context
            return replace(state, compacting=None, context=used)
        case QueueHeld(session=session, turns=turns):
            return replace(state, held=MappingProxyType({**state.held, session: turns}))
        case Warned(message=message):
            return replace(state, trouble=message)
        case EmbeddingProgress(state=stage, message=message):
            return replace(state, embedding=event, trouble=message if stage == "failed" else state.trouble)
        case Reflecting(left=left):
            return replace(state, reflecting=left)
        case MemoryAwaited() | MemoryPreparing() | SessionsChanged() | Learned() | Proposed() | MemoriesChanged():
            return state


def _fold_reply(state: State, event: AgentEvent) -> State:
    match event:
        case RecallDone(turn=turn):
            waiting = tuple(replace(each, queued=each.queued and each.turn != turn) for each in state.waiting)
            return replace(state, recalls=(*state.recalls, event)[-RECALLS_KEPT:], waiting=waiting)
        case TurnWithdrawn(turn=turn):
            return replace(state, waiting=_without(state.waiting, turn))
        case ApprovalWanted():
            return replace(state, approval=event)
        case PromptRead():
            return replace(state, read=event)
        case ToolAsked():
            return replace(state, tool=event, read=None)
        case ToolProgress():
            return state
        case ToolDone(turn=turn):  # the model chooses its next step: it is still looking things up
            return replace(state, approval=_unanswered(state, turn))
        case TurnAccepted(session=session, turn=turn, text=text, queued=queued):
            return replace(state, waiting=(*state.waiting, Waiting(session, turn, text, queued)))
        case ReplyStarted():
            reply = Reply(
                event.session,
                event.turn,
                event.reply_turn,
                event.model,
                event.prompt_tokens,
                event.cut_tokens,
                speaker=event.speaker,
            )
            return replace(
                state,
                reply=reply,
                read=None,
                waiting=_without(state.waiting, event.turn),
                tool=None,
                approval=_unanswered(state, event.turn),
            )
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
            return replace(state, reply=reply, read=None)
        case ReplyEnded(session=session):
            ours = state.reply is not None and state.reply.reply_turn == event.reply_turn
            context = MappingProxyType({**state.context, session: (event.context_used, event.context_total)})
            return replace(
                state,
                reply=None if ours else state.reply,
                read=None,
                waiting=_without(state.waiting, event.turn),
                context=context,
                last=event,
                approval=_unanswered(state, event.turn),
            )
        case Failed(message=message, turn=turn):
            ours = state.reply is not None and state.reply.turn == turn
            return replace(
                state,
                reply=None if ours else state.reply,
                read=None if state.read is not None and state.read.turn == turn else state.read,
                waiting=_without(state.waiting, turn),
                trouble=message,
                approval=_unanswered(state, turn),
                tool=None if state.tool is not None and state.tool.turn == turn else state.tool,
            )


def unawaited(state: State, turn: str) -> State:
    """The state after it is known that nobody answers that message: nothing more comes of it."""
    return replace(state, waiting=_without(state.waiting, turn))


def _unanswered(state: State, turn: str | None) -> ApprovalWanted | None:
    """What still waits for leave once the tool of that message is done, or its reply begins or fails."""
    return None if state.approval is not None and state.approval.turn == turn else state.approval


def _without(waiting: tuple[Waiting, ...], turn: str | None) -> tuple[Waiting, ...]:
    return tuple(message for message in waiting if message.turn != turn)
