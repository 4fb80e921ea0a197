"""What everything stands on: the live graph, the rebuilt one and a naive reading of the events are the same."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.doctor import compare
from graph.events import (
    Event,
    HeadMoved,
    SessionArchived,
    SessionConfigured,
    SessionDeleted,
    SessionForked,
    SessionRenamed,
    SessionStarted,
    SessionTitled,
    SessionUnarchived,
    TextErased,
    TurnDeleted,
    TurnHidden,
    TurnTaken,
    TurnUnhidden,
)
from graph.memory import Memory
from graph.rebuild import events_of
from graph.schema import TURN
from graph.tables import Tables, fold
from tests.graph.conftest import ignore
from tests.graph.talk import reply, said

STEPS = st.lists(st.tuples(st.integers(0, 17), st.integers(0, 999), st.integers(0, 999)), min_size=12, max_size=60)


@dataclass
class Conversation:
    """A random but lawful history, and the plainest possible idea of what it means."""

    events: list[Event] = field(default_factory=list)
    world: dict[str, str] = field(default_factory=dict)  # of sessions
    head: dict[str, str | None] = field(default_factory=dict)
    deleted_sessions: set[str] = field(default_factory=set)
    home: dict[str, str] = field(default_factory=dict)  # session of turns
    parent: dict[str, str | None] = field(default_factory=dict)  # of turns that have a place
    queued: list[str] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)

    def step(self, kind: int, a: int, b: int) -> None:
        """One more event, chosen by `kind` and the two numbers, where the history allows it."""
        sessions, turns, placed = list(self.world), list(self.home), list(self.parent)
        session = sessions[a % len(sessions)] if sessions else None
        turn = turns[b % len(turns)] if turns else None
        place = placed[b % len(placed)] if placed else None
        if kind <= 1 or session is None:
            self._start()
        elif kind <= 6:
            self._say(session, place if kind == 6 else self.head[session], queued=kind == 5)
        elif kind == 7 and self.queued:
            self._take(self.queued[a % len(self.queued)])
        elif kind <= 9 and place is not None:
            self._fork(session, place, "main" if kind == 8 else f"what-if-{b % 3}")
        elif kind == 10:
            self.events.append(HeadMoved(session=session, turn=place if b % 4 else None))
            self._move(session, place if b % 4 else None)
        elif kind == 11:
            self.events.append(SessionDeleted(session=session))
            self.deleted_sessions.add(session)
            self.head[session] = None
        elif kind <= 14 and turn is not None:
            self._mark(turn, kind)
        elif kind == 15 and turn is not None:
            self.events.append(SessionTitled(session=session, sources=(turn,), text=f"title {b}"))
        elif kind == 16:
            self.events.append(TextErased(events=(1 + a % len(self.events), 1 + b % len(self.events))))
        else:
            self._tidy(session, b)

    def live(self) -> set[str]:
        """Turns at or above a head of a session of their world that is not deleted, neither hidden nor deleted."""
        found = set()
        for session in self.world.keys() - self.deleted_sessions:
            turn = self.head[session]
            while turn is not None:
                if self.world[self.home[turn]] == self.world[session]:
                    found.add(turn)
                turn = self.parent[turn]
        return found - self.hidden - self.deleted

    def _start(self) -> None:
        session = f"session{len(self.world)}"
        self.events.append(SessionStarted(session=session, client="test"))
        self.world[session], self.head[session] = "main", None

    def _say(self, session: str, parent: str | None, *, queued: bool) -> None:
        turn = f"turn{len(self.home)}"
        make = said if len(self.home) % 2 else reply
        self.events.append(make(turn, session, parent=parent, queued=queued))
        self.home[turn] = session
        if queued:
            self.queued.append(turn)
        else:
            self._place(turn, parent)

    def _take(self, turn: str) -> None:
        self.queued.remove(turn)
        if turn not in self.deleted:
            session = self.home[turn]
            self.events.append(TurnTaken(turn=turn, session=session, parent=self.head[session]))
            self._place(turn, self.head[session])

    def _fork(self, origin: str, at: str, world: str) -> None:
        session = f"session{len(self.world)}"
        self.events.append(SessionForked(session=session, origin=origin, at=at, world=world, client="test"))
        self.world[session], self.head[session] = world, at

    def _place(self, turn: str, parent: str | None) -> None:
        self.parent[turn] = parent
        self._move(self.home[turn], turn)

    def _move(self, session: str, turn: str | None) -> None:
        if session not in self.deleted_sessions:
            self.head[session] = turn

    def _mark(self, turn: str, kind: int) -> None:
        if kind == 12:
            self.events.append(TurnHidden(turn=turn))
            self.hidden.add(turn)
        elif kind == 13:
            self.events.append(TurnUnhidden(turn=turn))
            self.hidden.discard(turn)
        else:
            self.events.append(TurnDeleted(turn=turn))
            self.deleted.add(turn)

    def _tidy(self, session: str, b: int) -> None:
        kinds: Sequence[Event] = (
            SessionRenamed(session=session, text=f"name {b}"),
            SessionRenamed(session=session, text=None),
            SessionArchived(session=session),
            SessionUnarchived(session=session),
            SessionConfigured(session=session, model="m", text=f"prompt {b}"),
        )
        self.events.append(kinds[b % len(kinds)])


def history(steps: Sequence[tuple[int, int, int]]) -> Conversation:
    conversation = Conversation()
    for kind, a, b in steps:
        conversation.step(kind, a, b)
    return conversation


def folded(memory: Memory) -> Tables:
    reader = memory._reader
    return fold(events_of(reader, memory.head()), reader.event)


@settings(max_examples=12, deadline=None)
@given(STEPS)
def test_the_live_graph_and_a_rebuilt_one_equal_a_fold_of_the_log(steps: list[tuple[int, int, int]]) -> None:
    conversation = history(steps)
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.open(Path(folder) / "memory", command="test")
        try:
            memory.open_graph(ignore)
            for event in conversation.events:
                assert not memory.append(event)[0].graph_behind
            assert memory._graph.inspect(lambda store, at: list(compare(folded(memory), store))) == []
            memory.rebuild(ignore)
            assert memory._graph.inspect(lambda store, at: list(compare(folded(memory), store))) == []
            assert {check.name for check in memory.doctor() if not check.ok} == set()
        finally:
            memory.close()


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_liveness_is_what_the_words_say(steps: list[tuple[int, int, int]]) -> None:
    conversation = history(steps)
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.open(Path(folder) / "memory", command="test")
        try:
            memory.append(*conversation.events)
            turns = folded(memory).nodes["Turn"]
            live = {id for id, row in turns.items() if row[TURN.names.index("live")]}
            assert live == conversation.live()
            for session, head in conversation.head.items():
                assert memory.session(session).head == head
                assert [turn.id for turn in memory.thread(session)] == path(conversation, head)
        finally:
            memory.close()


def path(conversation: Conversation, head: str | None) -> list[str]:
    turns: list[str] = []
    while head is not None:
        turns.insert(0, head)
        head = conversation.parent[head]
    return turns
