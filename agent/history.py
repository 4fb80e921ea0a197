"""Undoing the last change, or one that still fits, each in words; putting back what was decided at a mark.

Undoing and putting back append ordinary events, headed by one that says what they are for: so each can be undone in its
turn.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agent.entities import KINDS, refuse_joined
from agent.errors import AgentError
from agent.marks import Marks
from agent.planning import Planner
from agent.plans import Plan
from agent.recorder import Recorder
from agent.story import wording
from graph.errors import CannotUndo, InvalidEvent, NotFound
from graph.events import (
    CastReset,
    CastSet,
    CoreWritten,
    DocumentRead,
    DocumentRemoved,
    EntityAliased,
    EntityChange,
    EntityKinded,
    EntityMerged,
    EntityNamed,
    EntitySplit,
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
    ReferenceAdded,
    ReferenceDropped,
    Role,
    SessionArchived,
    SessionConfigured,
    SessionDeleted,
    SessionForked,
    SessionRenamed,
    SessionUnarchived,
    StageSet,
    TurnDeleted,
    TurnHidden,
    TurnRated,
    TurnReleased,
    TurnUnhidden,
    TurnWithheld,
    TurnWitnessed,
    Undone,
)
from graph.history.undoing import UserChange, quoted
from graph.ids import new_id
from graph.memory import Memory


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
    told = _what_of_stories(memory, events) or _what_of_chats(memory, events) or _what_of_memories(memory, events)
    return told or _what_of_entities(memory, events) or _what_of_references(memory, events) or "changed something"


def _what_of_references(memory: Memory, events: Sequence[Event]) -> str | None:
    """What was attached or dropped: one by its address, several by their number."""
    for sort, did in ((ReferenceAdded, "attached"), (ReferenceDropped, "dropped")):
        ids = [event.reference for event in events if isinstance(event, sort)]
        if len(ids) > 1:
            return f"{did} {len(ids)} references"
        if ids:
            return f"{did} {quoted(memory.readings.references(ids)[ids[0]].address or 'an erased address')}"
    return None


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
        return (
            f"undid a change ({what_was(memory, memory.history.changes.of_event(undone[0]))})"
            if undone
            else "undid nothing"
        )
    except NotFound:
        return "undid an automatic change"


def _moved(memory: Memory, events: Sequence[Event], moved: HeadMoved) -> str:
    """What a move of a head was: a way back, a reply that was made anew, or a switch to another version."""
    if any(isinstance(event, MarkSet) for event in events):
        to = f"back to {_message(memory, moved.turn)}" if moved.turn else "back to before the first message"
        return f"went {to} in {_chat(memory, moved.session)}"
    if moved.turn is None:
        return f"moved to before the first message in {_chat(memory, moved.session)}"
    said = memory.history.reach.turns([moved.turn])
    if said and said[0].role == Role.USER:
        return f"regenerated the reply to {_message(memory, moved.turn)}"
    return f"moved to {_message(memory, moved.turn)} in {_chat(memory, moved.session)}"


def _what_of_stories(memory: Memory, events: Sequence[Event]) -> str:
    saw = next((event for event in events if isinstance(event, TurnWitnessed)), None)
    if saw is not None:
        return f"changed who saw {_message(memory, saw.turn)}"
    names: dict[str, str] = {}
    for world, ids in wording.owners_of(events).items():
        names |= memory.readings.names(ids, world=world)
    return wording.what_was(events, names)


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
            case ObservationMade(text=text, parents=(_, _)):
                return f"made a memory from two others: {quoted(text or 'erased')}"
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
                return f"{did} the memory {quoted(memory.history.changes.stated([id]).get(id) or 'erased')}"
    return ""


def _what_of_entities(memory: Memory, events: Sequence[Event]) -> str:
    for event in events:
        if not isinstance(event, EntityChange):
            continue
        ids = [
            event.entity,
            getattr(event, "into", None),
            getattr(event, "other", None) or getattr(event, "alias", None),
        ]
        names = memory.readings.names([id for id in ids if id is not None], world=event.world)
        who, other = (names.get(id or "") or "someone whose name was erased" for id in (ids[0], ids[1] or ids[2]))
        match event:
            case EntityNamed(text=text):
                return f"gave {who} the name {quoted(text)}" if text else f"took back the name of {who}"
            case EntityKinded(category=kind):
                return f"said what {who} is: {KINDS[kind]}" if kind else f"took back what {who} is"
            case EntityAliased(entity=of):
                return f"gave {who} the alias {quoted(other)}" if of else f"took the alias {quoted(other)} away"
            case EntityMerged(into=into):
                return f"merged {who} into {other}" if into else f"told {who} apart again"
            case EntitySplit():
                return f"split {other} off from {who}"
    return ""


def _chat(memory: Memory, session: str) -> str:
    """A chat by its name or title, or else by its first words."""
    named = memory.readings.session(session).name
    if named:
        return f"the chat {quoted(named)}"
    first = memory.history.changes.begins(session)
    return f"the chat starting with {quoted(first)}" if first else f"the chat {session}"


def _message(memory: Memory, turn: str | None) -> str:
    """A message by its words, if they may be shown."""
    if turn is None:
        return "an earlier message"
    said = memory.history.reach.turns([turn])
    words = said[0].text if said and not said[0].hidden else None
    what = "the reply" if said and said[0].role == Role.ASSISTANT else "the message"
    return f"{what} {quoted(words)}" if words else f"{what} {turn}"


def _messages(memory: Memory, events: Iterable[Event]) -> str:
    """The messages that events are of: one by its words, several by their number."""
    turns = [turn for event in events if (turn := getattr(event, "turn", None)) is not None]
    return _message(memory, turns[0]) if len(turns) == 1 else f"{len(turns)} messages"


FOR_GOOD = "Deletes cannot be undone: the words are permanently gone."
NO_CHAT_BACK = "Deletes cannot be undone: a deleted chat cannot come back. None of its words were erased."
LOST = "What it changed has since been deleted."
ALREADY = "It has already been undone."


@dataclass(frozen=True, slots=True)
class Change:
    """A change by hand: `seq` and `events` are numbers in the log, `what` says what was done.

    `undoable` is whether it may be tried, else `why_not` says why that is no use.
    """

    seq: int
    events: tuple[int, ...]
    at: datetime
    what: str
    undoable: bool
    why_not: str = ""


class History:
    """What people changed by hand, and how it is undone."""

    def __init__(self, memory: Memory, recorder: Recorder, planner: Planner, marks: Marks) -> None:
        self.marks = marks
        self._memory = memory
        self._recorder = recorder
        self._planner = planner

    async def changes(self, limit: int = 20) -> list[Change]:
        """The newest changes by hand, the newest first: what people did, not what was said or learned by itself."""
        return await asyncio.to_thread(
            lambda: [_change(self._memory, entry) for entry in self._memory.history.changes.newest(limit)]
        )

    async def undo(self, seq: int | None = None) -> Change:
        """Undo the last change that is not undone, or the one that event `seq` is of; what was undone.

        The undoing of a change has a number too: undone itself, the change is made again. Raises NotFound, and
        AgentError where there is nothing to undo or it cannot be undone (any more); then nothing was changed.
        """
        async with self._recorder.changing:
            change, events = await asyncio.to_thread(self._undoing, seq)
            try:
                await asyncio.to_thread(self._memory.append, Undone(events=change.events), *events)
            except InvalidEvent as error:
                raise AgentError(f"That can no longer be undone. Nothing was changed. {error}") from error
            await self._recorder.recorded(events)
        return await asyncio.to_thread(self._as_it_stands, change)

    async def restores(self, mark: str) -> bool:
        """Whether there is anything to put back as it was at a mark. Raises NotFound or Ambiguous."""
        found = await self.marks.find(mark)
        events, _ = await asyncio.to_thread(self._memory.history.marks.restoring, found.seq)
        return bool(events)

    async def plan_restore(self, mark: str) -> Plan:
        """What putting back what was decided as it was at a mark would do; by the mark's id or the beginning of it.

        Where heads stood, what was hidden, kept out, rated, pinned, named, archived, assigned, reviewed; chats begun
        since are archived. What was deleted since stays deleted. Raises NotFound, Ambiguous, AgentError, GraphFailure.
        """
        found = await self.marks.find(mark)
        events, erased = await asyncio.to_thread(self._memory.history.marks.restoring, found.seq)
        if not events:
            raise AgentError("Nothing has changed since that mark, so there is nothing to restore.")
        return await self._planner.plan(
            f"Go back to {_named(found.name, found.at)}",
            MarkSet(mark=new_id(), reason="restore"),
            MarkRestored(mark=found.id),
            *events,
            notes=[*_counted(events), *_gone(erased)],
        )

    def _as_it_stands(self, change: Change) -> Change:
        """A change that is undone by now, in words that may be shown: those of what was hidden are told again."""
        return replace(change, what=what_was(self._memory, self._memory.history.changes.of_event(change.seq)))

    def _undoing(self, seq: int | None) -> tuple[Change, list[Event]]:
        entry = self._memory.history.changes.of_event(seq) if seq is not None else self._last()
        change = _change(self._memory, entry)
        if not change.undoable:
            raise AgentError(f"That cannot be undone: {change.what}. {change.why_not} Nothing was changed.")
        try:
            events = self._memory.history.changes.undoing(entry)
        except CannotUndo as error:
            raise AgentError(f"{error} Nothing was changed.") from error
        for event in events:
            if isinstance(event, EntityMerged) and event.into is not None:
                ends = [self._memory.readings.called(id, world=event.world) for id in (event.into, event.entity)]
                refuse_joined(self._memory, ends[0][0], ends[1][0], event.world)
        return change, events

    def _last(self) -> UserChange:
        """The last change that is not undone. Raises AgentError where there is none, or that is a delete."""
        last = self._memory.history.changes.standing(1)
        if not last:
            raise AgentError("There is nothing to undo. Nothing was changed.")
        if not last[0].deletes:
            return last[0]
        before = next(filter(self._can_be_undone, self._memory.history.changes.standing(100)), None)
        more = "There is no earlier change to undo."
        if before is not None:
            more = f"The change before it: {what_was(self._memory, before)}; `clew undo {before.seq}` undoes it."
        raise AgentError(
            f"The last change: {what_was(self._memory, last[0])}. {_for_good(last[0])} Nothing was changed. {more}"
        )

    def _can_be_undone(self, entry: UserChange) -> bool:
        if entry.deletes or entry.lost:
            return False
        try:
            return bool(self._memory.history.changes.undoing(entry))
        except CannotUndo:
            return False


def _change(memory: Memory, entry: UserChange) -> Change:
    why_not = ALREADY if entry.undone else _for_good(entry) if entry.deletes else LOST if entry.lost else ""
    return Change(entry.seq, entry.seqs, entry.at, what_was(memory, entry), not why_not, why_not)


def _for_good(entry: UserChange) -> str:
    """Why a delete cannot be undone."""
    return FOR_GOOD if entry.erases else NO_CHAT_BACK


_SORTS: dict[type[object], tuple[str, str]] = {
    HeadMoved: ("chat goes back to its earlier position", "chats go back to their earlier positions"),
    SessionArchived: ("chat is archived", "chats are archived"),
    SessionUnarchived: ("chat is unarchived", "chats are unarchived"),
    SessionRenamed: ("chat gets its name back", "chats get their names back"),
    SessionConfigured: ("chat gets its settings back", "chats get their settings back"),
    ProjectAssigned: ("chat goes back to its project", "chats go back to their projects"),
    TurnHidden: ("message is hidden again", "messages are hidden again"),
    TurnUnhidden: ("message is unhidden", "messages are unhidden"),
    TurnWithheld: ("message is kept out of memory again", "messages are kept out of memory again"),
    TurnReleased: ("message is allowed in memory again", "messages are allowed in memory again"),
    TurnRated: ("rating goes back to its earlier value", "ratings go back to their earlier values"),
    PinSet: ("pin is set again", "pins are set again"),
    PinCleared: ("pin is removed", "pins are removed"),
    CoreWritten: ("core block goes back to its earlier text", "core blocks go back to their earlier text"),
    DocumentRead: ("document goes back to its earlier version", "documents go back to their earlier versions"),
    ReferenceAdded: ("reference is attached again", "references are attached again"),
    ReferenceDropped: ("reference is dropped", "references are dropped"),
    ObservationRejected: ("memory is rejected again", "memories are rejected again"),
    ObservationReturned: ("review decision is undone", "review decisions are undone"),
    EntityNamed: ("name goes back to what it was", "names go back to what they were"),
    EntityKinded: ("person or thing is what it was again", "people or things are what they were again"),
    EntityAliased: ("alias goes back to what it was", "aliases go back to what they were"),
    EntityMerged: ("merge is undone or made again", "merges are undone or made again"),
    EntitySplit: ("split is undone or made again", "splits are undone or made again"),
    CastSet: ("seat of a story goes back to whoever had it", "seats of a story go back to whoever had them"),
    CastReset: ("character knows again what it knew", "characters know again what they knew"),
    StageSet: ("line of a stage goes back to what it was", "lines of a stage go back to what they were"),
    TurnWitnessed: ("message was seen by whom it was before", "messages were seen by whom they were before"),
}


def _counted(events: Iterable[Event]) -> list[str]:
    """What would be put back, by sort, in words."""
    counts = Counter(type(event) for event in events)
    return [f"{count} {_SORTS[sort][count > 1]}." for sort, count in counts.items()]


def _gone(erased: int) -> list[str]:
    if not erased:
        return []
    what = "1 item" if erased == 1 else f"{erased} items"
    return [f"{what} deleted since {'stays' if erased == 1 else 'stay'} deleted."]


def _named(name: str | None, at: datetime) -> str:
    return f"the mark {quoted(name)}" if name else f"the mark from {at.astimezone():%Y-%m-%d %H:%M}"
