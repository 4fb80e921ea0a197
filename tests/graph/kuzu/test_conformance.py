"""What the engine has to answer: fifty queries as clew and people ask them, and what is not an answer.

All goes through graph/kuzu/engine.py and nothing else, on a graph made of a real log (told.py says of what), and the
rows that are expected are those of its events. To try another engine, write that file anew; or write a module with the
same names and let `engine` below give it, but not for a fork of Kuzu: two of them in one process do not load. Where all
of this passes, a higher VERSION in graph/projection/schema.py has every graph made anew, and tests/graph/console asks
what people's Cypher means to it.

A query without ORDER BY may give its rows in any order.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import graph.kuzu.engine
from graph.kuzu.rebuild import events_of
from graph.memory import Memory
from graph.projection.schema import META, NODES, RELS, VERSION, NodeTable, statements
from graph.projection.tables import Tables, fold
from graph.reader import LogReader
from tests.graph.kuzu.told import AT, DAY, EVENTS, HOUR, TEXTS, WHEN, made, noted, turn, utc

SIZES = {"pool_bytes": 256 << 20, "most_bytes": 1 << 30}  # the pages as many as the store has
Rows = list[list[Any]]


@pytest.fixture(scope="module")
def engine() -> ModuleType:
    """The engine that is asked."""
    return graph.kuzu.engine


@pytest.fixture(scope="module")
def path(engine: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of the events, loaded and closed."""
    folder = tmp_path_factory.mktemp("conformance")
    memory = Memory.open(folder / "memory", command="test")
    memory.append(*EVENTS)
    memory.close()
    reader = LogReader.open(folder / "memory")
    tables = fold(events_of(reader, reader.head()), reader.event)
    reader.close()
    database = engine.Database(folder / "any.kuzu", **SIZES)
    _load(engine, database, tables)
    database.close()
    return folder / "any.kuzu"


def _load(engine: ModuleType, database: Any, tables: Tables) -> None:
    writer = database.connect(threads=1)
    for statement in statements():
        writer.execute(statement).close()
    writer.execute(f"CREATE (:`{META.name}` {{id: 0, version: {VERSION}, applied: {len(EVENTS)}, link: ''}})").close()
    for table in NODES:
        if rows := list(tables.nodes[table.name].values()):
            columns = dict(zip(table.names, zip(*rows, strict=True), strict=True))
            writer.copy(table.name, engine.columns(columns, dict(table.columns)))
    for rel, end in [(each, end) for each in RELS for end in each.ends]:
        types = {"from": "STRING", "to": "STRING", **dict(rel.columns)}
        if found := [(*ends[:2], *values) for ends, values in tables.rels[rel.name, end].items()]:
            columns = dict(zip(types, zip(*found, strict=True), strict=True))
            ends = (rel.start, end) if len(rel.ends) > 1 else None
            writer.copy(rel.name, engine.columns(columns, types), ends=ends)
    writer.checkpoint()
    writer.close()


@pytest.fixture(scope="module")
def reader(engine: ModuleType, path: Path) -> Iterator[Any]:
    """A connection to the graph, which is opened to be read."""
    database = engine.Database(path, **SIZES, threads=2, read_only=True)
    connection = database.connect(threads=2)
    connection.walk_up_to(1_000)
    yield connection
    connection.close()
    database.close()


@pytest.fixture
def writer(engine: ModuleType, tmp_path: Path) -> Iterator[Any]:
    """A connection to a graph of its own, of a table and a relationship."""
    database = engine.Database(tmp_path / "own.kuzu", **SIZES)
    connection = database.connect(threads=1)
    connection.execute("CREATE NODE TABLE A (id STRING, n INT64, yes BOOL, x DOUBLE, PRIMARY KEY (id))").close()
    connection.execute("CREATE REL TABLE R (FROM A TO A, at INT64)").close()
    yield connection
    connection.close()
    database.close()


def asked(name: str, cypher: str, rows: Rows, /, **values: Any) -> Any:
    """A query, the rows that it is to find, and the values of its parameters."""
    return pytest.param(cypher, values, rows, id=name)


LIVE = "t.live AND t.world = $world AND t.role <> 'tool' AND t.text IS NOT NULL"
CURRENT = "o.current AND o.world = $world AND o.text IS NOT NULL"
CHAT = "coalesce(s.name, s.title, s.id)"
MAIN = {"world": "main"}

# The ready queries (agent/asking/ready.toml).
READY = (
    asked(
        "proven",
        f"""MATCH (o:Observation)-[:DERIVED_FROM|SUPPORTED_BY|REINFORCED_BY]->(t:Turn)
        WHERE {CURRENT} AND t.live
        RETURN o.text AS memory, o.kind AS kind, count(DISTINCT t.id) AS proof
        ORDER BY proof DESC, memory LIMIT 50""",
        [["Anna sails.", "fact", 2], ["Ben bakes rye.", "preference", 2], ["Anna has a boat.", "plan", 1]],
        **MAIN,
    ),
    asked(
        "changed",
        """MATCH (o:Observation)
        WHERE o.live AND o.world = $world AND o.text IS NOT NULL
        OPTIONAL MATCH (o)-[:SUPERSEDES]->(before:Observation)
        RETURN o.text AS memory, before.text AS before, o.status AS status ORDER BY o.seq DESC LIMIT 200""",
        [
            ["It was read.", None, "active"],
            ["Ben hates bread.", None, "invalid"],
            ["Ben bakes rye.", "Ben bakes.", "active"],
            ["Ben bakes.", None, "superseded"],
            ["Anna has a boat.", None, "candidate"],
            ["Anna sails.", None, "active"],
        ],
        **MAIN,
    ),
    asked(
        "who knows what",
        f"""MATCH (o:Observation)-[:ABOUT]->(e:Entity)
        WHERE {CURRENT}
        RETURN coalesce(e.name, e.id) AS name, count(o) AS memories, list_sort(collect(o.text))[1:5] AS first_five
        ORDER BY memories DESC, name LIMIT 100""",
        [["Anna", 2, ["Anna has a boat.", "Anna sails."]], ["Ben", 1, ["Ben bakes rye."]]],
        **MAIN,
    ),
    asked(
        "who said what about",
        rf"""WITH trim(regexp_replace(lower($what), '[^\\pL\\pN]+', ' ', 'g')) AS wanted
        WITH wanted, regexp_replace(wanted, '(\\pL[^siuw]|[^e]w)s$', '\\1') AS one
        MATCH (t:Turn)-[:IN_SESSION]->(s:Session)
        WHERE {LIVE} AND (lower(t.text) CONTAINS lower($what) OR lower(t.text) CONTAINS one)
        WITH t, s, concat(' ', regexp_replace(lower(t.text), '[^\\pL\\pN]+', ' ', 'g'), ' ') AS words, wanted, one
        WHERE words CONTAINS concat(' ', wanted, ' ') OR words CONTAINS concat(' ', one, ' ')
        RETURN epoch_ms(t.at) AS at_utc, t.speaker AS speaker, t.text AS text, {CHAT} AS chat
        ORDER BY t.at DESC, t.seq DESC LIMIT 200""",
        [[utc("c1"), "assistant", "With rye?", "Bread"]],
        what="Ryes",
        **MAIN,
    ),
    asked(
        "never recalled",
        f"""MATCH (t:Turn)
        WHERE {LIVE} AND t.speaker = 'you' AND NOT EXISTS {{ MATCH (t)<-[:RECALLED]-(:Turn) }}
        RETURN t.text AS text, epoch_ms(t.at) AS at_utc ORDER BY t.at DESC, t.seq DESC LIMIT 200""",
        [[TEXTS[id], utc(id)] for id in ("c3", "c0", "b2")],
        **MAIN,
    ),
    asked(
        "path between two",
        """WITH $world AS world
        MATCH p = (a:Entity)-[:MENTIONS|ABOUT|DERIVED_FROM|SUPPORTED_BY|REPLIES_TO* ALL SHORTEST 1..8]-(b:Entity)
        WHERE lower(coalesce(a.name, a.id)) = lower($one) AND lower(coalesce(b.name, b.id)) = lower($other)
          AND all(n IN nodes(p) WHERE coalesce(n.live, true) = true AND coalesce(n.world, world) = world)
        RETURN properties(nodes(p), 'id') AS path, length(p) AS steps LIMIT 3""",
        [[["senja", "b0", by, "b2", "ben"], 4] for by in ("anna", "b1", "o1")],
        one="SENJA",
        other="ben",
        **MAIN,
    ),
    asked(
        "most mentioned",
        f"""MATCH (t:Turn)-[:MENTIONS]->(e:Entity)
        WHERE {LIVE} AND t.speaker = 'you' AND e.kind = 'person' AND e.name IS NOT NULL AND t.at >= $since
        RETURN e.name AS name, count(t) AS mentions, epoch_ms(max(t.at)) AS last_utc
        ORDER BY mentions DESC, name LIMIT 50""",
        [["Anna", 2, utc("b2")], ["Ben", 2, utc("c0")]],
        since=AT,
        **MAIN,
    ),
    asked(
        "mentioned together",
        f"""MATCH (a:Entity)<-[:MENTIONS]-(t:Turn)-[:MENTIONS]->(b:Entity)
        WHERE {LIVE} AND a.kind = 'person' AND b.kind = 'person' AND a.name < b.name
        RETURN a.name AS one, b.name AS other, count(t) AS messages ORDER BY messages DESC, one, other LIMIT 50""",
        [["Anna", "Ben", 1]],
        **MAIN,
    ),
    asked(
        "busiest chats",
        f"""MATCH (t:Turn)-[:IN_SESSION]->(s:Session)
        WHERE {LIVE}
        RETURN {CHAT} AS chat, count(t) AS messages, epoch_ms(min(t.at)) AS first_utc, epoch_ms(max(t.at)) AS last_utc
        ORDER BY messages DESC, last_utc DESC LIMIT 50""",
        [["Boats", 4, utc("b0"), utc("b3")], ["Bread", 3, utc("c0"), utc("c3")]],
        **MAIN,
    ),
    asked(
        "newest of a kind",
        f"""MATCH (o:Observation)
        WHERE {CURRENT} AND o.kind = $kind
        RETURN o.text AS memory, o.status AS status, round(o.confidence, 2) AS confidence
        ORDER BY o.at DESC, o.seq DESC LIMIT 50""",
        [["It was read.", "active", 0.5], ["Anna sails.", "active", 0.75]],
        kind="fact",
        **MAIN,
    ),
    asked(
        "no longer holds",
        """MATCH (o:Observation)
        WHERE o.live AND o.world = $world AND o.text IS NOT NULL AND o.status IN ['superseded', 'invalid']
        OPTIONAL MATCH (later:Observation)-[:SUPERSEDES]->(o) WHERE later.live
        RETURN o.text AS memory, later.text AS instead, o.status AS status ORDER BY o.at DESC, o.seq DESC LIMIT 100""",
        [["Ben hates bread.", None, "invalid"], ["Ben bakes.", "Ben bakes rye.", "superseded"]],
        **MAIN,
    ),
    asked(
        "names without memories",
        f"""MATCH (t:Turn)-[:MENTIONS]->(e:Entity)
        WHERE {LIVE} AND e.name IS NOT NULL
          AND NOT EXISTS {{ MATCH (e)<-[:ABOUT]-(o:Observation) WHERE o.current }}
        RETURN e.name AS name, e.kind AS kind, count(t) AS mentions ORDER BY mentions DESC, name LIMIT 100""",
        [["Senja", "place", 1]],
        **MAIN,
    ),
    asked(
        "pinned",
        f"""MATCH (t:Turn)
        WHERE {LIVE} AND t.pinned
        RETURN 'message' AS what, t.text AS text
        UNION ALL MATCH (o:Observation)
        WHERE {CURRENT} AND o.pinned
        RETURN 'memory' AS what, o.text AS text""",
        [["message", TEXTS["b0"]], ["memory", "Anna sails."]],
        **MAIN,
    ),
    asked(
        "documents",
        """MATCH (d:Document)
        WHERE NOT d.deleted
        OPTIONAL MATCH (d)<-[:PART_OF]-(c:Chunk) WHERE c.live
        RETURN d.title AS title, d.type AS type, count(c) AS pieces ORDER BY title LIMIT 200""",
        [["d1", "markdown", 2]],
    ),
    asked(
        "slowest replies",
        """MATCH (t:Turn)
        WHERE t.live AND t.world = $world AND t.role = 'assistant' AND t.total_ms IS NOT NULL
        RETURN t.model AS model, round(t.total_ms / 1000, 1) AS seconds, t.completion_tokens AS tokens, t.text AS text
        ORDER BY t.total_ms DESC LIMIT 50""",
        [
            ["tiny", 2.5, 7, "See you there"],
            ["tiny", 1.5, 12, "A fine boat"],
            ["tiny", 0.5, 3, "With rye?"],
        ],
        **MAIN,
    ),
    asked(
        "hours",
        f"""MATCH (t:Turn)
        WHERE {LIVE} AND t.speaker = 'you'
        RETURN date_part('hour', epoch_ms(t.at + $offset)) AS hour, count(*) AS messages
        ORDER BY messages DESC, hour""",
        [[13, 2], [15, 1], [16, 1]],
        offset=HOUR,
        **MAIN,
    ),
    asked(
        "weekdays",
        f"""MATCH (t:Turn)
        WHERE {LIVE} AND t.speaker = 'you'
        RETURN dayname(epoch_ms(t.at + $offset)) AS day, count(*) AS messages ORDER BY messages DESC, day""",
        [["Friday", 2], ["Thursday", 2]],
        offset=0,
        **MAIN,
    ),
    asked(
        "who said most",
        f"""MATCH (t:Turn)
        WHERE {LIVE}
        RETURN t.speaker AS speaker, count(*) AS messages, sum(size(t.text)) AS characters
        ORDER BY messages DESC, speaker""",
        [
            ["you", 4, sum(len(TEXTS[id]) for id in ("b0", "b2", "c0", "c3"))],
            ["assistant", 3, sum(len(TEXTS[id]) for id in ("b1", "b3", "c1"))],
        ],
        **MAIN,
    ),
    asked(
        "names as they are matched",
        """MATCH (e:Entity)<-[r:MENTIONS|SAID_BY]-(t:Turn) WHERE t.live AND t.world = $world
        WITH coalesce(e.name, e.id) AS name, count(*) AS times,
            max(CASE WHEN label(r) = 'SAID_BY' THEN 1 ELSE 0 END) AS said
        WHERE NOT name IN ['you'] RETURN name, said ORDER BY times DESC, name LIMIT $most""",
        [["assistant", 1], ["Anna", 0], ["Ben", 0], ["Senja", 0]],
        most=10,
        **MAIN,
    ),
)

# What a transaction looks up (graph/kuzu/overlay.py, store.py, graph/doctor.py).
FOLLOWING = (
    asked(
        "what the graph holds",
        "MATCH (m:Meta {id: 0}) RETURN m.version, m.applied, m.link",
        [[VERSION, len(EVENTS), ""]],
    ),
    asked(
        "a node by its key",
        "MATCH (n:`Turn` {id: $id}) RETURN n.`id`, n.`world`, n.`seq`, n.`live`, n.`hidden`, n.`parent`, n.`depth`",
        [["b4", "main", turn("b4"), False, True, "b3", 4]],
        id="b4",
    ),
    asked(
        "nodes up to so many steps away",
        """MATCH (a:`Turn` {id: $id})-[:`REPLIES_TO`*1..2]->(b:`Turn`) RETURN b.`id`, b.`depth`""",
        [["b2", 2], ["b1", 1]],
        id="b3",
    ),
    asked(
        "what leads to a node, and by which relationship",
        """MATCH (a:`Observation`)-[r:`DERIVED_FROM`|`SUPPORTED_BY`|`REINFORCED_BY`]->(b:`Turn` {id: $id})
        RETURN label(r), a.`id`, a.`status`""",
        [["SUPPORTED_BY", "o1", "active"], ["DERIVED_FROM", "o4", "candidate"]],
        id="b2",
    ),
    asked(
        "values of relationships",
        "MATCH (a:`Turn`)-[r:`MENTIONS`]->(b:`Entity` {id: $id}) RETURN a.id, r.`seq`",
        [[id, noted("anna", id)] for id in ("b0", "b2", "c2")],
        id="anna",
    ),
    asked(
        "whether a relationship is there",
        "MATCH (a:`Turn` {id: $a})-[:`HEAD`|`REPLIES_TO`]->(b:`Turn` {id: $b}) RETURN 1",
        [],
        a="b0",
        b="b1",
    ),
    asked(
        "a whole relationship table",
        """MATCH (a:`Turn`)-[r:`RECALLED`]->(b:`Observation`)
        RETURN a.id, b.id, r.`strategy`, r.`rank`, r.`score`""",
        [["b3", "o1", "semantic", 2, 0.25]],
    ),
)

# Walks from node to node (graph/walk).
WALKING = (
    asked(
        "neighbours by side",
        """MATCH (:`Turn` {id: $id})-[r]->(m)
        RETURN label(r) AS name, label(m) AS `table`, count(*) AS total""",
        [
            ["IN_SESSION", "Session", 1],
            ["REPLIES_TO", "Turn", 1],
            ["SAID_BY", "Entity", 1],
            ["RECALLED", "Turn", 1],
            ["RECALLED", "Observation", 1],
        ],
        id="b3",
    ),
    asked(
        "several nodes in one query",
        """MATCH (m:`Turn` {id: $id0}) WHERE NOT m.deleted RETURN m.id AS `_id`, left(m.text, 6) AS `_words`,
            NULL AS `_whole`, m.at AS `_at`
        UNION ALL MATCH (m:`Turn` {id: $id1}) WHERE NOT m.deleted RETURN m.id AS `_id`, left(m.text, 6) AS `_words`,
            NULL AS `_whole`, m.at AS `_at`""",
        [["b0", "Anna s", None, AT], ["c2", "Anna l", None, WHEN["c2"]]],
        id0="b0",
        id1="c2",
    ),
    asked(
        "a page of a side, the most proven first",
        """MATCH (:`Entity` {id: $id})<-[r:`ABOUT`]-(m:`Observation`) WHERE NOT m.deleted AND m.text IS NOT NULL
        WITH m, r, COUNT { MATCH (m)-[:DERIVED_FROM|SUPPORTED_BY]->(:Turn:Chunk) } AS proofs
        RETURN m.id AS id, proofs ORDER BY m.current DESC, proofs DESC, m.seq DESC SKIP 1 LIMIT 9""",
        [["o4", 1]],
        id="anna",
    ),
    asked(
        "those of a side that have a word and may be seen",
        """MATCH (:`Turn` {id: $id})<-[r:`DERIVED_FROM`]-(m:`Observation`) WHERE NOT m.deleted
            AND (m.live OR NOT EXISTS { MATCH (m)-[:DERIVED_FROM]->(h:Turn) WHERE h.hidden })
            AND contains(lower(m.text), $word0)
        RETURN m.id AS id ORDER BY m.seq""",
        [["o2"], ["o3"]],
        id="c0",
        word0="bakes",
    ),
)

# Recall and what else reads whole columns (graph/recall, graph/readings).
READING = (
    asked(
        "proof with its amounts",
        "MATCH (n:Observation)-[r:SUPPORTED_BY]->(s:Turn) RETURN n.seq AS one, s.seq AS other, r.amount AS amount",
        [[made("o1"), turn("b2"), 0.125]],
    ),
    asked(
        "what a correction stands on",
        """MATCH (n:Observation)-[:SUPERSEDES]->(b:Observation)-[:DERIVED_FROM]->(s:Turn) WHERE n.origin = 'user'
        RETURN DISTINCT n.seq AS one, s.seq AS other, 0.0 AS amount""",
        [[made("o3"), turn("c0"), 0.0]],
    ),
    asked(
        "turns that a world held at a time",
        """MATCH (t:Turn) WHERE t.world = $world AND t.seq <= $seq
            AND (t.on_path_since <= $seq OR t.past_on_path IS NOT NULL)
        RETURN t.seq AS seq, t.on_path_since AS since, t.past_on_path AS past""",
        [[turn(id), turn(id), None] for id in ("b0", "b1", "b2", "b3")],
        seq=turn("b3"),
        **MAIN,
    ),
    asked(
        "proof in turns and chunks",
        """MATCH (o:Observation)-[r:DERIVED_FROM|SUPPORTED_BY|REINFORCED_BY]->(t:Turn:Chunk)
        WHERE o.id IN $ids AND t.live AND NOT coalesce(t.withheld, false) AND coalesce(t.world, 'main') = 'main'
        RETURN o.id AS observation, label(r) AS relation, label(t) AS label, t.id AS id, r.amount AS amount,
            t.role AS role
        ORDER BY id""",
        [
            ["o1", "DERIVED_FROM", "Turn", "b0", None, "user"],
            ["o1", "SUPPORTED_BY", "Turn", "b2", 0.125, "user"],
            ["o6", "DERIVED_FROM", "Chunk", "k0", None, None],
        ],
        ids=["o1", "o6"],
    ),
    asked(
        "projects of the proof, by chats and documents",
        """MATCH (o:Observation)-[:DERIVED_FROM]->(:Turn:Chunk)-[:IN_SESSION|PART_OF]->(s:Session:Document)
        WHERE o.current AND o.world = 'main' AND s.project IS NOT NULL
        RETURN s.project AS project, count(DISTINCT o.id) AS current""",
        [["sail", 3]],
    ),
    asked(
        "turns of days",
        f"""MATCH (t:Turn) WHERE NOT t.deleted AND NOT t.queued AND t.role IN ['user', 'assistant']
        RETURN t.at / {DAY} AS day, count(*) AS n""",
        [[AT // DAY, 6], [AT // DAY + 1, 4]],
    ),
    asked(
        "ratings, those that are none among them",
        """MATCH (t:Turn) WHERE t.live AND t.world = 'main' AND t.role IN ['user', 'assistant'] AND t.text IS NOT NULL
        RETURN t.significance AS rating, count(*) AS n ORDER BY rating""",
        [[2, 1], [None, 6]],
    ),
    asked(
        "times of the proof, collected",
        """MATCH (o:Observation)-[:DERIVED_FROM|SUPPORTED_BY]->(t)
        WHERE o.current AND o.world = 'main' AND t.live AND t.role IS NOT NULL
        RETURN o.first_seen AS first, list_sort(collect(t.at)) AS times, o.id AS id ORDER BY id""",
        [
            [AT, [AT, WHEN["b2"]], "o1"],
            [WHEN["c0"], [WHEN["c0"], WHEN["c1"]], "o3"],
            [WHEN["b2"], [WHEN["b2"]], "o4"],
        ],
    ),
    asked(
        "what died with its proof",
        """MATCH (o:Observation)-[:DERIVED_FROM]->(t:Turn:Chunk)
        WHERE NOT o.live AND NOT o.deleted AND o.status <> 'invalid'
            AND (t.hidden OR t.deleted OR t.withheld OR (label(t) = 'Chunk' AND NOT t.live))
        RETURN DISTINCT o.id AS id, o.supersedes AS supersedes, o.world AS world, o.seq AS seq ORDER BY seq""",
        [["o7", None, "main", made("o7")]],
    ),
    asked(
        "what a chat of no project does not see",  # without the NOT Kuzu 0.11.3 gives other rows
        """MATCH (n:Observation) WHERE NOT coalesce(n.live AND n.current AND NOT n.deleted AND n.status = 'active'
            AND NOT EXISTS { MATCH (n)-[:DERIVED_FROM]->(:Turn:Chunk)-[:IN_SESSION|PART_OF]->(s:Session:Document)
            WHERE s.project <> $project }, false) RETURN n.id""",
        [["o1"], ["o2"], ["o4"], ["o5"], ["o6"], ["o7"]],
        project="",
    ),
)

# What people type.
TYPED = (
    asked(
        "a walk without an end",
        "MATCH p = (t:Turn {id: 'b4'})-[:REPLIES_TO*]->(u:Turn) RETURN u.id, length(p) ORDER BY length(p)",
        [["b3", 1], ["b2", 2], ["b1", 3], ["b0", 4]],
    ),
    asked(
        "one shortest way",
        """MATCH p = (a:Turn {id: 'f0'})-[:REPLIES_TO* SHORTEST 1..10]-(b:Turn {id: 'b3'})
        RETURN properties(nodes(p), 'id'), properties(rels(p), '_label')""",
        [[["f0", "b1", "b2", "b3"], ["REPLIES_TO"] * 3]],
    ),
    asked(
        "a map, and all that a node has",
        "MATCH (p:Project) RETURN {of: label(p), ids: [p.id]} AS what, p.*",
        [[{"of": "Project", "ids": ["sail"]}, "sail", "The trip north", "active", 1]],
    ),
    asked(
        "rows of maps",
        "UNWIND $rows AS row WITH row.a AS a, row.b AS b WHERE a > 1 RETURN b, a * 10 AS ten ORDER BY a DESC",
        [["z", 30], ["y", 20]],
        rows=[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z"}],
    ),
    asked(
        "lists",
        """RETURN list_transform([1, 2, 3], x -> x * x) AS squares, list_filter([1, 2, 3], x -> x % 2 = 1) AS odd,
            list_reduce([1, 2, 3], (a, b) -> a + b) AS sum, size(range(1, 9, 2)) AS n, [3, 1, 2][2:3] AS some,
            list_contains(['a'], 'a') AS there, string_split('a,b', ',') AS parts""",
        [[[1, 4, 9], [1, 3], 6, 5, [1, 2], True, ["a", "b"]]],
    ),
    asked(
        "cases",
        """MATCH (o:Observation)
        RETURN CASE WHEN o.confidence >= 0.7 THEN 'sure' WHEN o.confidence < 0.3 THEN 'not' ELSE 'so so' END AS how,
            count(*) AS n ORDER BY n DESC, how""",
        [["sure", 4], ["so so", 2], ["not", 1]],
    ),
    asked(
        "groups that are filtered",
        """MATCH (t:Turn)-[:IN_SESSION]->(s:Session) WITH s, count(t) AS n, max(size(t.text)) AS longest
        WHERE n > 1 RETURN s.id, n, longest ORDER BY n DESC SKIP 1 LIMIT 1""",
        [["cook", 4, max(len(text) for id, text in TEXTS.items() if id[0] == "c")]],
    ),
    asked(
        "times",
        """MATCH (t:Turn {id: 'c1'}) WITH epoch_ms(t.at) AS at
        RETURN at, at - interval('1 hour') AS before, date_trunc('day', at) AS day, CAST(at AS DATE) AS date,
            at > timestamp('2026-01-02 12:00:00') AS later, at - timestamp('2026-01-01 12:00:00') AS since""",
        [[utc("c1"), utc("c0"), datetime(2026, 1, 2), datetime(2026, 1, 2).date(), True, timedelta(days=1, hours=1)]],
    ),
    asked(
        "a union without doubles",
        "MATCH (t:Turn) RETURN t.role AS what UNION MATCH (e:Entity) WHERE e.kind <> 'person' RETURN e.kind AS what",
        [["user"], ["assistant"], ["you"], ["place"]],
    ),
    asked(
        "texts and nulls",
        r"""MATCH (t:Turn) WHERE t.text =~ '.*\\d+' OR t.text STARTS WITH 'never' OR t.text ENDS WITH $last
        RETURN upper(t.text), t.error IS NULL, coalesce(t.model, 'none'), t.text + '!' ORDER BY t.id""",
        [
            ["A FINE BOAT", True, "tiny", "A fine boat!"],
            ["ANNA AND BEN MEET AT 8080", True, "none", "Anna and Ben meet at 8080!"],
        ],
        last="boat",
    ),
)

QUERIES = (*READY, *FOLLOWING, *WALKING, *READING, *TYPED)


@pytest.mark.parametrize(("cypher", "values", "expected"), QUERIES)
def test_a_query_finds_what_the_events_say(reader: Any, cypher: str, values: dict[str, Any], expected: Rows) -> None:
    result = reader.execute(cypher, values, timeout_s=20)
    total, rows = result.total, result.rows()
    if "ORDER BY" not in cypher:
        rows, expected = sorted(rows, key=repr), sorted(expected, key=repr)
    assert rows == expected
    assert total == len(expected)


def test_there_are_fifty_queries() -> None:
    assert len(QUERIES) == 50


def test_columns_have_names_and_types(reader: Any) -> None:
    result = reader.execute(
        "MATCH (t:Turn {id: 'b3'})-[r:RECALLED]->(o:Observation) RETURN t.id, t.at AS at, t.live AS live, "
        "r.score AS score, collect(o.id) AS ids, epoch_ms(t.at) AS time, label(r) = 'RECALLED' AS is, o, r"
    )
    assert result.columns == ["t.id", "at", "live", "score", "ids", "time", "is", "o", "r"]
    assert result.types == ["STRING", "INT64", "BOOL", "DOUBLE", "STRING[]", "TIMESTAMP", "BOOL", "NODE", "REL"]
    result.close()


def test_nodes_and_relationships_are_maps_that_name_themselves(reader: Any) -> None:
    found = reader.execute("MATCH (t:Turn)-[r:RECALLED]->(o:Observation) RETURN t, r, o.id").rows()
    ((node, relationship, _),) = found
    inner = {"offset", "table"}
    assert (node["_label"], node["id"], node["_id"].keys()) == ("Turn", "b3", inner)
    assert (relationship["_label"], relationship["score"], relationship["_src"]) == ("RECALLED", 0.25, node["_id"])
    assert relationship["_dst"].keys() == relationship["_id"].keys() == inner


def test_rows_come_one_by_one_and_all_of_many_pages(reader: Any) -> None:
    result = reader.execute("UNWIND range(1, 2500) AS x RETURN x, -x AS y ORDER BY x")
    assert result.total == 2500
    assert [result.row(), result.row()] == [[1, -1], [2, -2]]
    assert result.rows() == [[x, -x] for x in range(3, 2501)]


WRONG = {
    "a word that is none": ("MATCH (t:Turn) RETRUN t", "RETRUN"),
    "a table there is not": ("MATCH (t:Tune) RETURN t", "Tune"),
    "a property there is not": ("MATCH (t:Turn) RETURN t.txt", "txt"),
    "a name there is not": ("MATCH (t:Turn) RETURN u", "u"),
    "a function there is not": ("RETURN nonsense(1)", "(?i)nonsense"),
    "types that do not go together": ("RETURN 'a' * 2", "STRING"),
}


@pytest.mark.parametrize(("cypher", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_asked_is_an_error_that_names_it(
    engine: ModuleType, reader: Any, cypher: str, said: str
) -> None:
    with pytest.raises(engine.ERRORS, match=said) as error:
        reader.execute(cypher)
    assert engine.why(error.value) == "query"


def test_several_statements_are_told_apart_from_other_errors(engine: ModuleType, reader: Any) -> None:
    with pytest.raises(engine.SeveralStatements):
        reader.execute("RETURN 1; RETURN 2")
    assert not issubclass(engine.SeveralStatements, engine.ERRORS)


ENDLESS = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(DISTINCT a % 7 + b % 5)"


def test_a_query_ends_when_its_time_is_up(engine: ModuleType, path: Path) -> None:
    with _another(engine, path) as connection:
        began = time.monotonic()
        with pytest.raises(engine.ERRORS) as error:
            connection.execute(ENDLESS, timeout_s=0.1)
        assert engine.why(error.value) == "time"
        assert time.monotonic() - began < 10
        assert connection.execute("RETURN 1", timeout_s=20).rows() == [[1]]


def test_a_query_ends_when_it_is_interrupted(engine: ModuleType, path: Path) -> None:
    with _another(engine, path) as connection:
        done = threading.Event()

        def interrupt() -> None:
            while not done.wait(0.05):  # one that has not quite begun does not hear it
                connection.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with pytest.raises(engine.ERRORS) as error:
                connection.execute(ENDLESS)
        finally:
            done.set()
            thread.join()
        assert engine.why(error.value) == "time"


def test_more_memory_than_there_may_be_is_told(engine: ModuleType, path: Path) -> None:
    with _another(engine, path, pool_bytes=64 << 20) as connection:
        much = "UNWIND range(1, 100000) AS a UNWIND range(1, 1000) AS b RETURN count(DISTINCT a * 1000 + b)"
        with pytest.raises(engine.ERRORS) as error:
            connection.execute(much, timeout_s=60)
        assert engine.why(error.value) == "memory"


@contextmanager
def _another(engine: ModuleType, path: Path, **sizes: int) -> Iterator[Any]:
    database = engine.Database(path, **SIZES | sizes, threads=2, read_only=True)
    connection = database.connect(threads=2)
    yield connection
    connection.close()
    database.close()


@pytest.mark.parametrize("change", ["MATCH (t:Turn) SET t.text = 'x'", "MATCH (t:Turn) DETACH DELETE t"])
def test_nothing_is_written_where_it_is_opened_to_be_read(engine: ModuleType, reader: Any, change: str) -> None:
    with pytest.raises(engine.ERRORS, match="read-only"):
        reader.execute(change)
    assert reader.execute("MATCH (t:Turn) WHERE t.text <> 'x' RETURN count(*)").rows() == [[len(TEXTS)]]


def test_a_file_that_is_no_graph_is_an_error(engine: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "no.kuzu").write_bytes(b"this is no graph" * 1_000)
    with pytest.raises(engine.ERRORS):
        engine.Database(tmp_path / "no.kuzu", **SIZES)


ADD = "CREATE (:A {id: $id, n: $n})"
ALL = "MATCH (a:A) RETURN a.id, a.n ORDER BY a.id"


def test_a_transaction_is_whole_or_not_at_all(engine: ModuleType, writer: Any) -> None:
    writer.begin()
    writer.execute(ADD, {"id": "a", "n": 1}, keep=True).close()
    writer.execute(ADD, {"id": "b", "n": None}, keep=True).close()
    writer.execute("MATCH (a:A {id: 'a'}), (b:A {id: 'b'}) CREATE (a)-[:R {at: 7}]->(b)").close()
    writer.commit()
    writer.begin()
    writer.execute("MATCH (a:A {id: $id}) SET a.n = $n", {"id": "a", "n": 2}, keep=True).close()
    writer.execute("MATCH (a:A)-[r:R]->(b:A {id: 'b'}) DELETE r").close()
    assert writer.execute(ALL).rows() == [["a", 2], ["b", None]]
    writer.roll_back()
    assert writer.execute(ALL).rows() == [["a", 1], ["b", None]]
    assert writer.execute("MATCH (a:A)-[r:R]->(b:A) RETURN a.id, b.id, r.at").rows() == [["a", "b", 7]]


def test_an_error_takes_the_whole_transaction_back(engine: ModuleType, writer: Any) -> None:
    writer.begin()
    writer.execute(ADD, {"id": "a", "n": 1}, keep=True).close()
    with pytest.raises(engine.ERRORS, match="primary key"):
        writer.execute(ADD, {"id": "a", "n": 2}, keep=True)
    writer.roll_back()
    assert writer.execute(ALL).rows() == []
    writer.execute(ADD, {"id": "a", "n": 3}, keep=True).close()
    assert writer.execute(ALL).rows() == [["a", 3]]


VALUES = {"STRING": "ä", "INT64": 1 << 40, "BOOL": True, "DOUBLE": 0.5}


@pytest.mark.parametrize("table", NODES, ids=lambda table: table.name)
def test_a_node_is_made_and_changed_by_values_named_as_its_columns(writer: Any, table: NodeTable) -> None:
    columns = ", ".join(f"`{name}` {type}" for name, type in table.columns)
    writer.execute(f"CREATE NODE TABLE `{table.name}` ({columns}, PRIMARY KEY (`id`))").close()
    nothing = {name: None for name in table.names} | {"id": "ä"}
    made = f"CREATE (:`{table.name}` {{{', '.join(f'`{name}`: ${name}' for name in table.names)}}})"
    listed = f"MATCH (n:`{table.name}`) RETURN {', '.join(f'n.`{name}`' for name in table.names)}"
    writer.execute(made, nothing, keep=True).close()
    assert writer.execute(listed).rows() == [list(nothing.values())]
    values = {name: VALUES[type] for name, type in table.columns}
    changes = ", ".join(f"n.`{name}` = ${name}" for name in table.names if name != "id")
    writer.execute(f"MATCH (n:`{table.name}` {{id: $id}}) SET {changes}", values, keep=True).close()
    assert writer.execute(listed).rows() == [list(values.values())]


TYPES = {"id": "STRING", "n": "INT64", "yes": "BOOL", "x": "DOUBLE"}


def test_columns_are_copied_with_their_nulls(engine: ModuleType, writer: Any) -> None:
    values = {"id": ("a", "ü"), "n": (1 << 60, None), "yes": (None, True), "x": (0.1, None)}
    writer.copy("A", engine.columns(values, TYPES))
    writer.copy("R", engine.columns({"from": ["a"], "to": ["ü"], "at": [None]}, ENDS))
    assert writer.execute("MATCH (a:A) RETURN a.id, a.n, a.yes, a.x ORDER BY a.id").rows() == [
        ["a", 1 << 60, None, 0.1],
        ["ü", None, True, None],
    ]
    assert writer.execute("MATCH (a:A)-[r:R]->(b:A) RETURN a.id, b.id, r.at").rows() == [["a", "ü", None]]


ENDS = {"from": "STRING", "to": "STRING", "at": "INT64"}


@pytest.mark.parametrize("folded", [True, False])
def test_what_was_committed_is_there_when_it_is_opened_again(
    engine: ModuleType, tmp_path: Path, *, folded: bool
) -> None:
    path = tmp_path / "again.kuzu"
    database = engine.Database(path, **SIZES)
    connection = database.connect(threads=1)
    connection.execute("CREATE NODE TABLE A (id STRING, n INT64, PRIMARY KEY (id))").close()
    connection.checkpoint()
    assert not engine.wal_of(path).exists()
    connection.execute(ADD, {"id": "a", "n": 1}).close()
    assert engine.wal_of(path).stat().st_size > 0
    if not folded:
        connection.leave_log()
    connection.close()
    database.close()
    assert engine.wal_of(path).exists() == (not folded)
    assert {each.name for each in tmp_path.iterdir()} <= {path.name + each for each in engine.COMPANIONS}
    with _another(engine, path) as reader:
        assert reader.execute(ALL).rows() == [["a", 1]]
