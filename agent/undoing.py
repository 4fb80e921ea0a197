"""Undoing the last change, or any one that still fits; and putting back what the user decided as it was at a mark.

Both append ordinary events, headed by one that says what they are for: so each can be undone in its turn.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graph.errors import CannotUndo, InvalidEvent
from graph.events import (
    CoreWritten,
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
from graph.ids import new_id
from graph.memory import Memory
from graph.undoing import Deed

from .altering import Altering, quoted
from .errors import AgentError
from .plans import Plan

FOR_GOOD = "A delete cannot be undone: the words are gone for good."
ALREADY = "It is undone already."


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


class Undoing(Altering):
    """The part of the Agent that undoes; what it works with is the Agent's."""

    async def changes(self, limit: int = 20) -> list[Change]:
        """The newest changes by hand, the newest first: what people did, not what was said or learned by itself."""
        return await asyncio.to_thread(lambda: [_change(self._memory, deed) for deed in self._memory.deeds(limit)])

    async def undo(self, seq: int | None = None) -> Change:
        """Undo the last change that is not undone, or the one that event `seq` is of; what was undone.

        The undoing of a change has a number too: undone itself, the change is made again. Raises NotFound, and
        AgentError where there is nothing to undo or it cannot be undone (any more); then nothing was changed.
        """
        async with self._one_change:
            change, events = await asyncio.to_thread(self._undoing, seq)
            try:
                await asyncio.to_thread(self._memory.append, Undone(events=change.events), *events)
            except InvalidEvent as error:
                raise AgentError(f"That cannot be undone any more. Nothing was changed. {error}") from error
            await self._after_change(events)
        return await asyncio.to_thread(self._as_it_stands, change)

    async def restores(self, mark: str) -> bool:
        """Whether there is anything to put back as it was at a mark. Raises NotFound or Ambiguous."""
        found = await self._mark(mark)
        events, _ = await asyncio.to_thread(self._memory.restoring, found.seq)
        return bool(events)

    async def plan_restore(self, mark: str) -> Plan:
        """What putting back what was decided as it was at a mark would do; by the mark's id or the beginning of it.

        Where heads stood, what was hidden, kept out, rated, pinned, named, archived, assigned, reviewed; chats begun
        since are archived. What was deleted since stays deleted. Raises NotFound, Ambiguous, AgentError, GraphFailure.
        """
        found = await self._mark(mark)
        events, erased = await asyncio.to_thread(self._memory.restoring, found.seq)
        if not events:
            raise AgentError("Nothing that can be put back changed since that mark. Nothing was changed.")
        return await self.plan(
            f"Go back to {_named(found.name, found.at)}",
            MarkSet(mark=new_id(), reason="restore"),
            MarkRestored(mark=found.id),
            *events,
            notes=[*_counted(events), *_gone(erased)],
        )

    def _as_it_stands(self, change: Change) -> Change:
        """A change that is undone by now, in words that may be shown: those of what was hidden are told again."""
        return replace(change, what=_what(self._memory, self._memory.deed(change.seq).events))

    def _undoing(self, seq: int | None) -> tuple[Change, list[Event]]:
        deed = self._memory.deed(seq) if seq is not None else self._last()
        change = _change(self._memory, deed)
        if not change.undoable:
            raise AgentError(f"That cannot be undone: {change.what}. {change.why_not} Nothing was changed.")
        try:
            return change, self._memory.undoing(deed)
        except CannotUndo as error:
            raise AgentError(f"{error} Nothing was changed.") from error

    def _last(self) -> Deed:
        """The last change that is not undone. Raises AgentError where there is none, or that is a delete."""
        last = self._memory.standing_deeds(1)
        if not last:
            raise AgentError("There is nothing to undo. Nothing was changed.")
        if not last[0].deletes:
            return last[0]
        before = next((deed for deed in self._memory.standing_deeds(100) if not deed.deletes), None)
        more = "There is nothing before it to undo."
        if before is not None:
            more = f"The change before it: {_what(self._memory, before.events)}; `clew undo {before.seq}` undoes that."
        raise AgentError(
            f"The last change: {_what(self._memory, last[0].events)}. {FOR_GOOD} Nothing was changed. {more}"
        )


def _change(memory: Memory, deed: Deed) -> Change:
    why_not = ALREADY if deed.undone else FOR_GOOD if deed.deletes else ""
    return Change(deed.seq, deed.seqs, deed.at, _what(memory, deed.events), not why_not, why_not)


def _what(memory: Memory, events: Sequence[Event]) -> str:
    """What a change did, in words; of several kinds of event the first that says it."""
    for event in events:
        match event:
            case MarkRestored():
                return "went back to a mark"
            case Undone(events=undone):
                return f"undid: {_what(memory, memory.deed(undone[0]).events)}"
    for event in events:
        match event:
            case SessionDeleted(session=session):
                return f"deleted a chat ({session})"
            case DocumentRemoved():
                return "deleted a document"
            case ObservationDeleted():
                return "forgot a memory"
    if deleted := [event for event in events if isinstance(event, TurnDeleted)]:
        return f"deleted {_messages(memory, deleted)}"
    return _what_of_chats(memory, events) or _what_of_memories(memory, events) or "changed something"


def _what_of_chats(memory: Memory, events: Sequence[Event]) -> str:
    for event in events:
        match event:
            case SessionForked(session=session, world=world):
                return f"forked {_chat(memory, session)}{' as a what-if' if world == session else ''}"
            case HeadMoved(session=session):
                return f"moved in {_chat(memory, session)}"
            case SessionRenamed(text=name):
                return f"named a chat {quoted(name)}" if name else "took a chat's name away"
            case SessionArchived(session=session):
                return f"archived {_chat(memory, session)}"
            case SessionUnarchived(session=session):
                return f"took {_chat(memory, session)} out of the archive"
            case SessionConfigured(session=session):
                return f"changed the settings of {_chat(memory, session)}"
            case ProjectAssigned(session=session, project=project):
                return f"put {_chat(memory, session)} into {f'the project {project}' if project else 'no project'}"
            case TurnHidden() | TurnUnhidden() | TurnWithheld() | TurnReleased() | TurnRated():
                did = {
                    "turn.hidden": "hid",
                    "turn.unhidden": "brought back",
                    "turn.withheld": "kept out of memory",
                    "turn.released": "let into memory again",
                    "turn.rated": "rated",
                }[event.kind]
                return f"{did} {_messages(memory, [each for each in events if each.kind == event.kind])}"
    return ""


def _what_of_memories(memory: Memory, events: Sequence[Event]) -> str:
    for event in reversed(events):
        match event:
            case ObservationMade(text=text, supersedes=before):
                return f"{'corrected a memory' if before else 'remembered'}: {quoted(text or 'erased')}"
            case CoreWritten(block=block):
                return f"wrote the core block {block}"
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
                    "observation.promoted": "took into use",
                    "observation.rejected": "rejected",
                    "observation.returned": "brought back",
                    "observation.supported": "said again",
                }[event.kind]
                return f"{did} the memory {quoted(memory.stated([id]).get(id) or 'erased')}"
    return ""


def _chat(memory: Memory, session: str) -> str:
    name = memory.session(session).name
    return f"the chat {quoted(name)}" if name else f"the chat {session}"


def _messages(memory: Memory, events: Iterable[Event]) -> str:
    """The messages that events are of: one by its words, several by their number."""
    turns = [turn for event in events if (turn := getattr(event, "turn", None)) is not None]
    if len(turns) != 1:
        return f"{len(turns)} messages"
    said = memory.turns(turns)
    words = said[0].text if said and not said[0].hidden else None
    return f"the message {quoted(words)}" if words else f"the message {turns[0]}"


_SORTS: dict[type[object], tuple[str, str]] = {
    HeadMoved: ("chat goes back to where it stood", "chats go back to where they stood"),
    SessionArchived: ("chat is archived", "chats are archived"),
    SessionUnarchived: ("chat comes out of the archive", "chats come out of the archive"),
    SessionRenamed: ("chat gets its name back", "chats get their names back"),
    SessionConfigured: ("chat gets its settings back", "chats get their settings back"),
    ProjectAssigned: ("chat goes back to its project", "chats go back to their projects"),
    TurnHidden: ("message is hidden again", "messages are hidden again"),
    TurnUnhidden: ("message is shown again", "messages are shown again"),
    TurnWithheld: ("message is kept out of memory again", "messages are kept out of memory again"),
    TurnReleased: ("message may be remembered again", "messages may be remembered again"),
    TurnRated: ("rating goes back", "ratings go back"),
    PinSet: ("pin is set again", "pins are set again"),
    PinCleared: ("pin is taken off", "pins are taken off"),
    CoreWritten: ("core block says what it said", "core blocks say what they said"),
    ObservationRejected: ("memory is rejected again", "memories are rejected again"),
    ObservationReturned: ("review is taken back", "reviews are taken back"),
}


def _counted(events: Iterable[Event]) -> list[str]:
    """What would be put back, by sort, in words."""
    counts = Counter(type(event) for event in events)
    return [f"{count} {_SORTS[sort][count > 1]}." for sort, count in counts.items()]


def _gone(erased: int) -> list[str]:
    if not erased:
        return []
    what = "One text that was" if erased == 1 else f"{erased} texts that were"
    return [f"{what} deleted since {'stays' if erased == 1 else 'stay'} deleted."]


def _named(name: str | None, at: datetime) -> str:
    return f"the mark {quoted(name)}" if name else f"the mark of {at.astimezone():%Y-%m-%d %H:%M}"
