"""Going back and branching: heads that move, chats that fork, and what-ifs.

Each is one event or two of the log; nothing is copied, and nothing is lost: what the head leaves stays where it is. A
target that is deleted, hidden, queued or another chat's is refused, and so is anything where a reply is being written.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from agent.acceptance import reachable
from agent.private import PrivateChats
from graph.events import (
    Event,
    HeadMoved,
    MarkSet,
    ReferenceAdded,
    Sampling,
    SessionConfigured,
    SessionForked,
    SessionRenamed,
)
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Alternatives, Branch, Impact, Recorded, Session, Turn, World

from .errors import AgentError
from .events import Notice, SessionsChanged
from .planning import Planner
from .plans import Plan
from .recorder import Recorder
from .text import clean_message

LONGEST_NAME = 120
LONGEST_QUOTE = 60
PAGE = 200  # turns of a path that are read at a time


class Branches:
    """The paths of the chats: going back on one, to another, and forking."""

    def __init__(
        self,
        memory: Memory,
        private: PrivateChats,
        recorder: Recorder,
        planner: Planner,
        *,
        client: str,
        tell: Callable[[Notice], None],
    ) -> None:
        self._memory = memory
        self._private = private
        self._recorder = recorder
        self._planner = planner
        self._client = client
        self._tell = tell

    # -- moving the head ------------------------------------------------------------------------------------------

    async def plan_rewind(self, session: str, turn: str | None) -> Plan:
        """What going back to a turn (None: to before the first) would do.

        Raises NotFound, AgentError where there is no way to it or the head is there already, and GraphFailure.
        """
        what, events = await asyncio.to_thread(self._rewinding, session, turn)
        return await self._moving(session, turn, what, events)

    async def rewind(self, session: str, turn: str | None, *, plan: Plan | None = None) -> Recorded:
        """Go back to a turn (None: to before the first), with a mark to come back to; `plan` is what was shown of it.

        Raises as `plan_rewind` does, and AgentError where a reply is being written, or where it would do something else
        than was shown. Without a plan nothing is worked out ahead: nothing is lost by going back, and it is quick.
        """
        async with self._private.conversation_of(session).quiet(session):
            _, events = await asyncio.to_thread(self._rewinding, session, turn)
            if plan is not None and session not in self._private:
                return await self._planner.carry_out(plan)
            return await self._move(session, *events)

    async def switch(self, session: str, turn: str) -> str:
        """Go to an alternative: the head moves to the newest end below it. Returns the turn that the head stands at.

        Raises NotFound, or AgentError where there is no way to it or a reply is being written.
        """
        async with self._private.conversation_of(session).quiet(session):
            head, target = await asyncio.to_thread(self._switching, session, turn)
            if target != head:
                await self._move(session, HeadMoved(session=session, turn=target))
            return target

    async def plan_switch(self, session: str, turn: str) -> Plan:
        """What going to an alternative would do; nothing where the chat stands on it. Raises as `switch`."""
        head, target = await asyncio.to_thread(self._switching, session, turn)
        events = [HeadMoved(session=session, turn=target)] if target != head else []
        return await self._moving(session, target, "Switch version", events)

    # -- forks ----------------------------------------------------------------------------------------------------

    async def fork(self, session: str, *, at: str | None = None, what_if: bool = False, name: str | None = None) -> str:
        """A new chat that shares the past of another up to a turn (None: its head); its id.

        It is of the same world, or a what-if: a world of its own, which the others never see. Raises NotFound, or
        AgentError where there is nothing to fork from; EmptyMessage for a blank name.
        """
        if session in self._private:
            raise AgentError("Private chats are not saved, so they cannot be forked. Nothing was changed.")
        named = clean_message(name).splitlines()[0][:LONGEST_NAME] if name is not None else None
        if at is not None:
            return await self._forked(session, at, what_if, named)
        async with self._private.conversation_of(session).quiet(session):
            return await self._forked(session, None, what_if, named)

    async def worlds(self) -> list[World]:
        """Main, then the what-ifs, the oldest first."""
        return await asyncio.to_thread(self._memory.readings.worlds)

    # -- reading --------------------------------------------------------------------------------------------------

    async def alternatives(self, session: str, turns: Iterable[str]) -> dict[str, Alternatives]:
        """What stands in the place of each of some turns, where that is more than the turn itself."""
        return await asyncio.to_thread(self._private.memory_of(session).readings.alternatives, session, list(turns))

    async def tree(self, session: str) -> tuple[Branch, ...]:
        """The shape of a chat: its own turns as they branch. Raises NotFound."""
        return await asyncio.to_thread(self._private.memory_of(session).readings.tree, session)

    # -- inside ---------------------------------------------------------------------------------------------------

    async def _moving(self, session: str, turn: str | None, what: str, events: Sequence[Event]) -> Plan:
        """What moving a head does: all that leaves the chat's path is told, also what stays in memory nevertheless."""
        leaving = await asyncio.to_thread(self._leaving, session, turn)
        if session in self._private or not events:
            return Plan(what, tuple(events), Impact(gone=tuple(leaving)))
        made = await self._planner.plan(what, *events)
        dying = {each.id for each in made.impact.gone}
        known = {each.id for each in leaving}
        others = [each for each in made.impact.gone if each.id not in known]
        staying = sum(1 for each in leaving if each.id not in dying and not each.hidden)
        impact = replace(made.impact, gone=(*leaving, *others))
        return replace(made, impact=impact, notes=(*made.notes, *_staying(staying, len(impact.gone))))

    def _leaving(self, session: str, turn: str | None) -> list[Turn]:
        """The turns that are off the path of a chat once its head stands at `turn`, oldest first."""
        memory, found = self._private.memory_of(session), list[Turn]()

        def leaves(each: Turn) -> bool:
            return turn is None or not memory.readings.is_above(each.id, turn)

        while page := memory.readings.thread(session, before=found[0].id if found else None, limit=PAGE):
            first = bisect_left(page, True, key=leaves)
            found = [*page[first:], *found]
            if first:
                break
        return found

    async def _move(self, session: str, *events: Event) -> Recorded:
        if session not in self._private:
            return await self._recorder.record(*events)
        recorded = await asyncio.to_thread(self._private.memory_of(session).append, *events)
        self._tell(SessionsChanged(session))
        return recorded[0]

    def _rewinding(self, session: str, turn: str | None) -> tuple[str, list[Event]]:
        memory = self._private.memory_of(session)
        about = memory.readings.session(session)
        found = reachable(memory, session, turn) if turn is not None else None
        if about.deleted:
            raise AgentError("This chat was deleted, so you cannot go back in it. Nothing was changed.")
        if about.head == turn:
            raise AgentError("This chat is already there. Nothing was changed.")
        events: list[Event] = [MarkSet(mark=new_id(), reason="rewind"), HeadMoved(session=session, turn=turn)]
        return f"Go back to {_words(found) if found is not None else 'before the first message'}", events

    def _switching(self, session: str, turn: str) -> tuple[str | None, str]:
        """Where the head of a session stands, and where it is to go."""
        memory = self._private.memory_of(session)
        reachable(memory, session, turn)
        head = memory.readings.session(session).head
        if head is not None and memory.readings.is_above(turn, head):
            return head, head
        return head, memory.readings.tip(session, turn)

    async def _forked(self, session: str, at: str | None, what_if: bool, name: str | None) -> str:
        new = new_id()
        events = await asyncio.to_thread(self._forking, new, session, at, what_if, name)
        await self._recorder.record(*events)
        return new

    def _forking(self, new: str, session: str, at: str | None, what_if: bool, name: str | None) -> list[Event]:
        about = self._memory.readings.session(session)
        at = at if at is not None else about.head
        if about.deleted:
            raise AgentError("This chat was deleted, so it cannot be forked. Nothing was changed.")
        if at is None:
            raise AgentError("This chat has no messages yet, so there is nothing to fork. Use /new to start another.")
        if self._memory.readings.turn(at).role == "tool" and at == about.head:  # a reply that was stopped on its way
            at = self._memory.readings.exchange(at).turn.id
        events: list[Event] = [
            SessionForked(
                session=new,
                origin=session,
                at=reachable(self._memory, session, at).id,
                world=new if what_if else about.world,
                project=about.project,
                client=self._client,
            )
        ]
        if name is not None:
            events.append(SessionRenamed(session=new, text=name))
        then = self._memory.readings.turn(at).at
        attached = [
            ReferenceAdded(reference=new_id(), session=new, category=each.kind, turn=each.turn, text=each.address)
            for each in self._memory.readings.attached(session, at=at)
            if each.turn is not None or at == about.head or each.at <= then
        ]
        return [*events, *attached, *_settings(new, about)]


def _staying(count: int, of: int) -> list[str]:
    """What to say of turns that leave one path and stand on another, or where the what-if left."""
    if not count:
        return []
    if count < of:
        which = f"{count} of {of} messages {'stays' if count == 1 else 'stay'}"
    else:
        which = {1: "The message stays", 2: "Both messages stay"}.get(of, f"All {of} messages stay")
    return [f"{which} in memory, because another chat also contains {'it' if count == 1 else 'them'}."]


def _settings(session: str, of: Session) -> list[Event]:
    """What makes a fork go on as the chat it left: its own settings, if it has some."""
    if of.model is None and of.system_prompt is None and of.sampling is None:
        return []
    sampling = Sampling.model_validate(of.sampling) if of.sampling else None
    return [SessionConfigured(session=session, model=of.model, sampling=sampling, text=of.system_prompt)]


def _words(turn: Turn) -> str:
    """A turn, as a person recognises it."""
    line = " ".join((turn.text or "").split())
    quoted = line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + "…"
    return f"{'your message' if turn.role == 'user' else 'the reply'} “{quoted}”"
