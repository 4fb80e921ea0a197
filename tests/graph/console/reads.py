"""Reads as people who know Cypher write them, each with its rows as Python finds them in what `known` put there.

`MENDED` are those that the engine answers wrongly, or not at all, as they are written; `READS` all sorts of others.
Those whose rows can be told by looking at known.py stand in the text files.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from itertools import product
from typing import Any

from tests.graph.console.known import BY_ID, EDGES, NAMES, SHORT, TURNS, Turn, trails
from tests.graph.console.told import told

Rows = list[tuple[Any, ...]]


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
TEXTS = [each.text for each in TURNS if each.session == "long"][:5]
MENDED: dict[str, Rows] = {
    # Walks, and relationships that come twice.
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
    # Lists.
    "MATCH (t:Turn) WHERE t.index < 3 WITH t, [x IN range(1, 4) WHERE x > t.index] AS l RETURN t.id, [x IN l | x * 10]":
        [(each.id, [x * 10 for x in range(1, 5) if x > each.index]) for each in TURNS if each.index < 3],
    # Texts.
    "MATCH (t:Turn) WHERE t.index < 5 AND t.session = 'long' RETURN substring(t.text, 0, 8), substring(t.text, 2)":
        [(text[:8], text[2:]) for text in TEXTS],
    "MATCH (t:Turn) WHERE t.index < 5 AND t.session = 'long' RETURN split(t.text, ',')":
        [(text.split(","),) for text in TEXTS],
    # Numbers and conditions.
    "MATCH (t:Turn) WHERE t.index > 2 RETURN t.id, CASE WHEN t.pinned THEN 'pinned' ELSE '' END":
        [(each.id, "pinned" if each.pinned else "") for each in TURNS if each.index > 2],
    # Times.
    "MATCH (t:Turn) RETURN date_trunc('week', epoch_ms(t.at)) AS week, count(*) AS n":
        by(lambda each: monday(each.said)),
    "MATCH (t:Turn) WHERE t.index < 9 "
    "RETURN t.id, dayofweek(t.at), dayofyear(t.at), hour(t.at), date_part('dow', t.at)":
        [(each.id, each.said.isoweekday(), each.said.timetuple().tm_yday, each.said.hour, each.said.isoweekday() % 7)
         for each in TURNS if each.index < 9],
    "MATCH (t:Turn) WITH t.at AS at, t.id AS id WHERE at > '2026-02-01' AND NOT at = '2026-02-03' RETURN id, day(at)":
        [(each.id, each.said.day) for each in TURNS
         if f"{each.said:%Y-%m-%d}" >= "2026-02-01" and f"{each.said:%Y-%m-%d}" != "2026-02-03"],
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


READS: dict[str, Rows] = {
    # Counting and grouping.
    "MATCH ()-[r]->() RETURN type(r) AS kind, count(*) AS n": list(Counter(each[0] for each in EDGES).items()),
    # Dates.
    "MATCH (t:Turn) RETURN date_trunc('month', epoch_ms(t.at)) AS month, count(*) AS n":
        by(lambda each: f"{each.said:%Y-%m}-01T00:00:00"),
    "MATCH (t:Turn) RETURN dayname(epoch_ms(t.at)) AS day, count(*) AS n": by(lambda each: f"{each.said:%A}"),
}  # fmt: skip
READS |= told("reads.txt")

# What is refused, with a piece of the sentence that tells how to write it.
REFUSED: dict[str, str] = told("refused.txt")
