"""A person who goes back and forth in time: every deed of theirs, chosen by numbers, through the Agent and its memory.

The state machine of tests/timeline.py and the kills of bench/killed.py both let it loose. What there is to choose from
it reads in the reference (tests/reference.py), which is brought up to the log before each deed.
"""

import asyncio
import os
import re
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from agent.agent import Agent
from agent.errors import AgentError
from agent.home import Home
from agent.plans import Plan
from agent.settings import Settings
from graph.events import (
    CastReset,
    CastSet,
    CoreWritten,
    Event,
    ObservationKind,
    ObservationMade,
    ObservationPromoted,
    ObservationRejected,
    ObservationRetired,
    ObservationReturned,
    ObservationSupported,
    PinCleared,
    PinSet,
    Role,
    SessionStarted,
    StageSet,
    StopReason,
    StoryBegun,
    TextErased,
    TurnReleased,
    TurnSaid,
    TurnTaken,
    TurnWithheld,
    TurnWitnessed,
)
from graph.ids import new_id
from graph.memory import Memory
from tests.reference import MAIN, Reference

MOST_WORLDS, MOST_CHATS, MOST_STORIES, MOST_MEMBERS = 5, 8, 2, 4
WORDS = ("amber", "birch", "cobalt", "dahlia", "ember")


PURGED = 8  # deletions after which a patient person waits for the purge


class NotNow(Exception):
    """The deed makes no sense as things are."""


class Person:
    """Has one memory open. `do` does a deed by name; the numbers say with what."""

    def __init__(self, root: Path, *, patient: bool = True) -> None:
        os.umask(0o077)  # files are made as the program makes them: for the user alone
        self.root = root
        self.patient = patient  # purges when nothing else is done; else that happens beside it
        self.deletions = 0
        self.runner = asyncio.Runner()
        self.reference = Reference()
        self.read = 0  # events the reference has
        self.secrets: dict[int, list[str]] = {}  # by event, the words that nobody else says
        self.gone: list[str] = []  # those of them that were erased
        self.open()

    @property
    def memory(self) -> Memory:
        return self.agent._memory

    def open(self) -> None:
        """Open the memory with its graph, and take in what it holds."""
        self.agent = Agent(Home.resolve(self.root), Settings(reflect=False), client="test")

        async def start() -> None:
            await self.agent.start(load_model=False, load_embedder=False)
            self.agent.erasure.put_off = self.patient  # it makes the graph anew, which takes longer than all else
            await self.agent.idle()

        self.runner.run(start())
        if not self.memory.graph_ready:
            self.memory.query("RETURN 1")  # says why
            raise RuntimeError("the graph did not open in time")
        self.catch_up()

    def close(self) -> None:
        """Leave the memory."""
        self.runner.run(self.agent.close())

    def end(self) -> None:
        """Leave for good."""
        self.close()
        self.runner.close()

    def catch_up(self) -> None:
        """Bring the reference to the end of the log."""
        while found := self.memory._reader.events(after=self.read, limit=500):
            for stored in found:
                self.reference.apply(stored.event)
                self.secrets[stored.seq] = SECRET.findall(getattr(stored.event, "text", None) or "")
                if isinstance(stored.event, TextErased):
                    self.gone += [word for seq in stored.event.events for word in self.secrets.pop(seq, ())]
            self.read = found[-1].seq

    def do(self, deed: str, a: int, b: int, c: int, flag: bool) -> bool:
        """Do it; False where it makes no sense now. Raises what must never be raised."""
        try:
            DEEDS[deed](self, a, b, c, flag)
        except NotNow:
            return False
        finally:
            self.catch_up()
        return True

    # -- talking --------------------------------------------------------------------------------------------------

    def _begin(self, a: int, b: int, c: int, flag: bool) -> None:
        _only(len(self.reference.head) < MOST_CHATS)
        session, text = new_id(), self._text()
        asked = self._said(session, None, text)
        self._append(SessionStarted(session=session, client="test"), asked, self._reply(session, asked.turn))

    def _send(self, a: int, b: int, c: int, flag: bool) -> None:
        session = self._session(a)
        asked = self._said(session, self.reference.head[session], self._text())
        self._append(asked)
        if flag or b % 3:
            self._append(self._reply(session, asked.turn))

    def _queue(self, a: int, b: int, c: int, flag: bool) -> None:
        session = self._session(a)
        waiting = self._said(session, None, self._text(), queued=True)
        self._append(waiting)
        self._append(TurnTaken(turn=waiting.turn, session=session, parent=self.reference.head[session]))

    def _regenerate(self, a: int, b: int, c: int, flag: bool) -> None:
        session = self._session(a)
        self._append(self._reply(session, _one(self._asked(session), b)))

    def _edit(self, a: int, b: int, c: int, flag: bool) -> None:
        session = self._session(a)
        self._append(self._said(session, self.reference.parent[_one(self._asked(session), b)], self._text()))

    def _import(self, a: int, b: int, c: int, flag: bool) -> None:
        _only(len(self.reference.head) < MOST_CHATS)
        session = new_id()
        asked = self._said(session, None, self._text(), source=f"old:{new_id()}", said_at=1_000 * a)
        begun = SessionStarted(session=session, client="import", source=f"old:{session}", said_at=1_000 * a)
        self._append(begun, asked, self._reply(session, asked.turn, source=f"old:{new_id()}", said_at=1_000 * a + 1))

    # -- going back and forth -------------------------------------------------------------------------------------

    def _rewind(self, a: int, b: int, c: int, flag: bool) -> None:
        session = self._session(a)
        target = None if c % 12 == 0 else _one(self._own(session), b)
        path = self.reference.path(self.reference.head[session])
        _only(target != next((turn for turn in path if turn not in self.reference.deleted), None))
        self._run(self.agent.branches.rewind(session, target))

    def _fork(self, a: int, b: int, c: int, flag: bool) -> None:
        session = self._session(a)
        path = set(self.reference.path(self.reference.head[session]))
        _only(len(self.reference.head) < MOST_CHATS)
        what_if = flag and len(self.worlds()) < MOST_WORLDS
        at = _one([turn for turn in self._own(session) if turn in path], b)
        self._run(self.agent.branches.fork(session, at=at, what_if=what_if))

    def _undo(self, a: int, b: int, c: int, flag: bool) -> None:
        before = self.memory.head()
        try:
            self._run(self.agent.history.undo())
        except AgentError as error:  # nothing to undo, or a delete: it says so, and stores nothing
            if self.memory.head() != before:
                raise RuntimeError("an undo that was refused stored something") from error
            raise NotNow from error

    # -- taking away ----------------------------------------------------------------------------------------------

    def _hide(self, a: int, b: int, c: int, flag: bool) -> None:
        turn = _one(self._placed(without=self.reference.hidden | self.reference.deleted), a)
        self._carry_out(self.agent.plans.hide(turn))

    def _unhide(self, a: int, b: int, c: int, flag: bool) -> None:
        turn = _one(sorted(self.reference.hidden - self.reference.deleted), a)
        self._carry_out(self.agent.plans.unhide(turn))

    def _withhold(self, a: int, b: int, c: int, flag: bool) -> None:
        turn = _one(self._placed(without=self.reference.withheld | self.reference.deleted), a)
        self._append(TurnWithheld(turn=turn))

    def _release(self, a: int, b: int, c: int, flag: bool) -> None:
        self._append(TurnReleased(turn=_one(sorted(self.reference.withheld - self.reference.deleted), a)))

    def _delete(self, a: int, b: int, c: int, flag: bool) -> None:
        turn = _one(self._placed(without=self.reference.deleted), a)
        self._carry_out(self.agent.plans.delete(turn, exchange=flag))

    def _delete_chat(self, a: int, b: int, c: int, flag: bool) -> None:
        _only(len(self.reference.head) > 3)
        self._carry_out(self.agent.plans.delete_session(self._session(a)))

    def _forget(self, a: int, b: int, c: int, flag: bool) -> None:
        world = self._world(a)
        self._carry_out(self.agent.plans.forget(_one(sorted(self.reference.believed(world)), b)))

    # -- learning -------------------------------------------------------------------------------------------------

    def _learn(self, a: int, b: int, c: int, flag: bool) -> None:
        world = self._world(a)
        live = self.reference.believed(world)
        dead = [
            id
            for id, made in self.reference.made.items()
            if id not in live and made.world == world and made.series not in self.reference.deleted
        ]
        instead = _one(dead, c) if dead and b % 4 == 0 else None
        self._append(self._observation(self._some(world, b, c), None, world, candidate=flag, instead_of=instead))

    def _revise(self, a: int, b: int, c: int, flag: bool) -> None:
        world = self._world(a)
        old = self.reference.made[_one(sorted(self.reference.believed(world)), c)]
        self._append(self._observation(self._some(world, b, c), old, world, candidate=flag))

    def _synthesize(self, a: int, b: int, c: int, flag: bool) -> None:
        world = self._world(a)
        believed = self.reference.believed(world)
        in_use = sorted(id for id, stand in believed.items() if stand.current and stand.status == "active")
        parents = _one(in_use, b), _one(in_use, c)
        one, other = (self.reference.made[parent] for parent in parents)
        _only(one.series != other.series)
        sources = tuple(dict.fromkeys((*one.sources, *other.sources)))
        made = self._observation(sources, None, world, candidate=not flag)
        self._append(made.model_copy(update={"parents": parents, "origin": "user"}))

    def _weigh(self, a: int, b: int, c: int, flag: bool) -> None:
        world = self._world(a)
        observation = _one(sorted(self.reference.believed(world)), b)
        known = {*self.reference.made[observation].sources, *self.reference.supports.get(observation, ())}
        turn = _one(sorted(self.reference.standing(world) - known - self.reference.accused.get(observation, set())), c)
        if flag:
            self._append(ObservationRetired(observation=observation, by_turn=turn))
        else:
            self._append(ObservationSupported(observation=observation, source=turn, amount=0.1))

    def _review(self, a: int, b: int, c: int, flag: bool) -> None:
        made = self.reference.made.items()
        id = _one([id for id, each in made if each.series not in self.reference.deleted], a)
        match self.reference.judged[id]:
            case "candidate" if flag:
                self._append(ObservationPromoted(observation=id))
            case "invalid":
                self._append(ObservationReturned(observation=id, status="active" if flag else "candidate"))
            case _:
                self._append(ObservationRejected(observation=id))

    def _pin(self, a: int, b: int, c: int, flag: bool) -> None:
        world = self._world(a)
        turn = _one(sorted(self.reference.sees(world)), b)
        self._append(PinSet(turn=turn, world=world) if flag or c % 3 else PinCleared(turn=turn, world=world))

    def _write_block(self, a: int, b: int, c: int, flag: bool) -> None:
        world = self._world(a)
        sources = self._some(world, b, c) if flag else ()
        text = self._text() if c % 5 else ""
        block = ("human", "persona")[b % 2]
        self._append(CoreWritten(block=block, world=world, by="agent" if flag else "user", sources=sources, text=text))

    # -- playing --------------------------------------------------------------------------------------------------

    def _begin_story(self, a: int, b: int, c: int, flag: bool) -> None:
        told = {self.reference.story.get(world) for world in self.worlds()} - {None}
        _only(len(self.reference.head) < MOST_CHATS and len(told) < MOST_STORIES)
        world, session, you, host = (new_id() for _ in range(4))
        seated = (
            CastSet(world=world, member=you, seat="you", text=self._text()),
            CastSet(world=world, member=host, seat="host", text=self._text()),
        )
        begun = SessionStarted(session=session, client="test", world=world)
        greeting = self._reply(session, None, speaker=host, witnesses=(you, host))
        self._append(StoryBegun(world=world, text=self._text()), *seated, begun, greeting)

    def _seat(self, a: int, b: int, c: int, flag: bool) -> None:
        """Somebody comes, is called otherwise, takes another seat or none; sometimes on a path that was left."""
        session = self._chat_of_story(a)
        world, known = self.reference.world[session], self.members(session)
        new = flag and len(known) < MOST_MEMBERS
        member, seat = new_id() if new else _one(known, b), (None, "guest", "host", "guest")[c % 4]
        name = self._text() if new or c % 3 == 0 else None
        at = self._place_in(session, b, c)
        self._append(
            CastSet.model_validate({"world": world, "member": member, "seat": seat, "after": at, "text": name})
        )

    def _set(self, a: int, b: int, c: int, flag: bool) -> None:
        """What somebody is, or where, is otherwise; by the words of turns that stand, or by hand."""
        session = self._chat_of_story(a)
        world, owner = self.reference.world[session], _one(["world", *self.members(session)], b)
        standing = [turn for turn in self.reference.shown(session) if turn not in self.reference.hidden]
        sources = (_one(standing, b),) if standing and flag else ()
        line = {"owner": owner, "aspect": _one(("mood", "place", "present"), c), "after": self._place_in(session, b, c)}
        text = self._text() if c % 5 else None
        by = "rule" if sources else "user"
        self._append(StageSet.model_validate({"world": world, **line, "sources": sources, "by": by, "text": text}))

    def _reset(self, a: int, b: int, c: int, flag: bool) -> None:
        session = self._chat_of_story(a)
        since = self.memory.head() if flag or c % 3 else 0
        world, member = self.reference.world[session], _one(self.members(session), b)
        self._append(CastReset(world=world, member=member, since=since))

    def _witness(self, a: int, b: int, c: int, flag: bool) -> None:
        session = self._chat_of_story(a)
        turn = _one(self.reference.shown(session), b)
        home = self.reference.home[turn]
        self._append(TurnWitnessed(turn=turn, witnesses=self._hearers(self.members(home), c)))

    def _chat_of_story(self, a: int) -> str:
        return _one(
            sorted(each for each in self.reference.head if self.reference.world[each] in self.reference.story), a
        )

    def members(self, session: str) -> list[str]:
        """Whoever ever came, as the world of a session knows."""
        lines = self.reference.worlds[self.reference.world[session]].lines
        return sorted({line.member for line in lines if isinstance(line, CastSet)})

    def _place_in(self, session: str, b: int, c: int) -> str | None:
        """Mostly where a session stands, sometimes further up."""
        shown = self.reference.shown(session)
        return (shown[-1] if c % 4 else _one([*shown, ""], b) or None) if shown else None

    def _hearers(self, members: Sequence[str], number: int) -> tuple[str, ...]:
        return tuple(member for at, member in enumerate(members) if number >> at & 1)

    # -- choosing -------------------------------------------------------------------------------------------------

    def worlds(self) -> list[str]:
        """Main, and what-ifs with a chat that was not deleted."""
        return sorted({MAIN} | {self.reference.world[session] for session in self.reference.head})

    def _world(self, a: int) -> str:
        return _one(self.worlds(), a)

    def _session(self, a: int) -> str:
        return _one(sorted(self.reference.head), a)

    def _own(self, session: str) -> list[str]:
        """The turns said in a session that have a place and are neither hidden nor deleted."""
        placed = self._placed(without=self.reference.hidden | self.reference.deleted)
        return [turn for turn in placed if self.reference.home[turn] == session]

    def _asked(self, session: str) -> list[str]:
        """The user's turns of those that stand on the session's path."""
        path = set(self.reference.path(self.reference.head[session]))
        return [turn for turn in self._own(session) if turn in path and turn in self.reference.asked]

    def _placed(self, *, without: set[str]) -> list[str]:
        return sorted(self.reference.parent.keys() - without)

    def _some(self, world: str, b: int, c: int) -> tuple[str, ...]:
        turns = sorted(self.reference.standing(world))
        return tuple(dict.fromkeys((_one(turns, b), _one(turns, c))))

    # -- doing ----------------------------------------------------------------------------------------------------

    def _append(self, *events: Event) -> None:
        if self.memory.append(*events)[0].graph_behind and self.patient:
            raise RuntimeError("the graph did not follow")

    def _carry_out(self, planning: Coroutine[Any, Any, Plan]) -> None:
        async def both() -> None:
            plan = await planning
            await self.agent.plans.carry_out(plan)
            self.deletions += plan.impact.erases
            if self.patient and plan.impact.erases and self.deletions % PURGED == 0:
                await self.agent.erasure.finished()

        self._run(both())

    def _run(self, deed: Coroutine[Any, Any, object]) -> None:
        self.runner.run(deed)

    def _text(self) -> str:
        """Two common words, and one that nobody ever says again, which can be looked for when it is erased."""
        id = new_id()
        return f"{secret(id)} about {WORDS[int(id[-2:], 36) % len(WORDS)]} and {WORDS[int(id[-3:], 36) % len(WORDS)]}"

    def _said(self, session: str, parent: str | None, text: str, **more: object) -> TurnSaid:
        fields = {"turn": new_id(), "session": session, "parent": parent, "client": "test", "text": text}
        return TurnSaid.model_validate({"role": Role.USER, "speaker": "you", **fields, **self._played(session), **more})

    def _reply(self, session: str, parent: str | None, **more: object) -> TurnSaid:
        speaks = {} if self._played(session) else {"speaker": "assistant"}
        ended = {"role": Role.ASSISTANT, "stop_reason": StopReason.END, **speaks}
        return self._said(session, parent, self._text(), **{**ended, **more})

    def _played(self, session: str) -> dict[str, object]:
        """In a story somebody of its cast speaks, and some hear it; by an id, which is as good as a throw of dice."""
        if self.reference.world.get(session) not in self.reference.story:
            return {}
        members, thrown = self.members(session), int(new_id()[-6:], 36)
        return {"speaker": _one(members, thrown), "witnesses": self._hearers(members, thrown >> 4)}

    def _observation(
        self,
        sources: tuple[str, ...],
        old: ObservationMade | None,
        world: str,
        *,
        candidate: bool,
        instead_of: str | None = None,
    ) -> ObservationMade:
        id = new_id()
        return ObservationMade(
            observation=id,
            series=old.series if old is not None else id,
            supersedes=old.observation if old is not None else None,
            instead_of=instead_of,
            world=world,
            category=ObservationKind.FACT,
            status="candidate" if candidate else "active",
            confidence=0.7,
            grounded=True,
            origin="model",
            sources=tuple(dict.fromkeys((*(old.sources if old is not None else ()), *sources))),
            text=f"Holds that {self._text()}",
        )


SECRET = re.compile(r"\bzq[a-z]{12}\b")


def secret(id: str) -> str:
    """A word of letters only, made of an id."""
    return "zq" + "".join(chr(ord("a") + int(digit, 36) % 26) for digit in id[-12:].lower())


Deed = Callable[[Person, int, int, int, bool], None]
DEEDS: dict[str, Deed] = {
    name.removeprefix("_"): getattr(Person, name)
    for name in (
        "_begin", "_send", "_queue", "_regenerate", "_edit", "_import", "_rewind", "_fork", "_undo", "_hide", "_unhide",
        "_withhold", "_release", "_delete", "_delete_chat", "_forget", "_learn", "_revise", "_synthesize", "_weigh",
        "_review", "_pin", "_write_block", "_begin_story", "_seat", "_set", "_reset", "_witness",
    )
}  # fmt: skip
OFTEN = ("send", "send", "send", "learn", "learn", "rewind", "fork", "revise", "synthesize", "set", "seat")


def _only(holds: bool) -> None:
    if not holds:
        raise NotNow


def _one(things: Sequence[str], number: int) -> str:
    _only(bool(things))
    return things[number % len(things)]
