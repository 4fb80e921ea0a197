"""Random lawful conversations, what-ifs of what-ifs among them, and the plainest possible idea of what they mean."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from hypothesis import strategies as st

from graph.events import Event, Recalled, SessionConfigured, SessionForked, SessionUnarchived, TextErased
from tests.examples import soaking
from tests.graph.deeds import archive, begin, delete, drop, hide, move, pin, rename, taken, titled, unhide, unpin
from tests.graph.talk import reply, said


@dataclass(frozen=True)
class Fork:
    """A what-if as it began: the world it left, the turn it left at, the turns on that world's paths, the event."""

    parent: str
    at: str
    on_paths: frozenset[str]
    number: int


STEP = st.tuples(st.integers(0, 18), st.integers(0, 999), st.integers(0, 999))
STEPS = st.lists(STEP, min_size=12, max_size=60 if soaking() else 30)


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
            self.events.append(move(session, place if b % 4 else None))
            self._move(session, place if b % 4 else None)
        elif kind == 11:
            self.events.append(drop(session))
            self.deleted_sessions.add(session)
            self.head[session] = None
        elif kind <= 14 and turn is not None:
            self._mark(turn, kind)
        elif kind == 15 and turn is not None:
            self.events.append(titled(session, f"title {b}", turn))
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
        self.events.append(begin(session))
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
            self.events.append(taken(turn, session, parent=self.head[session]))
            self._place(turn, self.head[session])

    def _pin(self, turn: str, session: str, *, on: bool) -> None:
        """A pin in the world of a session, which is mostly the turn's own; there it may go unsaid."""
        world, own = self.world[session], self.world[self.home[turn]]
        said_in = None if len(self.events) % 2 and world == own else world
        self.events.append(pin(turn, world=said_in) if on else unpin(turn, world=said_in))
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
            self.events.append(hide(turn))
            self.hidden.add(turn)
        elif kind == 13:
            self.events.append(unhide(turn))
            self.hidden.discard(turn)
        else:
            self.events.append(delete(turn))
            self.deleted.add(turn)

    def _tidy(self, session: str, b: int) -> None:
        kinds: Sequence[Event] = (
            rename(session, f"name {b}"),
            rename(session, None),
            archive(session),
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
