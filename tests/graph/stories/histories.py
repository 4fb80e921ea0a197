"""Random lawful plays: stories, what-ifs of them and main, told to the reference too, which says what comes of them."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from graph.events import CastReset, CastSet, Event, SessionForked, StageSet, StoryBegun, TurnWitnessed
from tests.graph.deeds import begin, delete, drop, hide, move, taken, unhide
from tests.graph.talk import reply, said
from tests.reference import MAIN, Reference

PLAYS = st.lists(
    st.tuples(st.integers(0, 29), st.integers(0, 999), st.integers(0, 999), st.booleans()), min_size=15, max_size=70
)
STORIES = ("tale", "yarn")
ASPECTS = ("mood", "place", "present")


@dataclass
class Plays:
    """Turns numbers into what may follow. Nothing in it is deleted together with what it erases: the log adds that."""

    reference: Reference = field(default_factory=Reference)
    events: list[Event] = field(default_factory=list)
    waiting: list[tuple[str, str]] = field(default_factory=list)

    def add(self, *events: Event) -> None:
        for event in events:
            self.reference.apply(event)
            self.events.append(event)

    def step(self, what: int, a: int, b: int, flag: bool) -> None:
        """One event or a few, where there are any to be had."""
        known = self.reference
        if what == 0 or not known.head:
            self._begin(a)
            return
        session = list(known.head)[a % len(known.head)]
        turns = [turn for turn in known.parent if self.story(known.home[turn]) == self.story(session)]
        turn = turns[b % len(turns)] if turns else None
        if what <= 8 or turn is None:
            self._say(session, turn if flag and b % 3 == 0 else known.head[session], a + b, queued=what == 8)
        elif what <= 16:
            self._go(what, session, turn, a, flag)
        elif self.story(session) is not None:
            self._set(what, session, turn, a, b, flag)

    def story(self, session: str) -> str | None:
        return self.reference.story.get(self.reference.world[session])

    def members(self, session: str) -> list[str]:
        """Whoever ever came, as the world of a session knows."""
        lines = self.reference.worlds[self.reference.world[session]].lines
        return sorted({line.member for line in lines if isinstance(line, CastSet)})

    def _begin(self, a: int) -> None:
        """A chat of main, or of a story, which may have to begin itself."""
        world = (*STORIES, MAIN)[a % 3]
        if world != MAIN and world not in self.reference.story:
            host, you = (
                CastSet(world=world, member=f"{world}-{seat}", seat=seat, text=seat) for seat in ("host", "you")
            )
            self.add(StoryBegun(world=world, text=f"The {world}"), host, you)
        self.add(begin(f"s{len(self.reference.world)}", world=world))

    def _say(self, session: str, parent: str | None, number: int, *, queued: bool) -> None:
        id = f"t{len(self.reference.home)}"
        played: dict[str, Any] = {}
        if self.story(session) is not None:
            members = self.members(session)
            played = {"speaker": members[number % len(members)], "witnesses": self._some(members, number)}
        if queued:
            self.waiting.append((id, session))
            self.add(said(id, session, queued=True, text=f"word {id}", **played))
        else:
            self.add((reply if number % 3 else said)(id, session, parent=parent, text=f"word {id}", **played))

    def _some(self, members: list[str], number: int) -> tuple[str, ...]:
        return tuple(member for at, member in enumerate(members) if number >> at & 1)

    def _go(self, what: int, session: str, turn: str, a: int, flag: bool) -> None:
        known = self.reference
        match what:
            case 9 | 10 | 11:
                self.add(move(session, None if a % 9 == 0 else turn))
            case 12 | 13:
                fork = f"s{len(known.world)}"
                world = fork if flag else known.world[session]
                self.add(SessionForked(session=fork, origin=session, at=turn, world=world, client="test"))
            case 14:
                self.add(unhide(turn) if turn in known.hidden else hide(turn))
            case 15 if a % 3 == 0:
                self.add(delete(turn))
            case 15 if self.waiting:
                waits, home = self.waiting.pop()
                self.add(taken(waits, home, parent=known.head.get(home)))
            case 16 if flag and len(known.head) > 2:
                self.add(drop(session))

    def _set(self, what: int, session: str, turn: str, a: int, b: int, flag: bool) -> None:
        world, members = self.reference.world[session], self.members(session)
        shown = self.reference.shown(session)
        after = turn if a % 5 == 0 else shown[-1] if shown and a % 7 else None
        if what <= 19:
            new = flag and len(members) < 4
            member = f"{world}-m{len(self.events)}" if new else members[b % len(members)]
            seat = (None, "guest", "host")[a % 3]
            name = f"name {len(self.events)}" if new or b % 3 == 0 else None
            fields = {"world": world, "member": member, "seat": seat, "after": after, "text": name}
            self.add(CastSet.model_validate(fields))
        elif what <= 25:
            sources = tuple(dict.fromkeys((*(shown[-1:] if flag else ()), *([turn] if b % 4 == 0 else []))))
            line = {"owner": (*members, "world")[b % (len(members) + 1)], "aspect": ASPECTS[a % 3], "after": after}
            by, text = ("rule" if sources else "user"), f"line {len(self.events)}" if b % 5 else None
            self.add(StageSet.model_validate({"world": world, **line, "sources": sources, "by": by, "text": text}))
        elif what <= 27:
            there = self.members(self.reference.home[turn])
            self.add(TurnWitnessed(turn=turn, witnesses=self._some(there, b)))
        else:
            since = self.reference.said[turn] if flag or a % 2 else 0
            self.add(CastReset(world=world, member=members[b % len(members)], since=since))


def played(steps: list[tuple[int, int, int, bool]]) -> Plays:
    plays = Plays()
    for step in steps:
        plays.step(*step)
    return plays
