"""What the memory means, as short as the definitions: turns on paths, worlds, and what hangs on them.

A fold over the events that copies whatever a what-if inherits at its fork and works everything out anew when asked.
It shares no code with the memory, so that the two can be held against each other after each step. What stands in a
story is what comes of playing its path again, from turn to turn.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from graph import events as happened

MAIN = "main"


@dataclass
class World:
    """What a world has of its parent: as it was at the fork, copied."""

    turns: frozenset[str] = frozenset()
    above: tuple[str, ...] = ()
    pins: dict[str, bool] = field(default_factory=dict)  # of turns and series, with its own
    blocks: list[happened.CoreWritten] = field(default_factory=list)  # all versions, with its own
    lines: list[happened.CastSet | happened.CastReset | happened.StageSet] = field(
        default_factory=list
    )  # what was set in it, with its own


@dataclass(frozen=True)
class Stand:
    """How an observation that is live in a world stands there."""

    status: str
    current: bool
    proof: int


class Reference:
    """All worlds of one log. `apply` takes its events in order, from the first."""

    def __init__(self) -> None:
        self.seq = 0  # of the last event
        self.worlds: dict[str, World] = {MAIN: World()}
        self.world: dict[str, str] = {}  # of sessions
        self.head: dict[str, str | None] = {}  # of sessions that are not deleted
        self.home: dict[str, str] = {}  # session of turns
        self.parent: dict[str, str | None] = {}  # of turns that have a place
        self.hidden: set[str] = set()
        self.deleted: set[str] = set()  # turns, and series of observations
        self.withheld: set[str] = set()
        self.made: dict[str, happened.ObservationMade] = {}
        self.judged: dict[str, str] = {}
        self.retired: dict[str, set[str]] = {}
        self.supports: dict[str, set[str]] = {}
        self.accused: dict[str, set[str]] = {}  # by observation, every turn that ever contradicted it
        self.asked: set[str] = set()  # the user's turns
        self.story: dict[str, str] = {}  # of the worlds that are of one
        self.members: dict[str, str] = {}  # of all casts, and what they are called
        self.saw: dict[str, tuple[str, ...]] = {}  # of the turns of stories, who
        self.said: dict[str, int] = {}  # of turns, the event that said them
        self.refers: dict[
            str, tuple[int, happened.ReferenceAdded]
        ] = {}  # what is attached, with the event that attached it
        self.erased: set[int] = set()

    def apply(self, event: happened.Event) -> None:
        """Take in one event."""
        self.seq += 1
        match event:
            case happened.SessionStarted():
                self.world[event.session], self.head[event.session] = event.world, None
            case happened.SessionForked():
                self._fork(event)
            case happened.SessionDeleted():
                self.head.pop(event.session, None)
            case happened.TurnSaid():
                self.home[event.turn], self.said[event.turn] = event.session, self.seq
                if event.witnesses is not None:
                    self.saw[event.turn] = event.witnesses
                if event.role == happened.Role.USER:
                    self.asked.add(event.turn)
                if not event.queued:
                    self._place(event.turn, event.session, event.parent)
            case happened.TurnTaken():
                self._place(event.turn, event.session, event.parent)
            case happened.HeadMoved():
                self._move(event.session, event.turn)
            case happened.TurnHidden():
                self.hidden.add(event.turn)
            case happened.TurnUnhidden():
                self.hidden.discard(event.turn)
            case happened.TurnWithheld():
                self.withheld.add(event.turn)
            case happened.TurnReleased():
                self.withheld.discard(event.turn)
            case happened.TurnDeleted():
                self.deleted.add(event.turn)
            case happened.PinSet() | happened.PinCleared():
                self._pin(event)
            case happened.CoreWritten():
                self.worlds[event.world].blocks.append(event)
            case happened.StoryBegun():
                self.worlds[event.world], self.story[event.world] = World(), event.world
            case happened.CastSet() | happened.CastReset() | happened.StageSet():
                self.worlds[event.world].lines.append(event)
                if isinstance(event, happened.CastSet) and event.text is not None:
                    self.members[event.member] = event.text
            case happened.TurnWitnessed():
                self.saw[event.turn] = event.witnesses
            case happened.ReferenceAdded():
                self.refers[event.reference] = self.seq, event
            case happened.ReferenceDropped():
                self.refers.pop(event.reference, None)
            case happened.TextErased():
                self.erased.update(event.events)
            case _:
                self._learn(event)

    def _learn(self, event: happened.Event) -> None:
        match event:
            case happened.ObservationMade():
                self.made[event.observation], self.judged[event.observation] = event, event.status
            case happened.ObservationSupported():
                self.supports.setdefault(event.observation, set()).add(event.source)
            case happened.ObservationPromoted():
                self.judged[event.observation] = "active"
            case happened.ObservationRejected() | happened.ObservationRetired(by_turn=None):
                self.judged[event.observation] = "invalid"
            case happened.ObservationRetired(by_turn=str() as turn):
                self.retired.setdefault(event.observation, set()).add(turn)
                self.accused.setdefault(event.observation, set()).add(turn)
            case happened.ObservationReturned():
                self.judged[event.observation] = event.status
                self.retired.pop(event.observation, None)
            case happened.ObservationDeleted():
                self._forget(event.series)

    def _forget(self, series: str) -> None:
        """A series goes, and whatever was made from it and another."""
        self.deleted.add(series)
        for id, made in self.made.items():
            if made.series not in self.deleted and any(self.made[each].series == series for each in self.parents(id)):
                self._forget(made.series)

    def parents(self, id: str) -> tuple[str, ...]:
        """What an observation was made from, or the first of its series was."""
        return self.made[self.made[id].series].parents or ()

    # -- what a world sees ----------------------------------------------------------------------------------------

    def sees(self, world: str) -> set[str]:
        """The turns that are live in a world."""
        return self._held(world) - self.hidden - self.deleted

    def standing(self, world: str) -> set[str]:
        """The turns from which something may be believed there."""
        return self.sees(world) - self.withheld

    def path(self, turn: str | None) -> list[str]:
        """A turn and all above it."""
        found = []
        while turn is not None:
            found.append(turn)
            turn = self.parent[turn]
        return found

    def _held(self, world: str) -> set[str]:
        """On the path of a head of the world, or inherited; whatever is hidden or deleted."""
        own = {
            turn
            for session, head in self.head.items()
            if self.world[session] == world
            for turn in self.path(head)
            if self.world[self.home[turn]] == world
        }
        return own | self.worlds[world].turns

    # -- what is believed there -----------------------------------------------------------------------------------

    def believed(self, world: str) -> dict[str, Stand]:
        """The live observations of a world, and how they stand in it."""
        standing = self.standing(world)
        seen = self._known(world)
        live = {
            id for id in seen if self.made[id].series not in self.deleted and set(self.made[id].sources) <= standing
        }
        later: dict[str, list[str]] = {}
        for id in seen:
            later.setdefault(self.made[id].supersedes or "", []).append(id)

        def contradicted(id: str) -> bool:
            return bool(self.retired.get(id, set()) & standing)

        def says_more(id: str) -> bool:
            in_use = self.judged[id] == "active" and not contradicted(id)
            return id in live and (in_use or any(map(says_more, later.get(id, ()))))

        def stand(id: str) -> Stand:
            status = self.judged[id]
            if status == "invalid" or contradicted(id):
                status = "invalid"
            elif any(map(says_more, later.get(id, ()))):
                status = "superseded"
            current = status in ("candidate", "active") and self.made[id].instead_of not in live
            current = current and all(parent in live and in_force(parent) for parent in self.parents(id))
            proof = {*self.made[id].sources, *self.supports.get(id, ())} & standing
            return Stand(status, current, len(proof))

        def in_force(id: str) -> bool:
            stands = stand(id)
            return stands.current and stands.status == "active"

        return {id: stand(id) for id in live}

    def pinned(self, world: str) -> set[str]:
        """The turns that are pinned in a world."""
        return {item for item, on in self.worlds[world].pins.items() if on} & self.standing(world)

    def blocks(self, world: str) -> dict[str, str]:
        """What its core blocks say."""
        standing, found = self.standing(world), dict[str, str]()
        for version in self.worlds[world].blocks:
            if set(version.sources) <= standing:
                found[version.block] = version.text or ""
        return {name: text for name, text in found.items() if text}

    def _known(self, world: str) -> set[str]:
        """Observations of the world's own and of the worlds above it; their sources say whether it believes them."""
        return {id for id, made in self.made.items() if made.world in (world, *self.worlds[world].above)}

    def attached(self, session: str) -> dict[str, str | None]:
        """What a session refers to, with the addresses."""
        there = [
            event
            for seq, event in self.refers.values()
            if event.session == session and seq not in self.erased and event.text
        ]
        path = self.path(self.head.get(session))
        waits = self.home.keys() - self.parent.keys()
        return {event.reference: event.text for event in there if event.turn is None or event.turn in {*path, *waits}}

    # -- what stands in a story -----------------------------------------------------------------------------------

    def shown(self, session: str) -> list[str]:
        """The turns on the path of a session's head that were not deleted, the oldest first."""
        return [turn for turn in reversed(self.path(self.head[session])) if turn not in self.deleted]

    def stage(self, session: str) -> dict[tuple[str, str], str | None]:
        """What is on the stage of a session, by owner and aspect."""
        return {
            (line.owner, line.aspect): line.text
            for line in self._played(session)
            if isinstance(line, happened.StageSet)
        }

    def cast(self, session: str) -> list[tuple[str, str, str, int]]:
        """Who plays in a session: member, name, seat, and after which event it remembers."""
        seats: dict[str, str | None] = {}  # the last who took one comes last
        since: dict[str, int] = {}
        for line in self._played(session):
            if isinstance(line, happened.CastReset):
                since[line.member] = line.since
            elif isinstance(line, happened.CastSet):
                seats.pop(line.member, None)
                seats[line.member] = line.seat
        holders = {seat: member for member, seat in seats.items()}
        found = [(holders[seat], seat) for seat in happened.SEATS if seat in holders]
        return [(member, self.members.get(member, ""), seat, since.get(member, 0)) for member, seat in found]

    def view(self, session: str, member: str) -> list[str]:
        """What a member saw of a session, the oldest first, hidden turns too."""
        resets = [
            line.since
            for line in self._played(session)
            if isinstance(line, happened.CastReset) and line.member == member
        ]
        since = resets[-1] if resets else 0
        return [turn for turn in self.shown(session) if member in self.saw[turn] and self.said[turn] > since]

    def _played(self, session: str) -> list[happened.CastSet | happened.CastReset | happened.StageSet]:
        """What was set along a session's path and holds, in the order of the path."""
        path = self.path(self.head.get(session))
        standing = set(path) - self.hidden - self.deleted
        lines = self.worlds[self.world[session]].lines
        return [
            line
            for turn in [None, *reversed(path)]
            for line in lines
            if getattr(line, "after", None) == turn and standing.issuperset(getattr(line, "sources", ()))
        ]

    # -- changes --------------------------------------------------------------------------------------------------

    def _fork(self, event: happened.SessionForked) -> None:
        parent = self.world[event.origin]
        self.world[event.session], self.head[event.session] = event.world, event.at
        if event.world == parent:
            return
        above = self.path(event.at)
        follows = {turn for turn in self.parent if turn != event.at and event.at in self.path(turn)}
        self.worlds[event.world] = World(
            turns=frozenset(self._held(parent) - follows) | set(above),
            above=(parent, *self.worlds[parent].above),
            pins=dict(self.worlds[parent].pins),
            blocks=list(self.worlds[parent].blocks),
            lines=list(self.worlds[parent].lines),
        )
        if parent in self.story:
            self.story[event.world] = self.story[parent]

    def _place(self, turn: str, session: str, parent: str | None) -> None:
        self.parent[turn] = parent
        self._move(session, turn)

    def _move(self, session: str, turn: str | None) -> None:
        if session in self.head:
            self.head[session] = turn

    def _pin(self, event: happened.PinSet | happened.PinCleared) -> None:
        if event.turn is not None:
            item, own = event.turn, self.world[self.home[event.turn]]
        else:
            made = self.made[event.observation or ""]
            item, own = made.series, made.world
        self.worlds[event.world or own].pins[item] = isinstance(event, happened.PinSet)


def told(events: Iterable[happened.Event]) -> Reference:
    """The reference of some events."""
    reference = Reference()
    for event in events:
        reference.apply(event)
    return reference
