"""Random lawful histories in which things are learned, and the plainest possible idea of what then holds.

Every turn and chunk says a word that is its own, and whatever is derived says the words of all its sources.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from hypothesis import strategies as st

from graph import events
from tests.examples import soaking
from tests.graph.believed import Believed, Judged, Revision
from tests.graph.deeds import assign, pin, rate, release, titled, unpin, withhold, write
from tests.graph.talk import reply
from tests.graph.teach import forget, give_back, noted, observed, promote, reinforce, reject, remove, retire, support
from tests.graph.who import Who

SELDOM = {0, 1, 8, 11, 14, 17}

# Talk, then what is learned of it; twice as much of the latter as there are kinds of it.
STEP = st.tuples(st.integers(0, 18) | st.integers(19, 49), st.integers(0, 999), st.integers(0, 999))
LESSONS = st.lists(STEP, min_size=20, max_size=80 if soaking() else 40)


def word(source: str) -> str:
    return f"<{source}>"


def words(sources: Iterable[str]) -> str:
    return " ".join(map(word, sources))


@dataclass
class Lessons(Believed):
    """A conversation of which something is learned."""

    related: dict[str, tuple[str, str]] = field(default_factory=dict)  # by observation, whom it says something of
    who: Who = field(default_factory=Who)

    def step(self, kind: int, a: int, b: int) -> None:
        turns, kept = list(self.home), [id for id, each in self.revisions.items() if not each.deleted]
        if kind in SELDOM and b % 4 and self.world:
            kind = 3  # or there would be little that lives
        if kind == 15 and turns:
            session = list(self.world)[a % len(self.world)]
            self._title(session, self._some(a, b, self.world[session]))
        elif kind <= 18 or not turns:
            super().step(min(kind, 18), a, b)
        elif kind <= 26 or not kept:
            self._learn(a, b, kept)
        elif kind <= 33:
            self._go_on(kind, kept[a % len(kept)], b)
        elif kind <= 36:
            self._withhold(turns[a % len(turns)], b)
        elif kind <= 40:
            self._read(f"doc{a % 2}", b)
        else:
            self._more(kind, a, b)

    def _some(self, a: int, b: int, world: str = "main") -> tuple[str, ...]:
        """One or two turns and chunks, mostly of those that stand in a world."""
        every = [*self.home, *self.chunks]
        if a % 4:
            standing = self.standing(world)
            every = [source for source in every if source in standing] or every
        return tuple(dict.fromkeys(every[(a + step * b) % len(every)] for step in range(1 + b % 2)))

    def _title(self, session: str, sources: tuple[str, ...]) -> None:
        self.versions.setdefault(("Session", session), []).append((len(self.events), sources))
        self.events.append(titled(session, words(sources), *sources))

    def _learn(self, a: int, b: int, kept: list[str]) -> None:
        world = list(self.world.values())[b % len(self.world)]
        id, sources = f"memory{len(self.revisions)}", self._some(a, b, world)
        kept = [each for each in kept if self.may_see(world, self.revisions[each])]
        before = kept[a % len(kept)] if kept and b % 3 else None
        instead = kept[b % len(kept)] if kept and a % 4 == 0 else None
        series = id
        if before is not None:
            series = self.revisions[before].series
            sources = tuple(dict.fromkeys((*self.revisions[before].sources, *sources)))
        judged: Judged = "candidate" if a % 3 == 0 else "active"
        parents = self._parents(a, b, kept) if before is None else ()
        sources = tuple(
            dict.fromkeys((*(each for parent in parents for each in self.revisions[parent].sources), *sources))
        )
        more: dict[str, Any] = {
            "supersedes": before,
            "series": series,
            "status": judged,
            "instead_of": instead,
            "world": world,
        }
        made = observed(id, *sources, text=words(sources), parents=parents or None, **more)
        about = ("you",) if any(getattr(event, "speaker", None) == "you" for event in self.events) else ()
        self.events.append(made.model_copy(update={"about": about, "tags": ("b", "a")[: b % 3]}))
        self.revisions[id] = Revision(series, sources, before, instead, judged, world, len(self.events))
        self.revisions[id].parents = self.revisions[before].parents if before is not None else parents
        known = sorted({each.entity for each in self.events if isinstance(each, events.EntityNoted)} | {*about})
        if len(known) > 1 and a % 5:
            subject, object = known[a % len(known)], known[(a + 1) % len(known)]
            relation = events.Relation(subject=subject, kind="works_with", object=object, polarity=b % 3 > 0)
            self.related[id] = subject, object
            self.events.append(events.RelationNoted.of(id, relation))

    def _parents(self, a: int, b: int, kept: list[str]) -> tuple[str, ...]:
        """Two of those that a world may see, of different series, for every second that is new; else none."""
        if len(kept) < 2 or (a + b) % 2:
            return ()
        one, other = kept[a % len(kept)], kept[(a + 1 + b % (len(kept) - 1)) % len(kept)]
        return (one, other) if self.revisions[one].series != self.revisions[other].series else ()

    def _go_on(self, kind: int, id: str, b: int) -> None:
        """Something more about an observation."""
        revision, source = self.revisions[id], self._some(b, b)[0]
        new = (f"{kind}", source) not in revision.proof
        if kind == 27 and new and source not in revision.sources:
            self.events.append(support(id, source, amount=0.1))
        elif kind == 28 and new and source in self.home:
            self.events.append(reinforce(id, source, 0.02, 0.5, 0.52))
        elif kind <= 30 and source in self.home and ("30", source) not in revision.proof:
            kind = 30
            self.events.append(retire(id, source))
            revision.against.add(source)
        elif kind == 33 and b % 4 == 0:
            self.events.append(forget(revision.series))
            self.forget(revision.series)
        elif kind > 30:
            self._review(id, revision, b)
        revision.proof.add((f"{kind}", source))

    def _review(self, id: str, revision: Revision, b: int) -> None:
        if b % 4 == 0:
            self.events.append(pin(observation=id) if b % 8 else unpin(observation=id))
        elif revision.judged == "candidate" and b % 4 == 1:
            self.events.append(promote(id))
            revision.judged = "active"
        elif revision.judged == "invalid":
            self.events.append(give_back(id, "active"))
            revision.judged = "active"
            revision.against.clear()
        else:
            by_hand = reject(id) if b % 4 == 2 else retire(id)
            self.events.append(by_hand)
            revision.judged = "invalid"

    def _withhold(self, turn: str, b: int) -> None:
        if b % 3 == 0:
            self.events.append(release(turn))
            self.withheld.discard(turn)
        elif b % 3 == 1:
            self.events.append(withhold(turn))
            self.withheld.add(turn)
        else:
            self.events.append(rate(turn, b % 4))
            self.rated[turn] = b % 4

    def _read(self, document: str, b: int) -> None:
        """A document is read again: some chunks of before, and maybe a new one; or it is removed."""
        if document in self.removed:
            return
        if b % 7 == 0 and document in self.readings:
            self.events.append(remove(document))
            self.removed.add(document)
            return
        known = [chunk for chunk, of in self.chunks.items() if of == document]
        if b % 2 or not known:
            chunk = f"chunk{len(self.chunks)}"
            self.events.append(events.ChunkRead(chunk=chunk, document=document, text=word(chunk)))
            self.chunks[chunk] = document
            known.insert(0, chunk)
        held = tuple(known[b % 3 :])
        self.events.append(
            events.DocumentRead(document=document, category="text", size=b, chunks=held, text=f"t{b}\np")
        )
        self.readings[document] = held

    def _more(self, kind: int, a: int, b: int) -> None:
        sessions, turns = list(self.world), list(self.home)
        session, turn = sessions[a % len(sessions)], turns[b % len(turns)]
        project = f"project{b % 2}"
        if kind == 41:
            self.events.append(noted(f"entity{a % 3}", f"name {b}", turn, category="place"))
        elif kind == 42 and b % 3:
            self.events.append(assign(session, project if b % 2 else None))
            self.projects[session] = project if b % 2 else None
        elif kind == 42:
            self.events.append(events.ProjectMade(project=project, text=f"description {b}"))
        elif kind >= 45:
            self._care(kind, a, b)
        elif kind == 43:
            self._write(self.world[session], self._some(a, b, self.world[session]) if a % 3 else (), b)
        else:
            self._quote(session, a, b)
            self.events.append(
                events.ReflectionDone(reflection=f"r{len(self.events)}", turns=(turn,), trust="verbatim")
            )

    def _care(self, kind: int, a: int, b: int) -> None:
        """A person says who somebody is, in a world."""
        named = {each.entity for each in self.events if isinstance(each, events.EntityNoted)}
        known = sorted(named | self.who.others() | self.who.aliases())
        if any(getattr(event, "speaker", None) == "you" for event in self.events):
            known.append("you")
        world = list(self.world.values())[b % len(self.world)] if b % 3 else "main"
        if not known:
            return
        entity, other = known[a % len(known)], known[(a + 1 + b) % len(known)]
        lineage = self.worlds_of(world)
        event: events.EntityChange | None = None
        if kind == 45:
            event = events.EntityNamed(entity=entity, world=world, text=f"called {b}" if b % 4 else None)
        elif kind == 46 and entity != "you":
            event = events.EntityKinded(entity=entity, world=world, category="group" if b % 3 else None)
        elif kind == 47 and entity != "you":
            there = other if b % 3 and not self.who.view(lineage).leads_to(other, entity) else None
            event = events.EntityMerged(entity=entity, into=there, world=world)
        elif kind == 49:
            event = self._alias(entity, world, a, b)
        elif kind == 48:
            event = self._split(entity, world, a, b)
        if event is not None:
            self.events.append(event)
            self.who.events.append((len(self.events), event))

    def _split(self, entity: str, world: str, a: int, b: int) -> events.EntitySplit:
        every = [*self.home, *self.revisions]
        items = tuple(dict.fromkeys(every[(a + step * 7) % len(every)] for step in range(b % 4)))
        others = sorted(self.who.others() - {entity})
        if others and a % 2:
            return events.EntitySplit(entity=entity, other=others[b % len(others)], items=items, world=world)
        other = f"other{len(self.events)}"
        return events.EntitySplit(entity=entity, other=other, items=items, world=world, text=f"born {b}")

    def _alias(self, entity: str, world: str, a: int, b: int) -> events.EntityAliased | None:
        there = sorted(self.who.aliases())
        if not there or a % 2:
            new = f"alias{len(self.events)}"
            return events.EntityAliased(alias=new, entity=entity, world=world, text=f"alias {b}")
        alias = there[a % len(there)]
        circle = self.who.view(self.worlds_of(world)).leads_to(entity, alias)
        return events.EntityAliased(alias=alias, entity=entity if b % 2 and not circle else None, world=world)

    def worlds_of(self, world: str) -> dict[str, int | None]:
        """A world and those it comes from, each with the event up to which it knows of it."""
        found: dict[str, int | None] = {world: None}
        while world in self.at_fork:
            fork = self.at_fork[world]
            world, found[fork.parent] = fork.parent, fork.number
        return found

    def _write(self, world: str, sources: tuple[str, ...], b: int) -> None:
        block = "human" if world == "main" else f"human\n{world}"
        self.blocks[block] = world
        self.versions.setdefault(("CoreBlock", block), []).append((len(self.events), sources))
        by: Literal["user", "agent"] = "agent" if sources else "user"
        text = words(sources) if b % 5 else ""
        self.events.append(write("human", text, *sources, by=by, world=world))

    def _quote(self, session: str, a: int, b: int) -> None:
        """A reply that was given observations and chunks too."""
        turn = f"turn{len(self.home)}"
        items = [
            events.Recalled(id=f"memory{a % 5}", kind="observation", score=0.5, ranks={"observation": 1}),
            events.Recalled(id=f"chunk{b % 3}", kind="chunk", score=0.25),
            events.Recalled(id="human", kind="block"),
        ]
        parent = self.head[session]
        self.events.append(reply(turn, session, parent=parent, text=word(turn), recalled=items))
        self.home[turn] = session
        self._place(turn, parent)


def taught(steps: Iterable[tuple[int, int, int]]) -> Lessons:
    lessons = Lessons()
    for kind, a, b in steps:
        lessons.step(kind, a, b)
    return lessons
