"""Observations as values: their rows joined with the words that prove them, whatever their number."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graph.events import MAIN_WORLD, ObservationKind, Role
from graph.ids import as_datetime
from graph.projection.identities import Identities
from graph.readings.rows import AMONG, dicts
from graph.readings.statistics import trend
from graph.readings.worlds import InWorld
from graph.values import Named, Observation, Proof, Relationship

Row = dict[str, Any]

OBSERVATION = """
SELECT o.id, o.series, event.text, o.kind, o.status, o.confidence, o.grounded, o.origin, o.world, o.project, o.scope,
    o.at, o.first_seen, o.live, o.current, o.supersedes, o.parents,
    o.relation, o.subject, o.object, o.since, o.until, o.polarity, o.word
FROM observations AS o JOIN events AS event ON event.seq = o.seq
"""
_PROOF = f"""
SELECT links.start AS observation, links.rel AS relation, links.kind AS label, links.target AS id, links.at AS at,
    links.amount AS amount, t.role AS role, t.speaker AS speaker
FROM links LEFT JOIN turns AS t ON t.id = links.target LEFT JOIN chunks AS c ON c.id = links.target
WHERE links.start {AMONG} AND links.rel IN ('DERIVED_FROM', 'SUPPORTED_BY', 'REINFORCED_BY') AND ({{}})
ORDER BY links.at, links.target
"""
_ABOUT = f"SELECT start AS observation, key AS told FROM links WHERE start {AMONG} AND rel = 'ABOUT'"
_PARENTS = f"""
SELECT links.start AS observation, links.target AS id FROM links
WHERE links.start {AMONG} AND links.rel = 'SYNTHESIZED_FROM' ORDER BY links.target
"""
# What a person puts right is what the revision before was made from: theirs is made from that too, and dies with it.
_CORRECTED = f"""
SELECT DISTINCT o.id AS observation, links.target AS id FROM observations AS o
JOIN links ON links.start = o.supersedes AND links.rel = 'DERIVED_FROM' WHERE o.id {AMONG} AND o.origin = 'user'
"""
# The projects of what observations were made from: of the chat of a turn, of the document of a chunk that it holds.
OWNERS = """
SELECT links.start AS observation, sessions.project AS project FROM links
JOIN turns ON turns.id = links.target JOIN sessions ON sessions.id = turns.session
WHERE links.rel = 'DERIVED_FROM' AND sessions.project IS NOT NULL
UNION
SELECT links.start, documents.project FROM links
JOIN chunks ON chunks.id = links.target AND chunks.live JOIN documents ON documents.id = chunks.document
WHERE links.rel = 'DERIVED_FROM' AND documents.project IS NOT NULL
"""
_OWNERS = f"SELECT * FROM ({OWNERS}) WHERE observation {AMONG} ORDER BY project"
_IN_MAIN = "t.live AND NOT t.withheld AND t.world = 'main' OR c.live"
_ANYWHERE = "NOT t.withheld OR c.live"
_TURNS = f"""
SELECT links.start AS observation, links.rel AS relation, t.id AS id, t.at AS at, t.live AND NOT t.withheld AS live,
    t.world AS world, t.seq AS seq, t.role AS role, t.speaker AS owner, t.session AS place,
    t.hidden OR t.deleted AS gone, event.text AS text
FROM links JOIN turns AS t ON t.id = links.target JOIN events AS event ON event.seq = t.seq
WHERE links.start {AMONG} AND links.rel IN ('DERIVED_FROM', 'SUPPORTED_BY', 'REINFORCED_BY', 'RETIRED_BY')
ORDER BY t.at, t.id
"""
_CHUNKS = f"""
SELECT links.start AS observation, links.rel AS relation, c.id AS id, c.at AS at, c.live AS live,
    iif(c.live, coalesce(title.text, ''), '') AS owner, c.document AS place, 0 AS gone, event.text AS text
FROM links JOIN chunks AS c ON c.id = links.target JOIN events AS event ON event.seq = c.seq
LEFT JOIN documents AS d ON d.id = c.document LEFT JOIN events AS title ON title.seq = d.seq
WHERE links.start {AMONG} AND links.rel IN ('DERIVED_FROM', 'SUPPORTED_BY') ORDER BY c.at, c.id
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
    parents: list[str] = field(default_factory=list)
    added: float = 0.0
    proposed_by: str = ""


def with_proof(
    db: sqlite3.Connection, rows: Sequence[Row], now: datetime, pinned: Collection[str], view: InWorld | None = None
) -> list[Observation]:
    """Observations from rows of OBSERVATION, in their order, as they stand in main or a world; `pinned` are series."""
    ids = (json.dumps([row["id"] for row in rows]),)
    if not rows:
        return []
    who = Identities(db, MAIN_WORLD if view is None else view.lineage.world)
    about = _about(who, dicts(db, _ABOUT, ids))
    proof: dict[str, _Found] = defaultdict(_Found)
    for row in dicts(db, _OWNERS, ids):
        proof[row["observation"]].projects.append(row["project"])
    for row in _standing(db, ids, view):
        _add(proof[row["observation"]], row)
    if any(row["origin"] == "user" and row["supersedes"] for row in rows):
        for row in dicts(db, _CORRECTED, ids):
            proof[row["observation"]].corrected.append(row["id"])
    if any(row["parents"] for row in rows):
        for row in dicts(db, _PARENTS, ids):
            proof[row["observation"]].parents.append(row["id"])
    related = relationships(who, rows)
    return [
        _observation(row, proof[row["id"]], about.get(row["id"], ()), now, row["series"] in pinned, related)
        for row in rows
    ]


def _about(who: Identities, rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    """Whom observations are about, by name, from the entities that each is told about."""
    meant: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        meant[row["observation"]].add(who.meant(row["told"], row["observation"]))
    names = who.names({id for ids in meant.values() for id in ids})
    return {of: tuple(sorted(names[id] for id in ids if id in names)) for of, ids in meant.items()}


def relationships(who: Identities, rows: Sequence[Row]) -> dict[str, Relationship]:
    """How two stand to each other, by the observation that says it, from rows of OBSERVATION."""
    telling = [row for row in rows if row["relation"] is not None]
    ends = {row["id"]: [who.meant(row[end], row["id"]) for end in ("subject", "object")] for row in telling}
    names = who.names({id for each in ends.values() for id in each})
    named = {of: [Named(id, names.get(id, "")) for id in each] for of, each in ends.items()}
    return {
        row["id"]: Relationship(
            subject=named[row["id"]][0],
            kind=row["relation"],
            object=named[row["id"]][1],
            since=row["since"],
            until=row["until"],
            polarity=bool(row["polarity"]),
            word=row["word"],
        )
        for row in telling
    }


def proofs(db: sqlite3.Connection, ids: Sequence[str], view: InWorld | None = None) -> dict[str, tuple[Proof, ...]]:
    """All words behind observations, live or not, by their ids, the oldest first; of main, or of what a world knows."""
    found: dict[str, list[Proof]] = {id: [] for id in ids}
    for kind, words in (("turn", _TURNS), ("chunk", _CHUNKS)):
        rows = dicts(db, words, (json.dumps(list(ids)),))
        for row in rows if kind == "chunk" else _known(rows, view):
            found[row["observation"]].append(
                Proof(
                    id=row["id"],
                    kind="turn" if kind == "turn" else "chunk",
                    relation=row["relation"],
                    at=as_datetime(row["at"]),
                    live=bool(row["live"]),
                    speaker=row["owner"] if kind == "turn" else row["owner"].partition("\n")[0],
                    session=row["place"],
                    text=None if row["gone"] else row["text"],
                    role=row["role"] if kind == "turn" else "",
                )
            )
    return {id: tuple(sorted(of, key=lambda each: each.at)) for id, of in found.items()}


def _standing(db: sqlite3.Connection, ids: Sequence[str], view: InWorld | None) -> list[Row]:
    """The relationships to what stands in main, or in a world."""
    if view is None:
        return dicts(db, _PROOF.format(_IN_MAIN), ids)
    rows = dicts(db, _PROOF.format(_ANYWHERE), ids)
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


def _observation(
    row: Row,
    found: _Found,
    about: tuple[str, ...],
    now: datetime,
    pinned: bool,
    related: Mapping[str, Relationship],
) -> Observation:
    project = "" if len(found.projects) > 1 else next(iter(found.projects), None)
    has_tags = row["scope"] != (row["project"] or "global")
    times = tuple(map(as_datetime, found.times))
    corrected = set(found.corrected) if not set(found.sources) <= set(found.corrected) else set[str]()
    first_seen = as_datetime(row["first_seen"])
    return Observation(
        **{name: row[name] for name in ("id", "series", "text", "status", "origin", "world")},
        grounded=bool(row["grounded"]),
        project=project,
        scope=row["scope"] if has_tags else ",".join(found.projects) or "global",
        tags=tuple(row["scope"].split(",")) if has_tags else (),
        kind=ObservationKind(row["kind"]),
        confidence=min(1.0, row["confidence"] + found.added),
        at=as_datetime(row["at"]),
        first_seen=first_seen,
        live=bool(row["live"]),
        current=bool(row["current"]),
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
        relationship=related.get(row["id"]),
        parents=tuple(found.parents),
    )
