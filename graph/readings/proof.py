"""Observations as values: the rows of the graph joined with the words that prove them, whatever their number."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graph.events import MAIN_WORLD, ObservationKind, Role
from graph.ids import as_datetime
from graph.readings.statistics import trend
from graph.readings.worlds import InWorld
from graph.values import Observation, Proof

Row = dict[str, Any]
Query = Callable[[str, Mapping[str, Any]], list[Row]]

_COLUMNS = (
    "id, series, text, kind, status, confidence, grounded, origin, world, project, scope, at, first_seen, live,"
    " current, supersedes"
)
RETURN = "RETURN " + ", ".join(f"o.`{name}` AS `{name}`" for name in _COLUMNS.split(", "))

_PROOF = """
MATCH (o:Observation)-[r:DERIVED_FROM|SUPPORTED_BY|REINFORCED_BY]->(t:Turn:Chunk)
WHERE o.id IN $ids AND {}
RETURN o.id AS observation, label(r) AS relation, label(t) AS label, t.id AS id, r.at AS at, r.amount AS amount,
    t.role AS role, t.speaker AS speaker
ORDER BY at, id
"""
_ABOUT = """
MATCH (o:Observation)-[:ABOUT]->(e:Entity) WHERE o.id IN $ids AND (e.name IS NOT NULL OR e.name_seq IS NULL)
RETURN o.id AS observation, coalesce(e.name, e.id) AS name ORDER BY name
"""
# What a person puts right is what the revision before was made from: theirs is made from that too, and dies with it.
_CORRECTED = """
MATCH (o:Observation)-[:SUPERSEDES]->(b:Observation)-[:DERIVED_FROM]->(t:Turn:Chunk)
WHERE o.id IN $ids AND o.origin = 'user' RETURN DISTINCT o.id AS observation, t.id AS id
"""
_OWNERS = """
MATCH (o:Observation)-[:DERIVED_FROM]->(:Turn:Chunk)-[:IN_SESSION|PART_OF]->(s:Session:Document)
WHERE o.id IN $ids AND s.project IS NOT NULL RETURN DISTINCT o.id AS observation, s.project AS project ORDER BY project
"""
_IN_MAIN = "t.live AND NOT coalesce(t.withheld, false) AND coalesce(t.world, 'main') = 'main'"
_ANYWHERE = "NOT coalesce(t.withheld, false) AND (label(t) = 'Turn' OR t.live)"
# No CASE: after a filter the engine answers one row twice with it, and loses another (Kuzu 0.11.3).
_TURNS = """
MATCH (o:Observation)-[r:DERIVED_FROM|SUPPORTED_BY|REINFORCED_BY|RETIRED_BY]->(t:Turn) WHERE o.id IN $ids
RETURN o.id AS observation, label(r) AS relation, t.id AS id, t.at AS at, t.live AND NOT t.withheld AS live,
    t.world AS world, t.seq AS seq, t.role AS role, t.speaker AS owner, t.session AS place,
    t.hidden OR t.deleted AS gone, t.text AS text
ORDER BY at, id
"""
_CHUNKS = """
MATCH (o:Observation)-[r:DERIVED_FROM|SUPPORTED_BY]->(c:Chunk) WHERE o.id IN $ids
OPTIONAL MATCH (c)-[:PART_OF]->(d:Document)
RETURN o.id AS observation, label(r) AS relation, c.id AS id, c.at AS at, c.live AS live,
    coalesce(d.title, '') AS owner, c.document AS place, false AS gone, c.text AS text
ORDER BY at, id
"""


@dataclass(slots=True)
class _Found:
    """What proves one observation; times are UTC milliseconds, in order."""

    times: list[int] = field(default_factory=list)
    projects: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    supports: list[str] = field(default_factory=list)
    echoes: list[int] = field(default_factory=list)
    corrected: list[str] = field(default_factory=list)
    added: float = 0.0
    proposed_by: str = ""


def with_proof(
    query: Query, rows: Sequence[Row], now: datetime, pinned: Collection[str], view: InWorld | None = None
) -> list[Observation]:
    """The observations of rows of RETURN, in their order, as they stand in main, or in a world; `pinned` are series."""
    ids = {"ids": [row["id"] for row in rows]}
    if not rows:
        return []
    about: dict[str, list[str]] = defaultdict(list)
    for row in query(_ABOUT, ids):
        about[row["observation"]].append(row["name"])
    proof: dict[str, _Found] = defaultdict(_Found)
    for row in query(_OWNERS, ids):
        proof[row["observation"]].projects.append(row["project"])
    for row in _standing(query, ids, view):
        _add(proof[row["observation"]], row)
    if any(row["origin"] == "user" and row["supersedes"] for row in rows):
        for row in query(_CORRECTED, ids):
            proof[row["observation"]].corrected.append(row["id"])
    return [_observation(row, proof[row["id"]], tuple(about[row["id"]]), now, row["series"] in pinned) for row in rows]


def proofs(query: Query, ids: Sequence[str], view: InWorld | None = None) -> dict[str, tuple[Proof, ...]]:
    """All words behind observations, live or not, by their ids, the oldest first; of main, or of what a world knows."""
    found: dict[str, list[Proof]] = {id: [] for id in ids}
    for kind, words in (("turn", _TURNS), ("chunk", _CHUNKS)):
        rows = query(words, {"ids": list(ids)})
        for row in rows if kind == "chunk" else _known(rows, view):
            found[row["observation"]].append(
                Proof(
                    id=row["id"],
                    kind="turn" if kind == "turn" else "chunk",
                    relation=row["relation"],
                    at=as_datetime(row["at"]),
                    live=row["live"],
                    speaker=row["owner"],
                    session=row["place"],
                    text=None if row["gone"] else row["text"],
                    role=row["role"] if kind == "turn" else "",
                )
            )
    return {id: tuple(sorted(of, key=lambda each: each.at)) for id, of in found.items()}


def _standing(query: Query, ids: Mapping[str, Any], view: InWorld | None) -> list[Row]:
    """The relationships to what stands in main, or in a world."""
    if view is None:
        return query(_PROOF.format(_IN_MAIN), ids)
    rows = query(_PROOF.format(_ANYWHERE), ids)
    stands = view.standing({row["id"] for row in rows if row["label"] == "Turn"})
    return [row for row in rows if row["label"] != "Turn" or row["id"] in stands]


def _known(rows: Sequence[Row], view: InWorld | None) -> list[Row]:
    """Turns of main; or those that a world sees, and others of it and of the worlds it left, from before it did."""
    if view is None:
        return [row for row in rows if row["world"] == MAIN_WORLD]
    seen = view.seen({row["id"] for row in rows})
    known = (row for row in rows if row["id"] in seen or view.lineage.knows(row["world"], row["seq"]))
    return [{**row, "live": seen.get(row["id"], False)} for row in known]


def _add(found: _Found, row: Row) -> None:
    found.added += row["amount"] or 0.0
    match row["relation"]:
        case "REINFORCED_BY":
            found.echoes.append(row["at"])
        case "DERIVED_FROM":
            found.sources.append(row["id"])
            if row["role"] == Role.TOOL:  # a call is a source only of what it proposes
                found.proposed_by = row["speaker"]
            found.times.append(row["at"])
        case _:
            found.supports.append(row["id"])
            found.times.append(row["at"])


def _observation(row: Row, found: _Found, about: tuple[str, ...], now: datetime, pinned: bool) -> Observation:
    project = "" if len(found.projects) > 1 else next(iter(found.projects), None)
    has_tags = row["scope"] != (row["project"] or "global")
    times = tuple(map(as_datetime, found.times))
    corrected = set(found.corrected) if not set(found.sources) <= set(found.corrected) else set[str]()
    first_seen = as_datetime(row["first_seen"])
    return Observation(
        **{name: row[name] for name in ("id", "series", "text", "status", "grounded", "origin", "world")},
        project=project,
        scope=row["scope"] if has_tags else ",".join(found.projects) or "global",
        tags=tuple(row["scope"].split(",")) if has_tags else (),
        kind=ObservationKind(row["kind"]),
        confidence=min(1.0, row["confidence"] + found.added),
        at=as_datetime(row["at"]),
        first_seen=first_seen,
        live=row["live"],
        current=row["current"],
        pinned=pinned,
        proof_count=len(found.times) - len(corrected.intersection(found.sources)),
        trend=trend(times, now, first_seen),
        times=times,
        sources=tuple(found.sources),
        supports=tuple(found.supports),
        about=about,
        reference_count=len(found.echoes),
        last_referenced_at=as_datetime(found.echoes[-1]) if found.echoes else None,
        supersedes=row["supersedes"],
        proposed_by=found.proposed_by if row["origin"] == "model" else "",  # in other words it is the user's own
        corrected=tuple(sorted(corrected)),
    )
