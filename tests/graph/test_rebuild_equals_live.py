"""What everything stands on: the live graph, the rebuilt one and a naive reading of the events are the same."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.doctor import compare
from graph.events import (
    Event,
    HeadMoved,
    PinCleared,
    PinSet,
    Recalled,
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
from graph.paths import Paths
from graph.rebuild import events_of
from graph.schema import TURN
from graph.tables import Tables, fold
from tests.graph.conftest import ignore
from tests.graph.talk import reply, said


@dataclass(frozen=True)
class Fork:
    """A what-if as it began: the world it left, the turn it left at, the turns on that world's paths, the event."""

    parent: str
    at: str
    on_paths: frozenset[str]
    number: int


STEPS = st.lists(st.tuples(st.integers(0, 18), st.integers(0, 999), st.integers(0, 999)), min_size=12, max_size=60)


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
    pinned: set[str] = field(default_factory=set)
    at_fork: dict[str, Fork] = field(default_factory=dict)  # of what-ifs

    def step(self, kind: int, a: int, b: int) -> None:
        """One more event, chosen by `kind` and the two numbers, where the history allows it."""
        sessions, turns, placed = list(self.world), list(self.home), list(self.parent)
        session = sessions[a % len(sessions)] if sessions else None
        turn = turns[b % len(turns)] if turns else None
        place = placed[b % len(placed)] if placed else None
        if kind <= 1 or session is None:
            self._start()
        elif kind <= 6:
            self._say(session, place if kind == 6 else self.head[session], b, queued=kind == 5)
        elif kind == 7 and self.queued:
            self._take(self.queued[a % len(self.queued)])
        elif kind <= 9 and place is not None:
            self._fork(session, place, what_if=kind == 9)
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
        elif kind == 18 and turn is not None:
            self._pin(turn, sessions[b % len(sessions)], on=a % 3 > 0)
        elif kind == 16:
            self.events.append(TextErased(events=(1 + a % len(self.events), 1 + b % len(self.events))))
        else:
            self._tidy(session, b)

    def live(self) -> set[str]:
        """Turns on a path of their world that are neither hidden nor deleted."""
        found = {turn for world in set(self.world.values()) for turn in self.on_paths(world)}
        return found - self.hidden - self.deleted

    def on_paths(self, world: str) -> frozenset[str]:
        """Turns of a world that are at or above a head of a session of that world that is not deleted."""
        sessions = [each for each in self.world.keys() - self.deleted_sessions if self.world[each] == world]
        above = {turn for session in sessions for turn in self.path(self.head[session])}
        return frozenset(turn for turn in above if self.world[self.home[turn]] == world)

    def inherits(self, world: str, turn: str) -> bool:
        """Whether a what-if sees a turn of another world, as far as it depends on where it began."""
        fork = self.at_fork.get(world)
        if fork is None:
            return False
        if turn in self.path(fork.at):
            return True
        if turn not in self.parent or fork.at in self.path(turn):
            return False
        return turn in fork.on_paths or self.inherits(fork.parent, turn)

    def path(self, turn: str | None) -> list[str]:
        """A turn and all above it, deleted ones too, from the first."""
        turns: list[str] = []
        while turn is not None:
            turns.insert(0, turn)
            turn = self.parent[turn]
        return turns

    def follows(self) -> dict[str, str | None]:
        """What each turn that is kept and has a place follows: the nearest that is kept."""
        kept = self.parent.keys() - self.deleted
        return {turn: self.nearest(self.parent[turn]) for turn in kept}

    def nearest(self, turn: str | None) -> str | None:
        return next((each for each in reversed(self.path(turn)) if each not in self.deleted), None)

    def _start(self) -> None:
        session = f"session{len(self.world)}"
        self.events.append(SessionStarted(session=session, client="test"))
        self.world[session], self.head[session] = "main", None

    def _say(self, session: str, parent: str | None, b: int, *, queued: bool) -> None:
        turn = f"turn{len(self.home)}"
        make = said if len(self.home) % 2 else reply
        told = b * 1_000 if b % 2 else None
        recalled = [pack(id, rank) for rank, id in enumerate([f"turn{b % 7}", "unknown", turn, f"turn{b % 5}"], 1)]
        more = {"recalled": recalled[: b % 5], "said_at": told}
        self.events.append(make(turn, session, parent=parent, queued=queued, text=f"<{turn}>", **more))
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

    def _pin(self, turn: str, session: str, *, on: bool) -> None:
        """A pin in the world of a session, which is mostly the turn's own; there it may go unsaid."""
        world, own = self.world[session], self.world[self.home[turn]]
        said_in = None if len(self.events) % 2 and world == own else world
        self.events.append(PinSet(turn=turn, world=said_in) if on else PinCleared(turn=turn, world=said_in))
        if world == own:
            (self.pinned.add if on else self.pinned.discard)(turn)

    def _fork(self, origin: str, at: str, *, what_if: bool) -> None:
        session, world = f"session{len(self.world)}", self.world[origin]
        if what_if:
            self.at_fork[session] = Fork(world, at, self.on_paths(world), len(self.events) + 1)
            world = session
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


def pack(id: str, rank: int) -> Recalled:
    """An item of a context pack, sometimes without a rank, sometimes of what the graph does not have yet."""
    kind: Literal["turn", "observation"] = "observation" if rank == 4 and id == "turn0" else "turn"
    return Recalled(id=id, kind=kind, score=rank / 7, ranks={"lexical": rank + 1, "graph": rank} if rank < 4 else {})


def history(steps: Sequence[tuple[int, int, int]]) -> Conversation:
    conversation = Conversation()
    for kind, a, b in steps:
        conversation.step(kind, a, b)
    return conversation


def relations(tables: Tables, rel: str, to: str) -> dict[str, str]:
    return dict(tables.rels[rel, to].keys())


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
            tables = folded(memory)
            turns = tables.nodes["Turn"]
            live = {id for id, row in turns.items() if row[TURN.names.index("live")]}
            assert live == conversation.live()
            assert {id for id, row in turns.items() if row[TURN.names.index("pinned")]} == conversation.pinned
            follows = {turn: above for turn, above in conversation.follows().items() if above is not None}
            assert relations(tables, "REPLIES_TO", "Turn") == follows
            heads = {each: conversation.nearest(head) for each, head in conversation.head.items()}
            assert relations(tables, "HEAD", "Turn") == {each: head for each, head in heads.items() if head is not None}
            with memory.snapshot() as db:
                paths = Paths(db)
                assert {id for id in turns if paths.live(memory.turn(id))} == live
            of_main = [
                id for id in live if conversation.world[conversation.home[id]] == "main" and memory.turn(id).text
            ]
            newest = sorted(of_main, key=lambda id: (memory.turn(id).at, int(id[4:])), reverse=True)
            assert [turn.id for turn in memory.recent("turn", 5)] == newest[:5]
            assert {turn.id for turn in memory.pinned()} == {
                id for id in conversation.pinned & live if conversation.world[conversation.home[id]] == "main"
            }
            for session, head in conversation.head.items():
                assert memory.session(session).head == heads[session]
                kept = [turn for turn in conversation.path(head) if turn not in conversation.deleted]
                assert [turn.id for turn in memory.thread(session)] == kept
        finally:
            memory.close()


def test_the_tables_are_those_worked_out_by_hand() -> None:
    """A short history with everything that has a rule of its own; events are numbered from 1."""
    packed = [
        Recalled(id="q1", score=0.5, ranks={"lexical": 3, "graph": 2}),
        Recalled(id="q1", score=0.1, ranks={"lexical": 1}),  # a second time: the first counts
        Recalled(id="a1", score=0.25),
        Recalled(id="o", kind="observation", score=1.0, ranks={"observation": 1}),
        Recalled(id="later", score=1.0, ranks={"lexical": 1}),
    ]
    events: list[Event] = [
        SessionStarted(session="s", client="test", project="maze", source="x", said_at=1_000),  # 1
        said("q1", text="What?", said_at=5_000),  # 2
        reply("a1", parent="q1", text="That.", said_at=4_000),  # 3
        said("w", queued=True, text="And?", said_at=3_000),  # 4
        reply("a2", parent="q1", text="No, this.", said_at=6_000, recalled=packed),  # 5: q1 and a2 are on the path
        TurnTaken(turn="w", session="s", parent="a2"),  # 6
        PinSet(turn="q1"),  # 7
        SessionForked(session="f", origin="s", at="a1", world="what-if", client="test"),  # 8
        TurnHidden(turn="w"),  # 9
        HeadMoved(session="s", turn="a1"),  # 10: a2 and w leave the path, a1 enters it
        TextErased(events=(3,)),  # 11
        PinSet(turn="a2"),  # 12
        PinCleared(turn="a2"),  # 13
    ]
    columns = (
        "seq",
        "at",
        "index",
        "parent",
        "depth",
        "text",
        "live",
        "hidden",
        "queued",
        "pinned",
        "touched",
        "heads",
    )
    expected = {
        "q1": (2, 5_000, 0, None, 0, "What?", True, False, False, True, 7, 1),
        "a1": (3, 4_000, 1, "q1", 1, None, True, False, False, False, 11, 1),
        "w": (4, 3_000, 2, "a2", 2, "And?", False, True, False, False, 10, 0),
        "a2": (5, 6_000, 3, "q1", 1, "No, this.", False, False, False, False, 13, 0),
    }
    of_sessions = ("world", "project", "started_at", "last_at", "turns", "head")
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.open(Path(folder) / "memory", command="test")
        try:
            memory.open_graph(ignore)
            for event in events:
                memory.append(event)
            for _ in range(2):  # as it was kept, and rebuilt
                assert rows(memory, "Turn", columns) == expected
                sessions = rows(memory, "Session", of_sessions)
                assert sessions["s"] == ("main", "maze", 1_000, 6_000, 4, "a1")
                assert sessions["f"][:2] + sessions["f"][4:] == ("what-if", None, 0, "a1")
                assert edges(memory, "RECALLED", ", r.strategy, r.rank, r.score") == {
                    ("a2", "q1", "graph", 2, 0.5),
                    ("a2", "a1", None, None, 0.25),
                }
                assert edges(memory, "REPLIES_TO") == {("a1", "q1"), ("a2", "q1"), ("w", "a2")}
                assert edges(memory, "HEAD") == {("s", "a1"), ("f", "a1")}
                assert edges(memory, "IN_WORLD") == {("s", "main"), ("f", "what-if")}
                assert edges(memory, "IN") == {(turn, "s") for turn in expected}
                assert edges(memory, "SAID_BY") == {
                    ("q1", "you"),
                    ("w", "you"),
                    ("a1", "assistant"),
                    ("a2", "assistant"),
                }
                memory.rebuild(ignore)
        finally:
            memory.close()


def rows(memory: Memory, table: str, columns: Sequence[str]) -> dict[str, tuple[object, ...]]:
    listed = ", ".join(f"n.`{name}` AS `{name}`" for name in ("id", *columns))
    found = memory.query(f"MATCH (n:`{table}`) RETURN {listed}")
    return {row["id"]: tuple(row[name] for name in columns) for row in found}


def edges(memory: Memory, rel: str, properties: str = "") -> set[tuple[object, ...]]:
    found = memory.query(f"MATCH (a)-[r:`{rel}`]->(b) RETURN a.id, b.id{properties}")
    return {tuple(row.values()) for row in found}
