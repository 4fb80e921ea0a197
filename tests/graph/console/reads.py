"""Reads as people who know Cypher write them, each with its rows as Python finds them in what `known` put there.

`MENDED` are those that the engine answers wrongly, or not at all, as they are written; `READS` all sorts of others.
Those whose rows need no counting stand in the text files.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from itertools import product
from typing import Any

from tests.graph.console.known import BY_ID, CONFIDENCE, EDGES, LONG, NAMES, PROOF, SHORT, TURNS, Turn, trails
from tests.graph.console.told import told

Rows = list[tuple[Any, ...]]
LONGS = [each for each in TURNS if each.session == "long"]


def of(kind: str) -> list[tuple[str, str]]:
    return [(one, other) for type, one, other in EDGES if type == kind]


def ids(turns: Iterable[Turn]) -> Rows:
    return [(each.id,) for each in turns]


def by(key: Callable[[Turn], Any]) -> Rows:
    """How many there are of each."""
    return list(Counter(map(key, TURNS)).items())


def monday(time: datetime) -> str:
    return f"{(time - timedelta(days=time.weekday())):%Y-%m-%d}T00:00:00"


def shared(ends: int, *kinds: str) -> int:
    """Pairs of two relationships, one and the other, that end (1) or begin (0) at the same node."""
    edges = [each for each in EDGES if not kinds or each[0] in kinds]
    return sum(n * (n - 1) for n in Counter(each[1 + ends] for each in edges).values())


def chains(session: str, most: int) -> list[list[Turn]]:
    """Each walk over REPLIES_TO within a chat, of so many steps at most."""
    turns = [each for each in TURNS if each.session == session]
    return [turns[n : m + 1][::-1] for m in range(len(turns)) for n in range(max(0, m - most), m)]


def joined(lists: Iterable[list[str]]) -> Rows:
    return [(sorted(" ".join(each) for each in lists),)]


WALK = "(a:Turn)-[r:REPLIES_TO*1..20]->(b)"
CHAINS = [*chains("long", 20), *chains("short", 20)]
SEVENTH = [chain for chain in CHAINS if any(each.index == 7 for each in chain)]
OF_USERS = [chain for chain in CHAINS if sum(each.role == "user" for each in chain) > 8]
TEXTS = [each.text for each in LONGS[:5]]
MENDED: dict[str, Rows] = {
    # Walks, and relationships that come twice.
    "MATCH (a:Turn {id: 'l44'})-[:REPLIES_TO*]->(b:Turn) RETURN count(*)": [(LONG - 1,)],
    "MATCH p = (a:Turn {id: 'l44'})-[:REPLIES_TO*]->(b:Turn) RETURN min(length(p)), max(length(p))": [(1, LONG - 1)],
    "MATCH (a:Turn {id: 'l44'})-[:REPLIES_TO*0..]->(b) RETURN count(*)": [(LONG,)],
    "MATCH (a)-[:REPLIES_TO*31..99]->(b {id: 'l0'}) RETURN count(*)": [(LONG - 31,)],
    "MATCH p = (a:Turn {id: 'l44'})-[* SHORTEST]->(b:Turn {id: 'l0'}) RETURN length(p)": [(LONG - 1,)],
    "MATCH p = (a:Turn {id: 'l5'})-[:REPLIES_TO*1..4]-(b) RETURN length(p), b.id":
        list(trails("l5", 1, 4, "REPLIES_TO")),
    "MATCH p = (o:Observation {id: 'o1'})-[:DERIVED_FROM*1..4]-(b) RETURN length(p), b.id":
        list(trails("o1", 1, 4, "DERIVED_FROM")),
    "MATCH p = (a:Turn {id: 'h4'})-[*1..3]->(b) RETURN length(p), b.id": list(trails("h4", 1, 3, ways="out")),
    "MATCH (a)-[]->(b)<-[]-(c) RETURN count(*)": [(shared(1),)],
    "MATCH (a)-->(b)<--(c) RETURN count(*)": [(shared(1),)],
    "MATCH (t)-[:MENTIONS]->(e)<-[:MENTIONS]-(u) WHERE t.id < u.id OR t.id > u.id RETURN count(*)":
        [(shared(1, "MENTIONS"),)],
    "MATCH (a)-[:MENTIONS]->(e), (b)-[:MENTIONS]->(e) RETURN count(*)": [(shared(1, "MENTIONS"),)],
    "MATCH (a)-[:MENTIONS*1..2]-(b)-[:MENTIONS]-(c) RETURN count(*)":
        [(sum(len(trails(each, 2, 3, "MENTIONS")) for each in (*BY_ID, *NAMES)),)],
    "MATCH (a)-[:REPLIES_TO*1..2]-(b)-[:REPLIES_TO*1..2]-(c) RETURN count(*)":
        [(sum((1, 2, 1)[n - 2] for each in BY_ID for n, _ in trails(each, 2, 4, "REPLIES_TO")),)],
    f"MATCH p = {WALK} WITH p, [n IN nodes(p) WHERE n.role = 'user'] AS l, p AS q WHERE size(l) > 8 "
    "RETURN count(*), sum(length(p)), max(length(q))":
        [(len(OF_USERS), sum(len(chain) - 1 for chain in OF_USERS), 20)],
    "MATCH (t:Turn), (u:Turn) WHERE any(x IN split(t.text, ' ') WHERE x = 'boat') RETURN count(*)":
        [(len(TURNS) * sum("boat" in each.text.split(" ") for each in TURNS),)],
    # What is on walks: more values at a time than the engine keeps apart by itself.
    f"MATCH p = {WALK} WITH list_to_string(' ', [n IN nodes(p) | n.id]) AS k ORDER BY k RETURN collect(k)":
        joined([each.id for each in chain] for chain in CHAINS),
    f"MATCH p = {WALK} WITH list_to_string(' ', [n IN nodes(p) WHERE n.role = 'user' | n.id]) AS k "
    "ORDER BY k RETURN collect(k)": joined([each.id for each in chain if each.role == "user"] for chain in CHAINS),
    f"MATCH p = {WALK} WHERE any(n IN nodes(p) WHERE n.index = 7) RETURN count(*), "
    "sum(CASE WHEN all(n IN nodes(p) WHERE n.index > 5 OR n.role = 'user') THEN 1 ELSE 0 END)":
        [(len(SEVENTH), sum(all(each.index > 5 or each.role == "user" for each in chain) for chain in SEVENTH))],
    f"MATCH {WALK}-[:SAID_BY]->(c) WITH list_to_string(' ', [n IN nodes(r) | n.id]) AS k ORDER BY k RETURN collect(k)":
        joined([each.id for each in chain[1:-1]] for chain in CHAINS),
    f"MATCH {WALK}-[:SAID_BY]->(c) WITH list_to_string(' ', [n IN nodes(r) | n.id + n.role]) AS k "
    "ORDER BY k RETURN collect(k)": joined([each.id + each.role for each in chain[1:-1]] for chain in CHAINS),
    f"MATCH p = {WALK} WITH reduce(s = '', n IN nodes(p) | s + n.id) AS k ORDER BY k RETURN collect(k)":
        [(sorted("".join(each.id for each in chain) for chain in CHAINS),)],
    "UNWIND range(1, 2000) AS i WITH [{a: i}, {a: i + 1}] AS l "
    "RETURN sum([x IN l WHERE x.a % 2 = 0 | x.a][1]), sum(CASE WHEN any(x IN l WHERE x.a % 3 = 0) THEN 1 ELSE 0 END)":
        [(sum(i + i % 2 for i in range(1, 2001)), sum(i % 3 != 1 for i in range(1, 2001)))],
    # Patterns that are asked and counted.
    "MATCH (s:Turn) WHERE size((s)<-[]-()) > 1 RETURN count(*)":
        [(sum(n > 1 for id, n in Counter(end for _, _, end in EDGES).items() if id in BY_ID),)],
    "MATCH (e:Entity) RETURN e.id, COUNT { (e)<-[:SAID_BY]-() } AS n":
        [(name, sum(end == name for _, end in of("SAID_BY"))) for name in ("anna", "ben", "you", "assistant")],
    "MATCH (t:Turn) WHERE size((t)-[:MENTIONS]->()) = 0 RETURN count(*)": [(len(TURNS) - 4,)],
    "MATCH (t:Turn) RETURN COUNT { (t)-[:MENTIONS]->() } AS n, count(*)": [(0, len(TURNS) - 4), (1, 3), (2, 1)],
    "MATCH (t:Turn), (e:Entity {id: 'ben'}) WHERE t.index < 50 RETURN sum(COUNT { (t)-[:MENTIONS]->(e) }), "
    "count(*)": [(2, len(TURNS))],
    # Words of another name.
    "MATCH (t:Turn {id: 'l3'})-[r]->(x) RETURN type(r), x.id": [(kind, to) for kind, one, to in EDGES if one == "l3"],
    "MATCH (t:Turn)-[r]-() WHERE type(r) != 'IN_SESSION' AND t.id = 'h4' RETURN count(*)":
        [(sum("h4" in each[1:] and each[0] != "IN_SESSION" for each in EDGES),)],
    "MATCH (t:Turn)-[:IN_SESSION]->(s) RETURN s.id, count(*)": by(lambda each: each.session),
    "MATCH (n:Turn|Session) RETURN labels(n)[0] AS kind, count(*) AS n": [("Session", 2), ("Turn", len(TURNS))],
    "MATCH (t:Turn) OPTIONAL MATCH (t)-[r:MENTIONS]->(e) WITH t, r AS q, e RETURN type(q), label(e), "
    "'Entity' IN labels(e), count(*)": [("MENTIONS", "Entity", True, 5), (None, None, None, len(TURNS) - 4)],
    # Lists.
    "MATCH (t:Turn) WHERE t.index < 3 WITH t, [x IN range(1, 4) WHERE x > t.index] AS l RETURN t.id, [x IN l | x * 10]":
        [(each.id, [x * 10 for x in range(1, 5) if x > each.index]) for each in TURNS if each.index < 3],
    "MATCH (t:Turn) WHERE t.index < 3 RETURN t.id, [x IN range(1, 4) WHERE x > 2 | x * t.index] AS l":
        [(each.id, [x * each.index for x in (3, 4)]) for each in TURNS if each.index < 3],
    "MATCH (t:Turn) WITH t ORDER BY t.index DESC, t.id RETURN collect(t.index)[1] AS most": [(LONG - 1,)],
    "MATCH (t:Turn) RETURN count(DISTINCT t.role), count(*), collect(DISTINCT t.session)[2] = 'short'":
        [(2, len(TURNS), True)],
    "MATCH (a:Turn)--(b) RETURN count(DISTINCT a), count(*)":
        [(len(TURNS), sum(end in BY_ID for edge in EDGES for end in edge[1:]))],
    "MATCH (t:Turn) RETURN t.session, count(DISTINCT t.role) AS roles, count(t) AS n":
        [("long", 2, LONG), ("short", 2, 5)],
    # Texts.
    "MATCH (t:Turn) WHERE t.index < 5 AND t.session = 'long' RETURN substring(t.text, 0, 8), substring(t.text, 2)":
        [(text[:8], text[2:]) for text in TEXTS],
    "MATCH (t:Turn) WHERE t.index < 5 AND t.session = 'long' RETURN split(t.text, ',')":
        [(text.split(","),) for text in TEXTS],
    "MATCH (t:Turn {id: 'l3'}) RETURN split(t.text, ', ')[2], size(split(t.text, ' ')), split_part(t.text, ', ', 3)":
        [(TEXTS[3].split(", ")[1], len(TEXTS[3].split(" ")), TEXTS[3].split(", ")[2])],
    "MATCH (t:Turn {id: 'l3'}) RETURN replace(t.text, ', ', '.') AS a, replace('a.b', '.', '\\\\1') AS b":
        [(TEXTS[3].replace(", ", "."), "a\\1b")],
    # Numbers and conditions.
    "MATCH (o:Observation) RETURN o.id, round(o.confidence), round(o.confidence * 100) / 100":
        [(id, float(round(n + 1e-9)), round(n * 100 + 1e-9) / 100) for id, n in CONFIDENCE.items()],
    "MATCH (t:Turn) WHERE t.index > 2 RETURN t.id, CASE WHEN t.pinned THEN 'pinned' ELSE '' END":
        [(each.id, "pinned" if each.pinned else "") for each in TURNS if each.index > 2],
    # Times.
    "MATCH (t:Turn) RETURN date_trunc('week', epoch_ms(t.at)) AS week, count(*) AS n":
        by(lambda each: monday(each.said)),
    "MATCH (t:Turn) RETURN year(t.at), month(t.at), count(*)":
        [(*key, n) for key, n in Counter((each.said.year, each.said.month) for each in TURNS).items()],
    "MATCH (t:Turn) RETURN week(t.at) AS week, count(*)": by(lambda each: each.said.isocalendar().week),
    "MATCH (t:Turn) WHERE t.index < 9 "
    "RETURN t.id, dayofweek(t.at), dayofyear(t.at), hour(t.at), date_part('dow', t.at)":
        [(each.id, each.said.isoweekday(), each.said.timetuple().tm_yday, each.said.hour, each.said.isoweekday() % 7)
         for each in TURNS if each.index < 9],
    "MATCH (t:Turn) WHERE t.at >= '2026-01-01' AND t.at < date('2026-01-10') RETURN t.id":
        ids(each for each in TURNS if "2026-01-01" <= f"{each.said:%Y-%m-%d}" < "2026-01-10"),
    "MATCH (t:Turn) WHERE t.at > datetime('2026-02-01T00:00:00') - duration({days: 3, hours: 2}) RETURN count(*)":
        [(sum(f"{each.said:%Y-%m-%dT%H:%M:%S}" > "2026-01-28T22:00:00" for each in TURNS),)],
    "MATCH (t:Turn) WHERE '2026-01-01' <= t.at AND datetime('2026-01-10') > t.at RETURN t.id":
        ids(each for each in TURNS if "2026-01-01" <= f"{each.said:%Y-%m-%d}" < "2026-01-10"),
    "MATCH (t:Turn) WITH t.at AS at, t.id AS id WHERE at > '2026-02-01' AND NOT at = '2026-02-03' RETURN id, day(at)":
        [(each.id, each.said.day) for each in TURNS
         if f"{each.said:%Y-%m-%d}" >= "2026-02-01" and f"{each.said:%Y-%m-%d}" != "2026-02-03"],
    "MATCH (t:Turn) WHERE t.at = '2026-01-01' OR t.at = date('2026-01-03') RETURN t.id":
        ids(each for each in TURNS if f"{each.said:%Y-%m-%d}" in ("2026-01-01", "2026-01-03")),
    "MATCH (t:Turn) RETURN date(t.at) AS day, count(*)": by(lambda each: f"{each.said:%Y-%m-%d}"),
    # What an OPTIONAL MATCH did not find, before something that it found, in functions of three arguments and in cuts.
    "MATCH (a:Turn)-[:REPLIES_TO]->(b:Turn) WHERE b.index < 6 OPTIONAL MATCH (a)<-[:REPLIES_TO]-(c:Turn {id: 'l3'}) "
    "RETURN a.id, collect(DISTINCT c.id[1:2]), collect(replace(c.id, 'l', 'L'))": [
        (f"{session}{n}", ["l3"] if session + str(n) == "l2" else [], ["L3"] if session + str(n) == "l2" else [])
        for session, n in product("lh", range(1, 7)) if session == "l" or n < SHORT
    ],
    "MATCH (t:Turn)-[:MENTIONS]->(e) OPTIONAL MATCH (t)-[:REPLIES_TO]->(u:Turn {id: 'l6'}) "
    "RETURN t.id, e.id, u.id[1:2], [x IN [u.id] WHERE x[1:1] = 'l' | lower(x[1:2])]": [
        (f"l{n}", e, *(("l6", ["l6"]) if n == 7 else (None, [])))
        for n, e in ((3, "anna"), (7, "anna"), (7, "ben"), (11, "anna"), (20, "ben"))
    ],
}  # fmt: skip
MENDED |= told("mended.txt")


def _ordered(turns: Iterable[Turn], key: Callable[[Turn], Any], *, reverse: bool = False) -> list[Turn]:
    return sorted(turns, key=key, reverse=reverse)


READS: dict[str, Rows] = {
    # Counting and grouping.
    "MATCH ()-[r]->() RETURN type(r) AS kind, count(*) AS n": list(Counter(each[0] for each in EDGES).items()),
    "MATCH (t:Turn) RETURN t.role AS role, min(t.index), max(t.index), avg(t.index), sum(t.index)":
        [(role, min(all), max(all), sum(all) / len(all), sum(all))
         for role in ("user", "assistant") for all in [[each.index for each in TURNS if each.role == role]]],
    "MATCH (t:Turn) WITH t.session AS s, count(*) AS n WHERE n > 10 RETURN s, n": [("long", LONG)],
    "MATCH (t:Turn) RETURN t.index % 5 AS k, count(*) AS n ORDER BY k": sorted(by(lambda each: each.index % 5)),
    "MATCH (t:Turn)-[:IN_SESSION]->(s:Session) RETURN s.id AS chat, t.role AS role, count(t) AS n ORDER BY chat, role":
        sorted((*key, n) for key, n in Counter((each.session, each.role) for each in TURNS).items()),
    "MATCH (t:Turn) RETURN t.role AS role, count(*) ORDER BY t.role":
        sorted(by(lambda each: each.role)),
    # Order and pages.
    "MATCH (t:Turn) "
    "RETURN t.id ORDER BY t.at DESC LIMIT 3": ids(_ordered(TURNS, lambda each: each.at, reverse=True)[:3]),
    "MATCH (t:Turn) RETURN t.id ORDER BY t.at SKIP 5 LIMIT 4": ids(_ordered(TURNS, lambda each: each.at)[5:9]),
    "MATCH (t:Turn) RETURN t.id AS id ORDER BY size(t.text) DESC, id LIMIT 5":
        ids(_ordered(TURNS, lambda each: (-len(each.text), each.id))[:5]),
    # Optional matches.
    "MATCH (e:Entity) OPTIONAL MATCH (e)<-[:MENTIONS]-(t) RETURN e.id, count(t)":
        [(name, len(NAMES.get(name, ()))) for name in ("anna", "ben", "you", "assistant")],
    # Strings.
    "MATCH (t:Turn) WHERE t.text CONTAINS 'boat' RETURN count(*)": [(sum("boat" in each.text for each in TURNS),)],
    "MATCH (t:Turn) WHERE t.text STARTS WITH 'the' AND t.text ENDS WITH '0' RETURN t.id":
        ids(each for each in TURNS if each.text.startswith("the") and each.text.endswith("0")),
    "MATCH (t:Turn) WHERE t.text =~ '.*\\\\bboats?\\\\b.*[05]' RETURN t.id":
        ids(each for each in TURNS if re.fullmatch(r".*\bboats?\b.*[05]", each.text)),
    "MATCH (t:Turn) WHERE toLower(t.text) CONTAINS toLower('BOATS') RETURN count(*)":
        [(sum("boats" in each.text for each in TURNS),)],
    "MATCH (t:Turn) WHERE t.text CONTAINS '8080' RETURN count(*)": [(sum("8080" in each.text for each in TURNS),)],
    # Dates.
    "MATCH (t:Turn) RETURN date_trunc('month', epoch_ms(t.at)) AS month, count(*) AS n":
        by(lambda each: f"{each.said:%Y-%m}-01T00:00:00"),
    "MATCH (t:Turn) RETURN dayname(epoch_ms(t.at)) AS day, count(*) AS n": by(lambda each: f"{each.said:%A}"),
    "MATCH (t:Turn) WHERE epoch_ms(t.at) >= timestamp('2026-01-01 00:00:00') RETURN count(*)":
        [(sum(each.said.year == 2026 for each in TURNS),)],
    "MATCH (t:Turn) WHERE date_part('hour', epoch_ms(t.at)) < 9 RETURN count(*)":
        [(sum(each.said.hour < 9 for each in TURNS),)],
    # Paths.
    "MATCH (o:Observation)-[:DERIVED_FROM]->(t)-[:SAID_BY]->(e) RETURN o.id, e.id":
        [(one, "you" if BY_ID[to].role == "user" else "assistant") for one, to in of("DERIVED_FROM")],
    # WITH, UNWIND, CASE, lists.
    "MATCH (t:Turn) WITH t.session AS s, collect(t.id) AS ids UNWIND ids AS id RETURN s, count(id)":
        [("long", LONG), ("short", 5)],
    "MATCH (t:Turn) "
    "RETURN CASE WHEN t.index < 2 THEN 'early' WHEN t.index < 4 THEN 'soon' ELSE 'late' END AS how, count(*)":
        by(lambda each: "early" if each.index < 2 else "soon" if each.index < 4 else "late"),
    "MATCH (a:Turn), (b:Turn) WHERE a.session = 'short' AND b.session = 'short' AND a.index < b.index RETURN count(*)":
        [(sum(a < b for a, b in product(range(5), repeat=2)),)],
    "MATCH (o:Observation) RETURN o.id, COUNT { MATCH (o)-[:DERIVED_FROM]->() } AS proof":
        [(id, len(turns)) for id, turns in PROOF.items()],
}  # fmt: skip
READS |= told("reads.txt")

# What is refused, with a piece of the sentence that tells how to write it.
REFUSED: dict[str, str] = told("refused.txt")
