"""The shelf: queries that are ready to run, each with what it shows and its parameters.

All of them ask for what is live in one world, main unless the query is given another, and where they show what is no
longer in force they say so.
"""

from datetime import datetime

from .pieces import CHAT, CURRENT, LIVE, PATH, turns_about
from .values import Ready

_SHELF = (
    Ready(
        "Most proven memories",
        "The memories with the most proof.",
        f"MATCH (o:Observation)-[:DERIVED_FROM|SUPPORTED_BY|REINFORCED_BY]->(t:Turn)\n"
        f"WHERE {CURRENT} AND t.live\n"
        "RETURN o.text AS memory, o.kind AS kind, count(DISTINCT t.id) AS proof ORDER BY proof DESC, memory LIMIT 50",
    ),
    Ready(
        "What changed",
        "What was learned or changed since a date, with the earlier version.",
        "MATCH (o:Observation)\nWHERE o.live AND o.world = $world AND o.text IS NOT NULL"
        " AND o.at >= to_epoch_ms(timestamp($since))\n"
        "OPTIONAL MATCH (o)-[:SUPERSEDES]->(before:Observation)\n"
        "RETURN epoch_ms(o.at) AS at_utc, o.text AS memory, before.text AS before, o.status AS status "
        "ORDER BY o.at DESC, o.seq DESC LIMIT 200",
        {"since": "month"},
    ),
    Ready(
        "Who knows what",
        "The people the memories are about, and how many memories.",
        f"MATCH (o:Observation)-[:ABOUT]->(e:Entity)\nWHERE {CURRENT}\n"
        "RETURN coalesce(e.name, e.id) AS name, count(o) AS memories, collect(o.text)[1:5] AS first_five "
        "ORDER BY memories DESC, name LIMIT 100",
    ),
    Ready(
        "Who said what about …",
        "Messages containing a word or name, and who wrote them.",
        f"{turns_about(joined='-[:`IN`]->(s:Session)', carried='t, s')}\n"
        f"RETURN epoch_ms(t.at) AS at_utc, t.speaker AS speaker, t.text AS text, {CHAT} AS chat\n"
        "ORDER BY t.at DESC, t.seq DESC LIMIT 200",
        {"what": ""},
    ),
    Ready(
        "Messages never recalled",
        "Your messages that were never recalled for a reply or looked up.",
        f"MATCH (t:Turn)\nWHERE {LIVE} AND t.speaker = 'you' AND NOT EXISTS {{ MATCH (t)<-[:RECALLED]-(:Turn) }}\n"
        "RETURN t.text AS text, epoch_ms(t.at) AS at_utc ORDER BY t.at DESC, t.seq DESC LIMIT 200",
    ),
    Ready("Path between two people", "The shortest paths between two names through messages and memories.", PATH, {
        "one": "", "other": ""
    }),
    Ready(
        "Most mentioned people",
        "The people you mentioned in the most messages.",
        f"MATCH (t:Turn)-[:MENTIONS]->(e:Entity)\nWHERE {LIVE} AND t.speaker = 'you' AND e.kind = 'person'"
        " AND e.name IS NOT NULL\n"
        "RETURN e.name AS name, count(t) AS mentions, epoch_ms(max(t.at)) AS last_utc "
        "ORDER BY mentions DESC, name LIMIT 50",
    ),
    Ready(
        "People mentioned together",
        "Pairs of people mentioned in the same messages.",
        f"MATCH (a:Entity)<-[:MENTIONS]-(t:Turn)-[:MENTIONS]->(b:Entity)\n"
        f"WHERE {LIVE} AND a.kind = 'person' AND b.kind = 'person' AND a.name < b.name\n"
        "RETURN a.name AS one, b.name AS other, count(t) AS messages ORDER BY messages DESC, one, other LIMIT 50",
    ),
    Ready(
        "Busiest chats",
        "The chats with the most messages.",
        f"MATCH (t:Turn)-[:`IN`]->(s:Session)\nWHERE {LIVE}\n"
        f"RETURN {CHAT} AS chat, count(t) AS messages, epoch_ms(min(t.at)) AS first_utc, "
        "epoch_ms(max(t.at)) AS last_utc ORDER BY messages DESC, last_utc DESC LIMIT 50",
    ),
    Ready(
        "Newest memories of a kind",
        "What was learned last: identity, preference, fact, state, plan, relationship, project or episode.",
        f"MATCH (o:Observation)\nWHERE {CURRENT} AND o.kind = $kind\n"
        "RETURN o.text AS memory, o.status AS status, round(o.confidence, 2) AS confidence, epoch_ms(o.at) AS at_utc "
        "ORDER BY o.at DESC, o.seq DESC LIMIT 50",
        {"kind": "preference"},
    ),
    Ready(
        "Memories that no longer hold",
        "Memories that were superseded, contradicted or rejected, and what replaced them.",
        "MATCH (o:Observation)\nWHERE o.live AND o.world = $world AND o.text IS NOT NULL"
        " AND o.status IN ['superseded', 'invalid']\n"
        "OPTIONAL MATCH (later:Observation)-[:SUPERSEDES]->(o) WHERE later.live\n"
        "RETURN o.text AS memory, later.text AS instead, o.status AS status, epoch_ms(o.at) AS at_utc "
        "ORDER BY o.at DESC, o.seq DESC LIMIT 100",
    ),
    Ready(
        "Waiting for your review",
        "Memories that are not used until you accept them.",
        f"MATCH (o:Observation)\nWHERE {CURRENT} AND o.status = 'candidate'\n"
        "RETURN o.text AS memory, o.kind AS kind, round(o.confidence, 2) AS confidence, epoch_ms(o.at) AS at_utc "
        "ORDER BY o.at DESC, o.seq DESC LIMIT 100",
    ),
    Ready(
        "Most recalled memories",
        "The memories recalled most often.",
        f"MATCH (t:Turn)-[:RECALLED]->(o:Observation)\nWHERE {CURRENT} AND t.live\n"
        "RETURN o.text AS memory, count(t) AS times, epoch_ms(max(t.at)) AS last_utc "
        "ORDER BY times DESC, memory LIMIT 50",
    ),
    Ready(
        "Names without memories",
        "People, places and things that are mentioned but have no memories.",
        f"MATCH (t:Turn)-[:MENTIONS]->(e:Entity)\nWHERE {LIVE} AND e.name IS NOT NULL"
        " AND NOT EXISTS { MATCH (e)<-[:ABOUT]-(o:Observation) WHERE o.current }\n"
        "RETURN e.name AS name, e.kind AS kind, count(t) AS mentions ORDER BY mentions DESC, name LIMIT 100",
    ),
    Ready(
        "Pinned",
        "Messages and memories that you pinned.",
        f"MATCH (t:Turn)\nWHERE {LIVE} AND t.pinned\n"
        "RETURN 'message' AS what, t.text AS text, epoch_ms(t.at) AS at_utc\n"
        f"UNION ALL MATCH (o:Observation)\nWHERE {CURRENT} AND o.pinned\n"
        "RETURN 'memory' AS what, o.text AS text, epoch_ms(o.at) AS at_utc",
    ),
    Ready(
        "Documents",
        "The documents and their number of passages.",
        "MATCH (d:Document)\nWHERE NOT d.deleted\nOPTIONAL MATCH (d)<-[:PART_OF]-(c:Chunk) WHERE c.live\n"
        "RETURN d.title AS title, d.type AS type, count(c) AS pieces, epoch_ms(d.at) AS read_utc "
        "ORDER BY read_utc DESC, title LIMIT 200",
    ),
    Ready(
        "Slowest replies",
        "How long replies took, and which model wrote them.",
        "MATCH (t:Turn)\nWHERE t.live AND t.world = $world AND t.role = 'assistant' AND t.total_ms IS NOT NULL\n"
        "RETURN t.model AS model, round(t.total_ms / 1000, 1) AS seconds, t.completion_tokens AS tokens, "
        "t.text AS text ORDER BY t.total_ms DESC LIMIT 50",
    ),
)  # fmt: skip


def shelf(now: datetime | None = None) -> tuple[Ready, ...]:
    """The ready queries; `now` (aware) is what "this month" is seen from, by default the time it is."""
    local = now or datetime.now().astimezone()
    month = local.replace(day=1, hour=0, minute=0, second=0, microsecond=0).isoformat(timespec="seconds")
    return tuple(_dated(each, month) for each in _SHELF)


def _dated(ready: Ready, month: str) -> Ready:
    if "since" not in ready.parameters:
        return ready
    return Ready("What changed this month", ready.about, ready.cypher, {**ready.parameters, "since": month})
