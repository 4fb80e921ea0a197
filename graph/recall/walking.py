"""From whom a question names, over at most two edges of the graph, to the turns and memories that tell of them.

Relationships lead to others (`RELATES`), and from each there are the memories about them (`ABOUT`) and the turns that
name them (`MENTIONS`). What is one edge away stands in for half of the words that named whom it began at, what is two
away for a quarter; what has those words itself is lent nothing. But what tells a relationship of a kind that the
question asks for is lent all of them, whatever it has. No way meets anybody twice.

Invariants: the graph proposes, and the columns decide: an edge counts only where the memory that says it stands in the
world asked about, is in use, and may be seen. Where there are many neighbours only the newest are followed, and whoever
has a crowd of them leads no further. While the graph is being opened or made anew nothing is reached. For a member of a
story's cast it is what that one knows of, not the graph, that proposes (knowing.py).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from graph.errors import GraphFailure
from graph.recall.columns import Columns
from graph.recall.evidence import Evidence, Term
from graph.recall.learned import DERIVED, LearnedIndex
from graph.recall.naming import Seed
from graph.recall.observing import proof
from graph.recall.request import VisibleRows
from graph.recall.scoring import WORDS, around, term_worth
from graph.recall.table import NONE
from graph.relations import kinds
from graph.values import CalledBy, Step

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

SHARES = (0.5, 0.25)  # of the words that named somebody: what is one edge away, and two
NEWEST = 64  # relationships of each kind that are followed from whoever is named
CROWD = 200  # neighbours of one kind from which somebody leads no further that way
FOLLOWED = 12  # people reached that are followed
PATIENCE_S = 1.0  # for one query; each takes some milliseconds

# By a list of ids the engine looks them up at once; UNWIND of them reads all edges.
_RELATES = """
MATCH (a:Entity){}(b:Entity) WHERE a.id IN $ids AND ($kind = '' OR r.kind = $kind)
RETURN a.id AS id, r.kind AS kind, r.observation AS observation, b.id AS other, r.until AS until, r.polarity AS holds
ORDER BY observation DESC LIMIT $most
"""
_OUT, _IN = _RELATES.format("-[r:RELATES]->"), _RELATES.format("<-[r:RELATES]-")
_ABOUT = """
MATCH (a:Entity)<-[:ABOUT]-(o:Observation) WHERE a.id IN $ids
RETURN a.id AS id, o.seq AS seq ORDER BY seq DESC LIMIT $most
"""
_MENTIONS = """
MATCH (a:Entity)<-[:MENTIONS]-(t:Turn) WHERE a.id IN $ids AND NOT t.deleted
RETURN a.id AS id, t.seq AS seq ORDER BY seq DESC LIMIT $most
"""
_DEGREES = """
MATCH (a:Entity)-[r:RELATES|ABOUT|MENTIONS]-() WHERE a.id IN $ids
RETURN a.id AS id, label(r) AS edge, count(*) AS total
"""
_WORDS = "MATCH (o:Observation) WHERE o.id IN $ids RETURN o.id AS id, o.word AS word"


class AskedGraph(Protocol):
    """A graph that can be asked, if it is `ready`."""

    @property
    def ready(self) -> bool: ...

    def query(self, cypher: str, parameters: Mapping[str, Any] | None, *, timeout_s: float) -> list[dict[str, Any]]: ...


class Ground(Protocol):
    """What is walked over. Raises GraphFailure where it cannot be asked."""

    def relations(self, ids: Sequence[str], kind: str, *, forward: bool) -> Iterable[Mapping[str, Any]]:
        """Relationships from some, or to them, of a kind or all, the newest memories first.

        Each has `id`, `kind`, the `observation` that says it, the `other`, `until`, and whether it `holds`.
        """

    def words(self, observations: Sequence[str]) -> Iterable[Mapping[str, Any]]:
        """The `id` of memories and the `word` that each says for a relationship."""

    def near(self, edge: str, ids: Sequence[str]) -> Iterable[Mapping[str, Any]]:
        """The `seq` of the memories about some (`ABOUT`), or the turns that name them (`MENTIONS`), each with the `id`
        of whom; the newest first."""

    def degrees(self, ids: Sequence[str]) -> Iterable[Mapping[str, Any]]:
        """How many neighbours some have (`total`), by `id` and kind of `edge`."""


class GraphGround:
    """The graph of the memory."""

    def __init__(self, graph: AskedGraph) -> None:
        self._graph = graph

    def relations(self, ids: Sequence[str], kind: str, *, forward: bool) -> list[dict[str, Any]]:
        return self._ask(_OUT if forward else _IN, ids, kind=kind)

    def words(self, observations: Sequence[str]) -> list[dict[str, Any]]:
        return self._ask(_WORDS, observations)

    def near(self, edge: str, ids: Sequence[str]) -> list[dict[str, Any]]:
        return self._ask(_ABOUT if edge == "ABOUT" else _MENTIONS, ids)

    def degrees(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        return self._ask(_DEGREES, ids)

    def _ask(self, query: str, ids: Sequence[str], **more: str) -> list[dict[str, Any]]:
        values: dict[str, Any] = {"ids": list(ids), **more}
        if "$most" in query:
            values["most"] = NEWEST * len(ids)
        return self._graph.query(query, values, timeout_s=PATIENCE_S)


@dataclass(frozen=True, slots=True)
class Hop:
    """Over a relationship to somebody: its kind, which way round, who is there, and the row of what says it."""

    kind: str
    forward: bool
    ended: bool
    holds: bool
    entity: str
    belief: int


@dataclass(frozen=True, slots=True)
class Way:
    """From a seed over relationships, and by the last `edge` to what was reached; without hops: the seed's own."""

    seed: Seed
    hops: tuple[Hop, ...]
    edge: str
    asked: bool = False  # it tells a relationship of a kind that the question asks for

    @property
    def share(self) -> float:
        """Of the seed's words; what tells of the relationship itself is where it leads."""
        if self.asked:
            return 1.0
        steps = len(self.hops) - (self.seed.called is not None) + (self.edge != DERIVED)
        return SHARES[min(max(steps, 1), len(SHARES)) - 1]

    def told(self, names: Mapping[str, str]) -> str:
        """It in words: "Ada —works with→ Bob —landlord of→ you"."""
        words = names.get(self.seed.entity, "")
        for hop in self.hops:
            arrow = f"—{_label(hop)}→" if hop.forward or not (hop.ended or not hop.holds) else f"←{_label(hop)}—"
            words += f" {arrow} {names.get(hop.entity, '')}"
        return words

    def steps(self, last: str) -> tuple[Step, ...]:
        """It as edges to the node that was reached."""
        hops = (Step("RELATES", hop.entity) for hop in self.hops)
        return (Step("named", self.seed.entity), *hops, Step(self.edge, last))


@dataclass(slots=True)
class Reached:
    """What was reached, by row: the way that gives most, of turns and of memories; and what people are called."""

    names: Mapping[str, str] = field(default_factory=dict)
    turns: dict[int, Way] = field(default_factory=dict)
    beliefs: dict[int, Way] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.turns or self.beliefs)

    def lend(self, evidence: Evidence, question: Sequence[str]) -> "NDArray[np.float32]":
        """float32[size]: what each turn is lent; `question` are the question's words, in order."""
        return _lent(self.turns, evidence, question, lambda term: around(evidence.tree, term.rows, evidence.size))

    def lend_beliefs(
        self, evidence: Evidence, terms: Sequence[Term], size: int, question: Sequence[str]
    ) -> "NDArray[np.float32]":
        """float32[size]: what each memory is lent; `terms` are the question's, with their rows among memories."""
        import numpy as np

        def held(term: Term) -> "NDArray[np.float32]":
            rows = np.zeros(size, np.float32)
            rows[term.rows] = 1
            return rows

        return _lent(self.beliefs, replace(evidence, size=size, terms=tuple(terms)), question, held)


def _lent(
    ways: Mapping[int, Way],
    evidence: Evidence,
    question: Sequence[str],
    held: "Callable[[Term], NDArray[np.float32]]",
) -> "NDArray[np.float32]":
    """What is reached gets its share of what the words are worth that named the seed, less what it has of them."""
    import numpy as np

    lent = np.zeros(evidence.size, np.float32)
    worth = {term.stem: term_worth(evidence, term) for term in evidence.terms}
    whole = sum(worth.values())
    for seed in dict.fromkeys(way.seed for way in ways.values()):
        said = [term for term in evidence.terms if whole and question[term.place] in seed.words]
        share = sum(worth[term.stem] for term in said) / whole if said else 1 / (1 + len(evidence.terms))
        rows = np.array([row for row, way in ways.items() if way.seed == seed], np.intp)
        shares = np.array([ways[int(row)].share for row in rows], np.float32)
        asked = np.array([ways[int(row)].asked for row in rows], np.bool_)
        has = sum((np.float32(worth[term.stem] / whole) * held(term) for term in said), np.zeros_like(lent))
        lent[rows] = np.maximum(np.float32(WORDS * share) * shares - np.where(asked, 0, has[rows]), 0)
    return lent


def walk(
    ground: Ground,
    seeds: Sequence[Seed],
    names: Mapping[str, str],
    columns: Columns,
    learned: LearnedIndex,
    sight: VisibleRows,
    asks: frozenset[str] = frozenset(),
) -> Reached:
    """All that is reached from the seeds. `asks` are kinds of relationship."""
    if not seeds or not sight.known.any():  # it is memories that say relationships
        return Reached()
    try:
        return _Walk(ground, names, columns, learned, sight, asks).run(seeds)
    except GraphFailure:  # it went away meanwhile, or took too long: recall goes on without
        return Reached()


Ways = dict[str, list[tuple[Seed, tuple[Hop, ...]]]]  # by whom they lead to


class _Walk:
    def __init__(
        self,
        ground: Ground,
        names: Mapping[str, str],
        columns: Columns,
        learned: LearnedIndex,
        sight: VisibleRows,
        asks: frozenset[str],
    ) -> None:
        self._ground, self._columns, self._learned, self._sight = ground, columns, learned, sight
        self._asks = asks
        self._speakers = None if sight.view is None else frozenset(sight.view.speakers)
        stands = sight.stood.in_use & sight.learned
        self._holds: Mask = stands & (proof(learned, sight.asked_for, sight.chunks_asked_for, (DERIVED,)) > 0)
        self._found = Reached(names)
        self._told: dict[int, Way] = {}  # what says the relationships that were walked over

    def run(self, seeds: Sequence[Seed]) -> Reached:
        """Over one relationship from each seed, and from whom that reaches over one more."""
        ways = self._first(seeds)
        ends = [end for end, found in ways.items() if any(hops for _, hops in found)][:FOLLOWED]
        unheard = {seed.entity for seed in seeds if not self._speaks(seed.entity)}
        degrees = self._degrees(list(dict.fromkeys([*ends, *unheard])))
        further: dict[str, None] = {}
        onward = self._relations([end for end in ends if degrees.get(end, {}).get("RELATES", 0) <= CROWD])
        for end, found in onward.items():
            for seed, hops in list(ways[end]):
                for hop in found if hops else ():
                    if self._tell(seed, hops, hop) and seed.called is not None:  # who is called so is whom it begins at
                        ways.setdefault(hop.entity, []).append((seed, (*hops, hop)))
                        further[hop.entity] = None
        self._prove()
        degrees |= self._degrees([end for end in further if end not in degrees][:FOLLOWED])
        for edge in ("ABOUT", "MENTIONS"):
            calm = [id for id in ways if 0 < degrees.get(id, {}).get(edge, 0) <= CROWD]
            self._neighbours(edge, calm, ways)
        return self._found

    def _first(self, seeds: Sequence[Seed]) -> "Ways":
        """The ways from seeds over one relationship, by whom they lead to; to themselves where they are named."""
        named = list(dict.fromkeys(seed.entity for seed in seeds if seed.called is None))
        found = self._relations(named)
        if len(named) > 1 and sum(map(len, found.values())) >= NEWEST:  # one may have left the others no room
            found = {id: hops for each in named for id, hops in self._relations([each]).items()}
        ways: Ways = {}
        for seed in seeds:
            hops = found.get(seed.entity, [])
            if seed.called is not None:
                hops = self._relations([seed.entity], seed.called.kind).get(seed.entity, [])
                hops = _called_so(hops, seed.called, self._words(hops))
            else:
                ways.setdefault(seed.entity, []).append((seed, ()))
            for hop in hops:
                self._tell(seed, (), hop)
                ways.setdefault(hop.entity, []).append((seed, (hop,)))
        return ways

    def _relations(self, ids: Sequence[str], kind: str = "") -> dict[str, list[Hop]]:
        """The relationships of some that count here, of a kind or all, the newest first."""
        found: dict[str, list[Hop]] = {}
        for forward in (True, False) if ids else ():
            for row in self._ground.relations(ids, kind, forward=forward):
                belief = self._learned.beliefs.row_of(row["observation"])
                if belief != NONE and self._holds[belief] and row["other"] != row["id"]:
                    ended, holds = row["until"] is not None, row["holds"]
                    hop = Hop(row["kind"], forward, ended, holds, row["other"], belief)
                    found.setdefault(row["id"], []).append(hop)
        return found

    def _words(self, hops: Iterable[Hop]) -> dict[int, str]:
        """What the speakers called those that relationships lead to, by the row of what says it."""
        ids = {self._learned.beliefs.ids([hop.belief])[0]: hop.belief for hop in hops}
        return {ids[row["id"]]: row["word"] or "" for row in self._ground.words(list(ids))} if ids else {}

    def _tell(self, seed: Seed, hops: tuple[Hop, ...], hop: Hop) -> bool:
        """What proves a relationship that is walked over, and the memory that says it; not if it leads back."""
        if hop.entity == seed.entity or any(hop.entity == each.entity for each in hops):
            return False
        way = Way(seed, (*hops, hop), DERIVED)
        self._reach(self._found.beliefs, hop.belief, replace(way, asked=hop.kind in self._asks))
        self._reach(self._told, hop.belief, way)
        return True

    def _prove(self) -> None:
        """The turns that relationships were told in which were walked over."""
        import numpy as np

        edges = self._learned.of_turns[DERIVED]
        walked = np.isin(edges.one, np.array(list(self._told), np.intp))
        for belief, row in zip(edges.one[walked].tolist(), edges.other[walked].tolist(), strict=True):
            self._turn(row, self._told[belief])

    def _neighbours(self, edge: str, ids: Sequence[str], ways: "Ways") -> None:
        """The memories or turns next to some that were reached."""
        import numpy as np

        rows = list(self._ground.near(edge, list(dict.fromkeys(ids)))) if ids else []
        table = self._columns if edge == "MENTIONS" else self._learned.beliefs
        places = table.rows(np.array([row["seq"] for row in rows], np.int64)).tolist() if rows else []
        for found, place in zip(rows, places, strict=True):
            for seed, hops in ways[found["id"]] if place != NONE else ():
                way = Way(seed, hops, edge)
                if edge == "MENTIONS":
                    self._turn(place, way)
                elif self._holds[place]:
                    self._reach(self._found.beliefs, place, way)

    def _turn(self, row: int, way: Way) -> None:
        if row != NONE and self._sight.turns[row]:
            self._reach(self._found.turns, row, way)

    def _reach(self, found: dict[int, Way], row: int, way: Way) -> None:
        if not way.hops and self._speaks(way.seed.entity):
            return  # who speaks is named in every other turn, and what they say is lifted anyway
        if row not in found or way.share > found[row].share:
            found[row] = way

    def _degrees(self, ids: Sequence[str]) -> dict[str, dict[str, int]]:
        """How many neighbours some have, by the kind of edge."""
        found: dict[str, dict[str, int]] = {id: {} for id in ids}
        for row in self._ground.degrees(ids) if ids else ():
            found[row["id"]][row["edge"]] = row["total"]
        return found

    def _speaks(self, entity: str) -> bool:
        if self._speakers is not None:
            return entity in self._speakers
        return self._columns.speakers.code(entity) != NONE


def _called_so(hops: Sequence[Hop], called: CalledBy, words: Mapping[int, str]) -> list[Hop]:
    """The relationships by which somebody is called so: by the very word, where one is; they hold, and are not over."""
    kind = kinds().get(called.kind)
    either = kind is not None and kind.symmetric
    fit = [
        hop
        for hop in hops
        if hop.kind == called.kind and hop.holds and not hop.ended and (either or hop.forward == called.turned)
    ]
    exact = [hop for hop in fit if words.get(hop.belief) == called.word]
    return exact or [hop for hop in fit if not words.get(hop.belief)]


def _label(hop: Hop) -> str:
    kind = kinds()[hop.kind]
    if not hop.holds or hop.ended:
        return _short(kind.denied if not hop.holds else kind.ended)
    return _short(kind.label if hop.forward else kind.inverse)


def _short(label: str) -> str:
    for start in ("is a ", "is the ", "is ", "was a ", "was the "):
        if label.startswith(start):
            return label.removeprefix(start) if not start.startswith("was") else f"once {label.removeprefix(start)}"
    return label
