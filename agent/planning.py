"""Changes by hand whose effect is shown before it happens: deleting, forgetting, hiding. A plan each, then one append.

Invariants: a plan changes nothing; carrying one out does exactly what it said, or nothing. What is deleted is gone from
every reading with the append; its bytes are erased after that.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import replace

from graph.errors import InvalidEvent
from graph.events import (
    DocumentRead,
    DocumentRemoved,
    Event,
    ObservationDeleted,
    SessionDeleted,
    TextErased,
    TurnDeleted,
    TurnHidden,
    TurnUnhidden,
)
from graph.history.undoing import quoted
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Document, Recorded, Reference, Turn

from .errors import AgentError
from .plans import Plan, plan
from .recorder import Recorder

NAMED = 10  # documents of a plan, told by their paths


class Planner:
    """Plans changes, and has them carried out."""

    def __init__(
        self,
        memory: Memory,
        recorder: Recorder,
        *,
        is_private: Callable[[str], bool],
        graph_awaited: Callable[[], Awaitable[None]],
    ) -> None:
        """`graph_awaited` gives a graph that is being opened a moment."""
        self._memory = memory
        self._recorder = recorder
        self._is_private = is_private
        self._graph_awaited = graph_awaited

    async def plan(self, what: str, *events: Event, notes: Iterable[str] = ()) -> Plan:
        """What some events would do if they were appended together. Raises AgentError or GraphFailure."""
        await self._graph_awaited()
        try:
            return await asyncio.to_thread(plan, self._memory, what, events, notes)
        except InvalidEvent as error:
            raise AgentError(f"That is not possible (any more). Nothing was changed. {error}") from error

    async def delete(self, turn: str, *, exchange: bool = False) -> Plan:
        """What deleting a turn would do, alone (what follows it stays, in its place) or with its whole exchange.

        Raises NotFound, AgentError where it is deleted already or a reply is being written there, and GraphFailure.
        """
        turns = await self._meant(turn, exchange=exchange, deleting=True)
        events = [TurnDeleted(turn=each.id) for each in turns]
        refers = await asyncio.to_thread(self._attached_with, turns)
        return await self.plan(f"Delete {_named(turns)}", *events, notes=_no_longer(refers))

    async def delete_session(self, session: str) -> Plan:
        """What deleting a chat would do: its turns that are on no other chat's path go with it.

        Raises NotFound, AgentError where it is deleted already, private or being answered in, and GraphFailure.
        """
        events, shared = await self.session_deletion(session)
        self._recorder.refuse_while_answering(session)
        name = (await asyncio.to_thread(self._memory.readings.session, session)).name
        planned = await self.plan(f"Delete the chat {quoted(name) if name else session}", *events)
        story = await asyncio.to_thread(self._memory.history.reach.story_ending_with, session)
        ends = (
            [f"It is the last chat of the story {quoted(story)}: its cast and all else of it is erased."]
            if story
            else []
        )
        refers = await asyncio.to_thread(self._memory.readings.attached, session)
        return replace(planned, notes=(*_staying(shared, planned, session), *ends, *_no_longer(refers)))

    async def remove_document(self, document: str) -> Plan:
        """What removing a document would do, with its pieces and what was learned of them. Raises NotFound."""
        found = await asyncio.to_thread(self._memory.readings.document, document)
        count = len(await asyncio.to_thread(self._memory.readings.chunk_hashes, document))
        pieces = f"{count:,} {'passage' if count == 1 else 'passages'} will be erased."
        return await self.plan(
            f"Delete the document {quoted(found.title)}",
            DocumentRemoved(document=found.id),
            notes=(pieces, "The file itself is not deleted."),
        )

    async def take_out(self, paths: Collection[str]) -> Plan:
        """What taking the documents of these paths out of the memory would do: nothing is erased, and undo works.

        Raises AgentError where none of them is in the memory, and GraphFailure.
        """
        known = await asyncio.to_thread(self._memory.readings.documents)
        found = [each for each in known if each.path in paths and each.chunks]
        if not found:
            raise AgentError("These documents are no longer in the memory. Nothing was changed.")
        ingest = new_id()
        what = f"the document {quoted(found[0].title)}" if len(found) == 1 else f"{len(found):,} documents"
        more = [f"and {len(found) - NAMED:,} more"] if len(found) > NAMED else []
        return await self.plan(
            f"Remove {what} from the memory",
            *(_emptied(each, ingest) for each in found),
            notes=[*(each.path for each in found[:NAMED]), *more, "Nothing is erased. To erase a document, delete it."],
        )

    async def forget(self, id: str) -> Plan:
        """What forgetting a memory would do: all its forms go, those that stand in for it, and notes that state it.

        The messages it was made from stay. Raises NotFound or Ambiguous.
        """
        gone = await asyncio.to_thread(self._memory.readings.forgetting, id)
        said = {turn for each in gone for turn in (*each.sources, *each.supports)}
        stated = await asyncio.to_thread(self._stated, said)
        series = dict.fromkeys(each.series for each in gone)
        forgotten = [ObservationDeleted(series=each) for each in series]
        return await self.plan(
            f"Forget {quoted(gone[-1].text)}",
            *forgotten,
            *(TurnDeleted(turn=turn) for turn in sorted(stated)),
            notes=("The messages it was learned from stay in their chats.",) if said - stated else (),
        )

    async def hide(self, turn: str, *, exchange: bool = False) -> Plan:
        """What hiding a turn would do, or its whole exchange. Raises NotFound, or AgentError where it is hidden."""
        turns = [each for each in await self._meant(turn, exchange=exchange) if not each.hidden]
        if not turns:
            raise AgentError(f"{_that(exchange)} is already hidden. Nothing was changed.")
        return await self.plan(f"Hide {_named(turns)}", *(TurnHidden(turn=each.id) for each in turns))

    async def unhide(self, turn: str, *, exchange: bool = False) -> Plan:
        """What bringing a hidden turn back would do. Raises NotFound, or AgentError where it is not hidden."""
        turns = [each for each in await self._meant(turn, exchange=exchange) if each.hidden]
        if not turns:
            raise AgentError(f"{_that(exchange)} is not hidden. Nothing was changed.")
        return await self.plan(f"Unhide {_named(turns, hidden=True)}", *(TurnUnhidden(turn=each.id) for each in turns))

    async def carry_out(self, plan: Plan) -> Recorded:
        """Do what a plan said, in one append; the first event of it.

        Raises AgentError where it would do something else by now, and GraphFailure; then nothing was changed.
        """
        for event in plan.events:
            if isinstance(event, SessionDeleted):
                self._recorder.refuse_while_answering(event.session)
        async with self._recorder.changing:
            return await self._carried_out(plan)

    async def session_deletion(self, session: str) -> tuple[list[Event], int]:
        """The events that delete a session, and how many turns other chats share. Raises NotFound or AgentError."""
        if self._is_private(session):
            raise AgentError("Private chats are not saved: this one is gone when you quit. Nothing was changed.")
        if (await asyncio.to_thread(self._memory.readings.session, session)).deleted:
            raise AgentError(f"The chat {session} was already deleted. Nothing was changed.")
        own, shared = await asyncio.to_thread(self._memory.history.reach.own_turns, session)
        words = await asyncio.to_thread(self._memory.history.reach.words_of_session, session)
        events: list[Event] = [*(TurnDeleted(turn=turn) for turn in own), SessionDeleted(session=session)]
        if words:
            events.append(TextErased(events=words))
        return events, shared

    async def _carried_out(self, plan: Plan) -> Recorded:
        try:
            recorded = await asyncio.to_thread(self._memory.history.carry_out, plan.rehearsal, *plan.events)
        except InvalidEvent as error:
            raise AgentError(f"Something changed in the meantime. Nothing was done. Check again. {error}") from error
        if not recorded:
            raise AgentError("The effect of this changed in the meantime. Nothing was done. Check again.")
        impact = plan.impact
        going = {form.id for form in (*impact.lost, *impact.erased)} if impact.erases else set()
        sessions = {turn.session for turn in (*impact.gone, *impact.back)}
        await self._recorder.recorded(plan.events, forgotten=going, sessions=sessions)
        return recorded[0]

    async def _meant(self, turn: str, *, exchange: bool, deleting: bool = False) -> list[Turn]:
        """The turns that are meant, in order: one that is kept, or its exchange. Raises NotFound or AgentError."""
        found = await asyncio.to_thread(self._memory.readings.turn, turn)
        reach = self._memory.history.reach
        if await asyncio.to_thread(reach.deleted, [turn]):
            raise AgentError(f"The message {turn} was already deleted. Nothing was changed.")
        if deleting:
            self._recorder.refuse_while_answering(found.session)
        if not exchange:
            return [found]
        return await asyncio.to_thread(lambda: reach.turns(reach.whole_exchange(turn)))

    def _attached_with(self, turns: Sequence[Turn]) -> list[Reference]:
        """What a chat refers to because of some messages."""
        ids = {each.id for each in turns}
        there = self._memory.readings.attached(turns[-1].session, at=turns[-1].id)
        return [each for each in there if each.turn in ids]

    def _stated(self, proof: set[str]) -> set[str]:
        """The notes and the proposals among the proof of some observations: they were said for nothing else."""
        return {turn.id for turn in self._memory.readings.quotable(proof).values() if turn.role in ("note", "tool")}


def _no_longer(refers: Sequence[Reference]) -> list[str]:
    """What a chat refers to goes with it: a few by their addresses, many by their number."""
    if len(refers) > NAMED:
        return [f"{len(refers)} addresses that it refers to are erased."]
    return [f"The address {quoted(each.address)}, which it refers to, is erased." for each in refers]


def _emptied(document: Document, ingest: str) -> DocumentRead:
    """A reading of a document by which it holds nothing."""
    return DocumentRead.model_validate(
        {
            "ingest": ingest,
            "document": document.id,
            "category": document.type,
            "project": document.project,
            "tags": document.tags,
            "size": document.size,
            "chunks": (),
            "text": f"{document.title}\n{document.path}",
        }
    )


def _named(turns: Sequence[Turn], *, hidden: bool = False) -> str:
    """What a plan is about: one message, or the exchange that begins with it; by its words, if need be `hidden` ones.

    They are what somebody who brings them back decides by.
    """
    first = turns[0]
    said = quoted(first.text) if first.text is not None and (hidden or not first.hidden) else first.id
    if len(turns) == 1:
        return f"the message {said}"
    return f"the message {said} and {len(turns) - 1} more from its exchange"


def _staying(shared: int, planned: Plan, session: str) -> tuple[str, ...]:
    """What is said of turns that a chat shares and that nothing happens to; its impact tells of the others."""
    told = sum(turn.session == session for turn in planned.impact.gone if turn.id in planned.impact.kept)
    match shared - told:
        case 0:
            return ()
        case 1:
            return ("1 message stays, because another chat continues from it.",)
        case count:
            return (f"{count} messages stay, because other chats continue from them.",)


def _that(exchange: bool) -> str:
    return "That exchange" if exchange else "That message"
