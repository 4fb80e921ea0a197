"""Random stories, each told twice: as it was, and as if what one member of the cast did not see had never been.

The second one has the same ids and times. Every turn, memory and name that the member does not know of has a word in it
that nothing else has.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from graph import events
from graph.errors import InvalidEvent
from graph.events import SEATS, CastReset, CastSet, Event, ObservationMade, SessionStarted, StoryBegun, TurnSaid
from graph.memory import Memory
from graph.values import Vector
from tests.graph.deeds import delete, fork, hide, move, pin, rate, release, titled, unhide, unpin, withhold
from tests.graph.talk import said
from tests.graph.teach import forget, give_back, observed, promote, read, reinforce, reject, retire, support

ANN, BEA, CID = CAST = ("m1", "m2", "m3")
NAMES = dict(zip(CAST, ("Ann", "Bea Lamplight", "Ann"), strict=True))  # two of them are called the same
TALE = "tale"
MODEL, DIMENSION = "twin@1", 8
START_MS, MINUTE_MS = 1_770_000_000_000, 60_000
WORDS = (
    *("key", "drawer", "lamp", "storm", "boat", "letter", "cellar", "bread", "knife", "window", "ship", "garden"),
    *("stairs", "rope", "lantern", "map", "well", "gold", "horse", "dog"),
)
ENDINGS = (
    *("", "", "?", " yesterday", " in 2025", " three times", ", said Ann", " with Ozric", ' and "The Sea"', " 🙂"),
    *(" ✨", " for Name0", " of Name1", " to Ozric Hale"),
)
ASKED_EVERY = 9
SURE, UNHEARD = "sure", "unheard"  # entities that were named ahead, to all, and such as only the others hear of

Deed = tuple[int, int, int]
STEPS = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 999), st.integers(0, 999)), min_size=10, max_size=60)


def text(a: int, b: int, least: int = 2) -> str:
    """Some words; the first ones are said more often."""
    count = least + b % 5
    chosen = [WORDS[(a * (place + 1) + b * place * place) % (len(WORDS) if a % 2 else 6)] for place in range(count)]
    return " ".join(chosen) + ENDINGS[(a + b) % len(ENDINGS)]


def vector(of: str) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """A direction that words decide: the same text always has the same, and shared words make two near."""
    values = np.zeros(DIMENSION, np.float32)
    for word in of.lower().split():
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4])
        values += np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    return np.asarray(values / max(float(np.linalg.norm(values)), 1e-3), np.float32)


def asked(query: str) -> Vector:
    return Vector(MODEL, vector(query))


def embed(memory: Memory, *, most: bool = True) -> None:
    """Keep the vectors of what was said and learned, but for a seventh of the texts; or of those alone."""
    found = [(hash, vector(of)) for hash, of in memory.unembedded(MODEL, 10_000) if (len(of) % 7 > 0) == most]
    if found:
        memory.keep_vectors(MODEL, found)


@dataclass
class Tale:
    """A story as it is told into a memory; `events` are those that were stored, with their numbers."""

    memory: Memory
    events: list[tuple[int, Event]] = field(default_factory=list)
    heads: dict[str, str | None] = field(default_factory=dict)  # of the chats of the story
    worlds: dict[str, str] = field(default_factory=dict)
    turns: dict[str, TurnSaid] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)  # of the events of turns
    made: dict[str, ObservationMade] = field(default_factory=dict)
    noted: dict[str, list[str]] = field(default_factory=dict)  # by turn, whom it names
    fixed: set[str] = field(default_factory=set)  # turns that Bea saw, or did not, for good
    chunks: list[str] = field(default_factory=list)
    forked: bool = False
    elsewhere: bool = False
    count: int = 0

    def __post_init__(self) -> None:
        self.put(StoryBegun(world=TALE, text="The Lighthouse"))
        for member, seat in zip(CAST, SEATS, strict=True):
            self.put(CastSet(world=TALE, member=member, seat=seat, text=NAMES[member]))
        self.begin("s0", TALE)
        self.put(SessionStarted(session="main", client="test", said_at=START_MS))
        for place, entity in enumerate((SURE + "0", SURE + "1")):
            turn = self.say("s0", CAST[place], CAST, text(place, 3))
            self.fixed.add(turn)
            self.note(entity, turn, f"Name{place}")
        for place, entity in enumerate((UNHEARD + "0", UNHEARD + "1")):
            turn = self.say("s0", ANN, (ANN,), text(place, 2))
            self.fixed.add(turn)
            self.note(entity, turn, f"Name{place}")  # others who are called the same

    def put(self, event: Event) -> bool:
        """Store an event, if it is lawful."""
        try:
            recorded = self.memory.append(event)
        except InvalidEvent:
            return False
        self.events.append((recorded[0].seq, event))
        return True

    def begin(self, session: str, world: str) -> None:
        self.put(SessionStarted(session=session, world=world, client="test", said_at=START_MS))
        self.heads[session], self.worlds[session] = None, world

    def say(self, session: str, speaker: str, saw: Iterable[str] | None, words: str, **more: Any) -> str:
        """A turn; every one has a word of its own."""
        self.count += 1
        turn, at = f"t{self.count:03}x", START_MS + self.count * MINUTE_MS * (1 if self.count % 9 else 500)
        more = {"role": "assistant" if speaker == BEA else "user", **more, "speaker": speaker, "said_at": at}
        more["witnesses"] = None if saw is None else tuple(saw)
        event = said(turn, session, parent=self.heads.get(session), text=f"{words} nonce{turn}", **more)
        if not self.put(event):
            raise AssertionError(f"{event} is not lawful")
        self.numbers[turn] = self.events[-1][0]
        self.turns[turn] = event
        if session in self.heads:
            self.heads[session] = turn
        return turn

    def note(self, entity: str, turn: str, name: str) -> None:
        if self.put(events.EntityNoted(entity=entity, category="person", by_turn=turn, text=name)):
            self.noted.setdefault(turn, []).append(entity)

    def step(self, kind: int, a: int, b: int) -> None:
        """One thing that happens."""
        session = list(self.heads)[b % len(self.heads)]
        turn = list(self.turns)[a % len(self.turns)]
        made = list(self.made)[a % len(self.made)] if self.made else None
        if kind < 32:
            saw = [member for place, member in enumerate(CAST) if (a >> place) % 3 or a % 7 == place]
            self.say(session, CAST[b % 3], saw, text(a, b))
        elif kind < 36:
            self._aside(a, b)
        elif kind < 44:
            self._moved(kind, a, b, session, turn)
        elif kind < 52:
            self._marked(kind, b, turn)
        elif kind < 56 and turn not in self.fixed and self.turns[turn].witnesses is not None:
            self.put(
                events.TurnWitnessed(turn=turn, witnesses=tuple(m for place, m in enumerate(CAST) if (b >> place) & 1))
            )
        elif kind < 62 and turn not in self.fixed:
            name = ("Ozric", "Lamp Room", "Mr Hale", "Ozric Hale", "nonce" + turn)[b % 5]
            self.note("Quillon" if b % 9 == 0 else f"e{b % 4}x", turn, name)
        elif kind < 69:
            self._by_hand(a, b)
        elif kind < 82:
            self._learn(a, b, session, made)
        elif made is not None:
            self._went_on(kind, b, made, turn)

    def _aside(self, a: int, b: int) -> None:
        """What is said elsewhere: in main, in another story, by tools, or out of character."""
        if b % 4 == 0:
            self.say("main", "Quillon" if a % 2 else "you", None, text(a, b))
        elif b % 4 == 1 and not self.elsewhere:
            self.elsewhere = True
            self.put(StoryBegun(world="saga", text="Another"))
            self.put(CastSet(world="saga", member="m9", seat="host", text="Bea Lamplight"))
            self.put(SessionStarted(session="other", world="saga", client="test", said_at=START_MS))
        elif b % 4 == 1:
            self.say("other", "m9", ("m9",), text(a, b))
        elif b % 4 == 2:
            self.say("s0", "you", (), text(a, b), role="note")
        else:
            self.say("s0", "search", (BEA,) if a % 2 else (), text(a, b), role="tool")

    def _moved(self, kind: int, a: int, b: int, session: str, turn: str) -> None:
        own = [id for id, each in self.turns.items() if each.session == session]
        if kind < 40 and own and self.put(move(session, own[a % len(own)])):
            self.heads[session] = own[a % len(own)]
        elif kind == 40:
            self.begin(f"s{len(self.heads)}", TALE)
        elif kind < 43 and len(self.heads) < 6:
            self._fork(a, b, session)
        elif kind == 43 and b % 2 == 0 and not self.forked:
            self.put(CastReset(world=TALE, member=BEA, since=self.numbers[turn] - 1))
            self.fixed |= {each for each in self.turns if self.numbers[each] < self.numbers[turn]}

    def _fork(self, a: int, b: int, session: str) -> None:
        """A chat that goes on from a turn that Bea saw and will have seen; in a what-if, or in the same world."""
        saw = final(self.events)
        own = [id for id, each in self.turns.items() if each.session == session and id in saw]
        if own:
            at, new = own[a % len(own)], f"s{len(self.heads)}"
            world = f"if{new}" if b % 2 else self.worlds[session]
            if self.put(fork(new, session, at, world)):
                self.heads[new], self.worlds[new] = at, world
                self.fixed.add(at)
                self.forked = True

    def _marked(self, kind: int, b: int, turn: str) -> None:
        """Hidden, rated, withheld, pinned or deleted."""
        one: Sequence[Callable[..., Event]] = (hide, unhide, withhold, release, pin, unpin)
        if kind < 50:
            world = list(self.worlds.values())[b % len(self.worlds)] if b % 2 and kind == 48 else None
            self.put(one[kind - 44](turn=turn, **({"world": world} if world is not None else {})))
        elif kind == 50:
            self.put(rate(turn, b % 4))
        elif b % 3 == 0 and turn not in self.fixed:
            self.put(delete(turn))

    def _by_hand(self, a: int, b: int) -> None:
        """What people say of entities: of those that Bea knew from the beginning, and of those she never hears of."""
        known = [SURE + "0", SURE + "1", UNHEARD + "0", UNHEARD + "1"]
        entity, other, world = known[a % 4], known[b % 4], list(self.worlds.values())[b % len(self.worlds)]
        tells = [turn for turn, whom in self.noted.items() if entity in whom]
        one: Sequence[Event] = (
            events.EntityNamed(entity=entity, world=world, text=("Ozric", "Dog", "nonce" + entity)[a % 3]),
            events.EntityMerged(entity=entity, into=other if a % 3 else None, world=world),
            events.EntityAliased(alias=f"alias{entity}", entity=entity, world=world, text="Old Salt"),
            events.EntitySplit(
                entity=entity, other=f"split{entity}", items=tuple(tells[: 1 + b % 2]), world=world, text="Storm King"
            ),
        )
        self.put(one[(a + b) % 4])

    def _learn(self, a: int, b: int, session: str, made: str | None) -> None:
        """A memory, a revision, what was made from two, or in place of one."""
        id, turns = f"o{len(self.made):03}x", list(self.turns)
        sources = tuple(dict.fromkeys((turns[a % len(turns)], turns[(a * b) % len(turns)])[: 1 + b % 2]))
        about = tuple(dict.fromkeys(each for source in sources for each in self.noted.get(source, ())))
        about = (*about, CAST[a % 3]) if b % 3 else about
        more: dict[str, Any] = {"world": self.worlds[session], "about": about, "text": f"{text(a, b)} nonce{id}"}
        more |= {"status": "candidate" if a % 5 == 0 else "active", "confidence": 0.3 + (a % 7) / 10}
        before = self.made[made] if made is not None and b % 4 else None
        if before is not None and a % 3 == 0:  # the words of one turn alone
            event = observed(id, *sources, origin="verbatim", **more).model_copy(
                update={"series": before.series, "supersedes": before.observation}
            )
        elif before is not None and a % 3 == 1:
            event = observed(id, *sources, after=before, origin="user" if b % 2 else "model", **more)
        else:
            event = observed(id, *sources, **more)
            if before is not None and b % 2:
                event = event.model_copy(update={"instead_of": before.observation})
            elif before is not None:
                event = self._synthesis(event, before, list(self.made.values())[b % len(self.made)])
        if self.put(event):
            self.made[id] = event
            if len(event.about) > 1:
                holds = bool(b % 5)
                relation = events.Relation(
                    subject=about[0], kind=("works_with", "knows")[a % 2], object=about[1], polarity=holds,
                    word="mate" if a % 2 else None, until="2020" if b % 7 == 0 else None,
                )  # fmt: skip
                self.put(events.RelationNoted.of(id, relation))

    def _synthesis(self, event: ObservationMade, one: ObservationMade, other: ObservationMade) -> ObservationMade:
        sources = tuple(dict.fromkeys((*one.sources, *other.sources)))
        parents = one.observation, other.observation
        return event.model_copy(update={"parents": parents, "sources": sources, "about": ()})

    def _went_on(self, kind: int, b: int, made: str, turn: str) -> None:
        """What becomes of a memory."""
        one: Sequence[Event] = (
            support(made, turn, 0.1),
            support(made, turn, 0.2),
            retire(made, turn),
            retire(made, turn),
            retire(made),
            reinforce(made, turn, 0.1, 0.5, 0.6),
            promote(made),
            reject(made),
            give_back(made, "active"),
            pin(observation=made),
            pin(observation=made, world=list(self.worlds.values())[b % len(self.worlds)]),
            unpin(observation=made),
            titled("s0", f"About nonce{turn}", turn),
        )
        if kind < 97:
            self.put(one[(kind - 82) % len(one)])
        elif b % 5 == 0 and not any(each.instead_of for each in self.made.values()):  # whose words would go, too
            self.put(forget(self.made[made].series))
        elif b % 5 == 1:
            for event in read(f"doc{self.count}", f"chunk{self.count}"):
                self.put(event)
            self.chunks.append(f"chunk{self.count}")
        elif self.chunks:
            self.put(support(made, self.chunks[-1], 0.1))


def final(stored: Iterable[tuple[int, Event]], member: str = BEA) -> set[str]:
    """The turns that a member saw since it was reset, whatever was said of that meanwhile."""
    saw: dict[str, tuple[int, bool]] = {}
    since = 0
    for seq, event in stored:
        match event:
            case TurnSaid(turn=turn, witnesses=members):
                saw[turn] = seq, member in (members or ())
            case events.TurnWitnessed(turn=turn, witnesses=members):
                saw[turn] = saw[turn][0], member in members
            case CastReset(member=reset, since=event_since) if reset == member:
                since = event_since
            case _:
                pass
    return {turn for turn, (seq, seen) in saw.items() if seen and seq > since}


class Twin:
    """A story without what a member did not see."""

    def __init__(self, tale: Tale) -> None:
        self._kept = final(tale.events)
        self._parents = {turn: event.parent for turn, event in tale.turns.items()}
        self._deleted: set[str] = set()
        self._made: dict[str, str] = {}  # series, by observation
        self._of_series: dict[str, list[str]] = {}  # by series as it was, those that are left
        self._known: set[str] = set(CAST)  # entities
        self.unseen = set(tale.turns) - self._kept
        self.events = [each for _, event in tale.events for each in self._without(event)]
        self.unknown = set(tale.made) - set(self._made)
        self.unheard = {entity for whom in tale.noted.values() for entity in whom} - self._known

    def _nearest(self, turn: str | None) -> str | None:
        while turn is not None and (turn not in self._kept or turn in self._deleted):
            turn = self._parents[turn]
        return turn

    def _without(self, event: Event) -> list[Event]:
        match event:
            case TurnSaid(turn=turn):
                found = event.model_copy(update={"parent": self._nearest(event.parent)})
                return [found] if turn in self._kept else []
            case events.HeadMoved(session=session, turn=turn):
                return [move(session, self._nearest(turn))]
            case events.TurnDeleted(turn=turn):
                self._deleted.add(turn)
                return [event] if turn in self._kept else []
            case CastReset() | events.SessionTitled():
                return []
            case StoryBegun(world="saga") | CastSet(world="saga") | SessionStarted(session="main" | "other"):
                return []
            case events.PinSet(observation=str() as made) | events.PinCleared(observation=str() as made):
                return [event] if made in self._made else []
            case events.ObservationDeleted(series=series):
                left = dict.fromkeys(self._made[each] for each in self._of_series.get(series, ()))
                return [forget(each) for each in left]
            case events.EntityNoted(entity=entity, by_turn=turn):
                self._known |= {entity} if turn in self._kept else set()
                return [event] if turn in self._kept else []
            case events.EntityNamed() | events.EntityMerged() | events.EntityAliased() | events.EntitySplit():
                return self._of_entities(event)
            case ObservationMade():
                return self._learned(event)
            case events.ObservationSupported(observation=made, source=turn):
                return [event] if made in self._made and turn in self._kept else []
            case events.ObservationReinforced(observation=made, by_turn=turn):
                return [event] if made in self._made and turn in self._kept else []
            case events.ObservationRetired(observation=made, by_turn=by):
                return [event] if made in self._made and (by is None or by in self._kept) else []
            case _ if (turn := getattr(event, "turn", None)) is not None:
                return [event] if turn in self._kept else []
            case _ if (of := getattr(event, "observation", None)) is not None:
                return [event] if of in self._made else []
            case _:
                return [event] if event.kind not in ("chunk.read", "document.read") else []

    def _of_entities(
        self, event: events.EntityNamed | events.EntityMerged | events.EntityAliased | events.EntitySplit
    ) -> list[Event]:
        if event.entity not in self._known or (
            isinstance(event, events.EntityMerged) and event.into not in (None, *self._known)
        ):
            return []
        if isinstance(event, events.EntitySplit):
            self._known.add(event.other)
            return [event.model_copy(update={"items": tuple(each for each in event.items if each in self._kept)})]
        if isinstance(event, events.EntityAliased):
            self._known.add(event.alias)
        return [event]

    def _learned(self, event: ObservationMade) -> list[Event]:
        if not set(event.sources) <= self._kept:
            return []
        before = event.supersedes if event.supersedes in self._made else None
        series = self._made[before] if before is not None else event.observation
        self._made[event.observation] = series
        self._of_series.setdefault(event.series, []).append(event.observation)
        instead = event.instead_of if event.instead_of in self._made else None
        return [event.model_copy(update={"supersedes": before, "series": series, "instead_of": instead})]


def told_twice(folder: Path, steps: Sequence[Deed], meanwhile: Callable[[Tale], object]) -> tuple[Tale, Twin, Memory]:
    """A story, what is left of it, and the memory of that; both memories are open.

    `meanwhile` is called now and then as the story goes on.
    """
    tale = Tale(Memory.open(folder / "whole", command="test"))
    for number, step in enumerate(steps):
        tale.step(*step)
        if number % ASKED_EVERY == 0:
            meanwhile(tale)
    twin = Twin(tale)
    memory = Memory.open(folder / "twin", command="test")
    memory.append(*twin.events)
    return tale, twin, memory
