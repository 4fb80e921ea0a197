"""Going back, in lists: the part of the fake agent that branches, deletes with an impact, undoes and marks."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from agent.errors import AgentError
from agent.events import AgentEvent, Failed, TurnAccepted
from graph.beliefs import Story
from graph.branches import Alternatives, Branch, World
from graph.impacts import Impact
from graph.values import Session, Turn

NOW = datetime(2025, 6, 4, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class FakePlan:
    """What would be done, and how."""

    what: str
    impact: Impact
    do: Callable[[], Awaitable[None]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FakeChange:
    seq: int
    what: str
    at: datetime = NOW
    undoable: bool = True
    why_not: str = ""


@dataclass(frozen=True)
class FakeMark:
    id: str
    name: str | None
    reason: str = "named"
    seq: int = 1
    at: datetime = NOW
    session: str | None = None
    turn: str | None = None


class FakeTime:
    """Paths are lists in `turns`; all that was ever said is in `ever`, to be found by its parent."""

    turns: dict[str, list[Turn]]
    all_sessions: dict[str, Session]
    undoable: list[tuple[str, Callable[[], Awaitable[None]]]]

    def __init__(self) -> None:
        super().__init__()
        self.ever: dict[str, dict[str, Turn]] = {}
        self.carried: list[FakePlan] = []
        self.marked: list[FakeMark] = []
        self.all_worlds: list[World] = [World("main", None)]
        self.pasts: list[datetime] = []
        self.idle: set[str] = set()  # marks since which nothing changed
        self.notes: tuple[str, ...] = ()  # what the plan of a restore is told with
        self.nothing_erased = False  # of a chat that is deleted
        self.impact = Impact()  # what every plan tells besides its turns

    def add_session(self, name: str | None, *exchanges: tuple[str, str]) -> str:
        raise NotImplementedError

    def _say(self, session: str, role: str, text: str, **more: Any) -> Turn:
        raise NotImplementedError

    def _answer(self, session: str, turn: str) -> AsyncIterator[AgentEvent]:
        raise NotImplementedError

    def _replace(self, identity: str, **changes: Any) -> None:
        raise NotImplementedError

    def turn(self, identity: str) -> Turn:
        raise NotImplementedError

    @property
    def answering(self) -> str | None:
        raise NotImplementedError

    # Branches

    def _all(self, session: str) -> dict[str, Turn]:
        known = self.ever.setdefault(session, {})
        known.update({turn.id: turn for turn in self.turns[session]})
        return known

    def _take_path(self, session: str, turn: str | None) -> None:
        """The chat stands at that turn."""
        known = self._all(session)
        path: list[Turn] = []
        while turn is not None:
            path.insert(0, known[turn])
            turn = known[turn].parent
        self.turns[session][:] = path

    async def regenerate(self, session: str, turn: str | None = None) -> AsyncIterator[AgentEvent]:
        if self.answering is not None:
            yield Failed("A reply is being written here. Esc stops it; then this can be done.")
            return
        path = self.turns[session]
        wanted = turn or path[-1].id
        place = next(place for place, each in enumerate(path) if each.id == wanted)
        question = next(each for each in reversed(path[: place + 1]) if each.role == "user")
        self._take_path(session, question.id)
        yield TurnAccepted(session, question.id, question.text or "", queued=False, new_session=False)
        async for event in self._answer(session, question.id):
            yield event

    async def edit(self, session: str, turn: str, text: str) -> AsyncIterator[AgentEvent]:
        if self.answering is not None:
            yield Failed("A reply is being written here. Esc stops it; then this can be done.")
            return
        self._take_path(session, self.turn(turn).parent)
        said = self._say(session, "user", text)
        yield TurnAccepted(session, said.id, text, queued=False, new_session=False)
        async for event in self._answer(session, said.id):
            yield event

    async def rewind_plan(self, session: str, turn: str | None) -> FakePlan:
        ids = [each.id for each in self.turns[session]]
        gone = self.turns[session][ids.index(turn) + 1 if turn in ids else 0 :]
        return FakePlan("go back", replace(self.impact, gone=tuple(gone)), lambda: self.rewind(session, turn))

    async def rewind(self, session: str, turn: str | None, *, plan: Any = None) -> None:
        before = self.turns[session][-1].id if self.turns[session] else None
        self._take_path(session, turn)

        async def forward() -> None:
            self._take_path(session, before)

        self.undoable.append(("went back to before the first message", forward))

    async def switch(self, session: str, turn: str) -> None:
        known = self._all(session)
        while later := [each for each in known.values() if each.parent == turn]:
            turn = later[-1].id
        self._take_path(session, turn)

    async def switch_plan(self, session: str, turn: str) -> FakePlan:
        return FakePlan("switch", self.impact, lambda: self.switch(session, turn))

    async def fork(self, session: str, *, at: str | None = None, what_if: bool = False, name: str | None = None) -> str:
        made = self.add_session(name)
        ids = [each.id for each in self.turns[session]]
        self.turns[made] = self.turns[session][: ids.index(at) + 1 if at is not None else None]
        if what_if:
            self.all_worlds.append(World(made, name, "main", at, made, 1, NOW, session))
            self.all_sessions[made] = replace(self.all_sessions[made], world=made)
        return made

    async def alternatives(self, session: str, turns: Iterable[str]) -> dict[str, Alternatives]:
        known = self._all(session)
        found = {}
        for turn in turns:
            if turn in known:
                alike = [e for e in known.values() if (e.parent, e.role) == (known[turn].parent, known[turn].role)]
                if len(alike) > 1:
                    ids = tuple(each.id for each in alike)
                    found[turn] = Alternatives(ids, ids.index(turn))
        return found

    async def tree(self, session: str) -> tuple[Branch, ...]:
        known, path = self._all(session), [each.id for each in self.turns[session]]
        children: dict[str | None, list[Turn]] = {}
        for each in known.values():
            children.setdefault(each.parent, []).append(each)
        made: dict[str, Branch] = {}
        order = list(children.get(None, []))
        for each in order:
            order.extend(children.get(each.id, []))
        for each in reversed(order):
            below = tuple(made[child.id] for child in children.get(each.id, []))
            here, head = each.id in path, bool(path) and each.id == path[-1]
            made[each.id] = Branch(each.id, each.role, each.speaker, each.text, each.at, here, head, each.hidden, below)
        return tuple(made[each.id] for each in children.get(None, []))

    async def worlds(self) -> list[World]:
        return list(self.all_worlds)

    # Changes

    async def plan_delete(self, turn: str, *, exchange: bool = False) -> FakePlan:
        session = self.turn(turn).session
        path = self.turns[session]
        place = [each.id for each in path].index(turn)
        first = place - 1 if exchange and path[place].role == "assistant" else place
        gone = path[first : first + 2] if exchange else [path[place]]

        async def do() -> None:
            self.turns[session] = [each for each in path if each not in gone]
            self.ever[session] = {}

        return FakePlan("delete", replace(self.impact, gone=tuple(gone), erases=True), do)

    async def plan_delete_session(self, session: str) -> FakePlan:
        async def do() -> None:
            self.all_sessions[session] = replace(self.all_sessions[session], deleted=True)

        impact = replace(self.impact, gone=tuple(self.turns[session]), erases=not self.nothing_erased)
        return FakePlan("delete", impact, do)

    async def plan_remove_document(self, document: str) -> FakePlan:
        return FakePlan("remove", replace(self.impact, erases=True), lambda: self.remove_document(document))

    async def plan_take_out(self, paths: Collection[str]) -> FakePlan:
        async def do() -> None:
            raise NotImplementedError

        return FakePlan("take out", self.impact, do)

    async def plan_forget(self, id: str) -> FakePlan:
        lost = tuple(await self.forgetting(id))
        impact = replace(self.impact, lost=lost, erased=lost, erases=True)
        return FakePlan("forget", impact, lambda: self._forget(id))

    async def _forget(self, id: str) -> None:
        await self.forget(id)

    async def forget(self, id: str) -> int:
        raise NotImplementedError

    async def forgetting(self, id: str) -> list[Any]:
        raise NotImplementedError

    async def remove_document(self, document: str) -> None:
        raise NotImplementedError

    async def plan_hide(self, turn: str, *, exchange: bool = False) -> FakePlan:
        return self._plan_hiding(turn, hidden=True)

    async def plan_unhide(self, turn: str, *, exchange: bool = False) -> FakePlan:
        return self._plan_hiding(turn, hidden=False)

    def _plan_hiding(self, turn: str, *, hidden: bool) -> FakePlan:
        async def do() -> None:
            self._replace(turn, hidden=hidden)
            self.undoable.append(("hid a message", lambda: self._hide(turn, hidden=not hidden)))

        return FakePlan("hide", replace(self.impact, gone=(self.turn(turn),)), do)

    async def _hide(self, turn: str, *, hidden: bool) -> None:
        self._replace(turn, hidden=hidden)

    async def restores(self, mark: str) -> bool:
        return mark not in self.idle

    async def plan_restore(self, mark: str) -> FakePlan:
        async def do() -> None:
            self.undoable.append(("restored a mark", do))

        return FakePlan("restore", self.impact, do, self.notes)

    async def carry_out(self, plan: FakePlan) -> None:
        await plan.do()
        self.carried.append(plan)

    async def changes(self, limit: int = 20) -> list[FakeChange]:
        return [FakeChange(seq, what) for seq, (what, _) in enumerate(self.undoable)][::-1][:limit]

    async def undo(self, seq: int | None = None) -> FakeChange:
        if not self.undoable:
            raise AgentError("There is nothing to undo.")
        what, do = self.undoable.pop(-1 if seq is None else seq)
        await do()
        return FakeChange(len(self.undoable), what)

    async def marks(self) -> list[FakeMark]:
        return list(self.marked)

    async def mark(self, name: str) -> FakeMark:
        made = FakeMark(f"M{len(self.marked)}", name)
        self.marked.append(made)
        return made

    async def unmark(self, id: str) -> None:
        self.marked = [each for each in self.marked if each.id != id]

    # The past

    @asynccontextmanager
    async def past(self, when: datetime) -> AsyncIterator[Any]:
        if when.year < 2025:
            raise AgentError("Nothing was kept before 3 June 2025.")
        self.pasts.append(when)
        yield FakePast(self)


class FakePast:
    """The memory as it was: the first observation alone."""

    def __init__(self, agent: Any) -> None:
        self._of = agent.memory_of

    async def memories(self, wanted: Any, *, limit: int = 200) -> list[Any]:
        return [] if wanted.status == "candidate" else list(self._of.observations[:1])

    async def memory(self, id: str, *, world: str) -> Story:
        found = self._of.observations[0]
        return Story(found, (found,), {})

    async def projects(self) -> list[Any]:
        return []
