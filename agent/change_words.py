"""What changes by hand were, in words that may be shown: chats by names, messages and memories by what they say."""

from collections.abc import Iterable, Sequence

from graph.calling import quoted
from graph.errors import NotFound
from graph.events import (
    CoreWritten,
    DocumentRead,
    DocumentRemoved,
    Event,
    HeadMoved,
    MarkRestored,
    MarkSet,
    ObservationDeleted,
    ObservationMade,
    ObservationPromoted,
    ObservationRejected,
    ObservationReturned,
    ObservationSupported,
    PinCleared,
    PinSet,
    ProjectAssigned,
    Role,
    SessionArchived,
    SessionConfigured,
    SessionDeleted,
    SessionForked,
    SessionRenamed,
    SessionUnarchived,
    TurnDeleted,
    TurnHidden,
    TurnRated,
    TurnReleased,
    TurnUnhidden,
    TurnWithheld,
    Undone,
)
from graph.memory import Memory
from graph.undoing import UserChange


def what_was(memory: Memory, entry: UserChange) -> str:
    """What a change did, in words; of several kinds of event the first that says it."""
    events = entry.events
    if entry.edit is not None:
        return f"edited {_message(memory, entry.edit.instead_of)}"
    for event in events:
        match event:
            case MarkRestored():
                return "restored a mark"
            case Undone(events=undone):
                return _undid(memory, undone)
    for event in events:
        match event:
            case SessionDeleted():
                return "deleted a chat"
            case DocumentRemoved():
                return "deleted a document"
            case ObservationDeleted():
                return "forgot a memory"
    if deleted := [event for event in events if isinstance(event, TurnDeleted)]:
        return f"deleted {_messages(memory, deleted)}"
    if read := {event.document: event for event in events if isinstance(event, DocumentRead)}:
        return _read_in([event for event in read.values() if event.chunks]) or _taken_out(list(read.values()))
    return _what_of_chats(memory, events) or _what_of_memories(memory, events) or "changed something"


def _read_in(read: Sequence[DocumentRead]) -> str:
    return f"added {_documents(read)}" if read else ""


def _taken_out(read: Sequence[DocumentRead]) -> str:
    return f"removed {_documents(read)} from the memory"


def _documents(read: Sequence[DocumentRead]) -> str:
    """Documents: one by its title, several by their number."""
    if len(read) > 1:
        return f"{len(read)} documents"
    return f"the document {quoted((read[0].text or 'erased').partition(chr(10))[0])}"


def _undid(memory: Memory, undone: Sequence[int]) -> str:
    """What an undoing undid; an export can bring one of what is no change by hand."""
    try:
        return f"undid a change ({what_was(memory, memory.user_change(undone[0]))})" if undone else "undid nothing"
    except NotFound:
        return "undid an automatic change"


def _moved(memory: Memory, events: Sequence[Event], moved: HeadMoved) -> str:
    """What a move of a head was: a way back, a reply that was made anew, or a switch to another version."""
    if any(isinstance(event, MarkSet) for event in events):
        to = f"back to {_message(memory, moved.turn)}" if moved.turn else "back to before the first message"
        return f"went {to} in {_chat(memory, moved.session)}"
    if moved.turn is None:
        return f"moved to before the first message in {_chat(memory, moved.session)}"
    said = memory.turns([moved.turn])
    if said and said[0].role == Role.USER:
        return f"regenerated the reply to {_message(memory, moved.turn)}"
    return f"moved to {_message(memory, moved.turn)} in {_chat(memory, moved.session)}"


def _what_of_chats(memory: Memory, events: Sequence[Event]) -> str:
    for event in events:
        match event:
            case SessionForked(session=session, world=world):
                return f"forked {_chat(memory, session)}{' as a what-if' if world == session else ''}"
            case HeadMoved():
                return _moved(memory, events, event)
            case SessionRenamed(text=name):
                return f"named a chat {quoted(name)}" if name else "removed a chat's name"
            case SessionArchived(session=session):
                return f"archived {_chat(memory, session)}"
            case SessionUnarchived(session=session):
                return f"unarchived {_chat(memory, session)}"
            case SessionConfigured(session=session):
                return f"changed the settings of {_chat(memory, session)}"
            case ProjectAssigned(session=session, project=project):
                return (
                    f"moved {_chat(memory, session)} {f'to the project {project}' if project else 'out of its project'}"
                )
            case TurnHidden() | TurnUnhidden() | TurnWithheld() | TurnReleased() | TurnRated():
                did = {
                    "turn.hidden": "hid",
                    "turn.unhidden": "unhid",
                    "turn.withheld": "kept out of memory",
                    "turn.released": "allowed in memory again",
                    "turn.rated": "rated",
                }[event.kind]
                return f"{did} {_messages(memory, [each for each in events if each.kind == event.kind])}"
    return ""


def _what_of_memories(memory: Memory, events: Sequence[Event]) -> str:
    for event in reversed(events):
        match event:
            case ObservationMade(text=text, supersedes=before):
                return f"{'corrected a memory' if before else 'remembered'}: {quoted(text or 'erased')}"
            case CoreWritten(block=block, text=text):
                return f"{'removed' if text == '' else 'wrote'} the core block {block}"
    for event in events:
        match event:
            case PinSet(turn=str()) | PinCleared(turn=str()):
                return f"{'pinned' if event.kind == 'pin.set' else 'unpinned'} {_messages(memory, [event])}"
            case (
                PinSet(observation=str() as id)
                | PinCleared(observation=str() as id)
                | ObservationPromoted(observation=id)
                | ObservationRejected(observation=id)
                | ObservationReturned(observation=id)
                | ObservationSupported(observation=id)
            ):
                did = {
                    "pin.set": "pinned",
                    "pin.cleared": "unpinned",
                    "observation.promoted": "kept",
                    "observation.rejected": "rejected",
                    "observation.returned": "restored",
                    "observation.supported": "said again",
                }[event.kind]
                return f"{did} the memory {quoted(memory.stated([id]).get(id) or 'erased')}"
    return ""


def _chat(memory: Memory, session: str) -> str:
    """A chat by its name or title, or else by its first words."""
    named = memory.session(session).name
    if named:
        return f"the chat {quoted(named)}"
    first = memory.begins(session)
    return f"the chat starting with {quoted(first)}" if first else f"the chat {session}"


def _message(memory: Memory, turn: str | None) -> str:
    """A message by its words, if they may be shown."""
    if turn is None:
        return "an earlier message"
    said = memory.turns([turn])
    words = said[0].text if said and not said[0].hidden else None
    what = "the reply" if said and said[0].role == Role.ASSISTANT else "the message"
    return f"{what} {quoted(words)}" if words else f"{what} {turn}"


def _messages(memory: Memory, events: Iterable[Event]) -> str:
    """The messages that events are of: one by its words, several by their number."""
    turns = [turn for event in events if (turn := getattr(event, "turn", None)) is not None]
    return _message(memory, turns[0]) if len(turns) == 1 else f"{len(turns)} messages"
