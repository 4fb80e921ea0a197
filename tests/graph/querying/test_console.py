"""The console: what only reads is answered, and nothing else ever reaches the engine, however it is written."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.errors import QueryFailed, QueryTimeout, Refused
from graph.events import ObservationKind, ObservationMade
from graph.memory import Memory
from graph.querying.console import Answer, plain
from graph.querying.grammar import FUNCTIONS, KEYWORDS, REACHING, checked
from graph.querying.lexing import LONGEST
from tests.graph.talk import talk


@pytest.fixture
def spoken(whole: Memory) -> Memory:
    """Six turns of one chat, and something learned of them."""
    talk(whole, 6)
    whole.append(
        ObservationMade(
            observation="m", series="m", category=ObservationKind.FACT, status="active", confidence=0.5,
            grounded=True, origin="user", sources=("s0",), text="It's called \"Wren\"",
        )
    )  # fmt: skip
    return whole


READS: dict[str, Any] = {
    "MATCH (t:Turn) RETURN count(*)": [(6,)],
    "match (t:Turn) where t.live return count(t) as n;": [(6,)],
    "MATCH (t:Turn {id: 's0'}) RETURN t.text, t.`index`": [("s0", 0)],
    "MATCH (a:Turn)-[r:REPLIES_TO]->(b:Turn) RETURN a.id, b.id ORDER BY a.id LIMIT 1": [("s1", "s0")],
    "MATCH (a:Turn)<-[:REPLIES_TO]-(b) RETURN count(*)": [(5,)],
    "MATCH (a:Turn {id: 's5'})-[:REPLIES_TO*1..3]->(b:Turn) RETURN b.id ORDER BY b.id": [("s2",), ("s3",), ("s4",)],
    "MATCH p = (a:Turn {id: 's5'})-[:REPLIES_TO* SHORTEST 1..5]->(b:Turn {id: 's0'}) RETURN length(p)": [(5,)],
    "MATCH (a:Turn {id: 's5'})-[:REPLIES_TO* ALL SHORTEST 1..5]->(b:Turn {id: 's1'}) RETURN count(*)": [(1,)],
    "MATCH (a:Turn)-[r:REPLIES_TO*1..2 (e, n | WHERE n.live)]->(b:Turn {id: 's0'}) RETURN count(*)": [(2,)],
    "MATCH (t:Turn) OPTIONAL MATCH (o:Observation)-[:DERIVED_FROM]->(t) RETURN t.id, o.id ORDER BY t.id LIMIT 2":
        [("s0", "m"), ("s1", None)],
    "MATCH (t:Turn) WHERE EXISTS { MATCH (t)<-[:REPLIES_TO]-(u:Turn) WHERE u.live } RETURN count(*)": [(5,)],
    "MATCH (t:Turn {id: 's0'}) RETURN COUNT { MATCH (t)<-[:REPLIES_TO]-() } AS replies": [(1,)],
    "MATCH (t:Turn)-[:`IN`]->(s:Session) RETURN s.id, count(t.role), collect(t.id)[1], max(t.at) > 0":
        [("s", 6, "s0", True)],
    "MATCH (t:Turn)-[:`IN`]->(s:Session) RETURN s.id, count(DISTINCT t.role), max(DISTINCT t.`index`)": [("s", 2, 5)],
    "MATCH (t:Turn) WITH t.role AS role, count(*) AS count WHERE count > 2 RETURN role, count ORDER BY role DESC":
        [("user", 3), ("assistant", 3)],
    "UNWIND [3, 1, 2] AS x WITH x ORDER BY x DESC SKIP 1 RETURN collect(x)": [([2, 1],)],
    "UNWIND range(1, 3) AS x RETURN sum(x)": [(6,)],
    "RETURN CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END AS x, CASE 3 WHEN 3 THEN true END AS y": [("b", True)],
    "RETURN 1 AS x UNION ALL RETURN 1 AS x": [(1,), (1,)],
    "RETURN list_transform([1, 2], x -> x + 1), size([1, 2]), [1, 2, 3][2:3], {set: 1, `create`: 2}.set":
        [([2, 3], 2, [2, 3], 1)],
    "RETURN all(x IN [1, 2] WHERE x > 0), any(x IN [1] WHERE x > 3), none(x IN [1] WHERE x = 2)": [(True, False, True)],
    "RETURN upper('wren'), 'a' + 'b', substring('harbour', 1, 3), 'it\\'s', 'x' =~ '.', 'abc' STARTS WITH 'a'":
        [("WREN", "ab", "har", "it's", True, True)],
    "RETURN date('2026-01-31') + interval('1 day'), date_part('year', date('2026-01-31')), CAST(1 AS STRING)":
        [("2026-02-01", 2026, "1")],
    "RETURN CAST(2.5 AS DECIMAL(5, 2)), 7 % 4, 2 ^ 3, -1 * -2, 1.5e3, .5": [("2.50", 3, 8.0, 2, 1500.0, 0.5)],
    "MATCH (o:Observation) WHERE o.text CONTAINS \"\\\"Wren\\\"\" AND NOT o.text IS NULL RETURN o.id": [("m",)],
    "RETURN 'DELETE; // no comment' AS `SET`, \"MERGE /* */\" AS x": [("DELETE; // no comment", "MERGE /* */")],
    "// a comment with DELETE in it\nRETURN /* SET */ 1": [(1,)],
    "RETURN\u00a01\u2003AS\tx": [(1,)],
    "MATCH (project:Turn), (graph:Session) RETURN count(*)": [(6,)],
    "MATCH (a:Turn:Observation) RETURN label(a), count(*) ORDER BY label(a)": [("Observation", 1), ("Turn", 6)],
    "MATCH (a)-[r:REPLIES_TO|`IN`]->(b) RETURN count(*)": [(11,)],
    "CALL table_info('Meta') RETURN *": 4,
    "CALL show_tables() RETURN *;": None,
}  # fmt: skip


@pytest.mark.parametrize("query", READS)
def test_what_only_reads_is_answered(spoken: Memory, query: str) -> None:
    answer, expected = spoken.console(query), READS[query]
    match expected:
        case list():
            assert list(answer.rows) == expected
            assert answer.total == len(expected)
        case int():
            assert answer.total == expected
        case _:
            assert answer.total is not None
            assert answer.total > 10


OUTSIDE = "{outside}"
WRITES = (
    "CREATE (:Turn {id: 'x'})",
    "MATCH (t:Turn) SET t.text = 'x'",
    "MATCH (t:Turn) SET t.text = 'x' RETURN t",
    "MATCH (t:Turn) WITH * SET t.text = 'x' RETURN *",
    "MATCH (t:Turn) DELETE t",
    "MATCH (t:Turn) DETACH DELETE t RETURN 1",
    "MATCH (t:Turn) REMOVE t.text RETURN t",
    "MERGE (t:Turn {id: 'x'}) RETURN t",
    "MERGE (t:Turn {id: 's0'}) ON MATCH SET t.text = 'x' RETURN t",
    "MATCH (t:Turn) MERGE (t)-[:REPLIES_TO]->(t) RETURN 1",
    "MATCH (t:Turn) CREATE (t)-[:REPLIES_TO]->(t) RETURN 1",
    "DROP TABLE Turn",
    "ALTER TABLE Turn ADD x INT64",
    "ALTER TABLE Turn DROP text",
    "CREATE NODE TABLE X(id STRING PRIMARY KEY)",
    "CREATE SEQUENCE x",
    "CREATE MACRO f(x) AS x + 1",
    "CREATE TYPE x AS STRING",
    "COMMENT ON TABLE Turn IS 'x'",
    "COPY Turn FROM '/etc/passwd'",
    f"COPY (MATCH (t:Turn) RETURN t.text) TO '{OUTSIDE}/out.csv'",
    f"COPY (MATCH (t:Turn) RETURN t.text) TO '{OUTSIDE}/out.parquet'",
    f"EXPORT DATABASE '{OUTSIDE}/all'",
    f"IMPORT DATABASE '{OUTSIDE}/all'",
    "LOAD FROM '/etc/passwd' (file_format = 'csv') RETURN *",
    "LOAD WITH HEADERS (x STRING) FROM '/etc/passwd' RETURN *",
    "MATCH (t:Turn) LOAD FROM '/etc/passwd' (file_format = 'csv') RETURN *",
    "MATCH (t:Turn) WITH t LOAD FROM '/etc/passwd' RETURN *",
    "UNWIND [1] AS x LOAD FROM '/etc/passwd' RETURN *",
    "RETURN 1 AS x UNION LOAD FROM '/etc/passwd' RETURN *",
    "LOAD FROM names RETURN *",
    f"ATTACH '{OUTSIDE}/other.kuzu' AS other",
    f"ATTACH '{OUTSIDE}/other.kuzu' AS other (dbtype kuzu)",
    "DETACH other",
    "USE other",
    "INSTALL json",
    "UNINSTALL json",
    "UPDATE json",
    "LOAD EXTENSION json",
    f"LOAD EXTENSION '{OUTSIDE}/evil.so'",
    "LOAD json",
    "CALL timeout = 0",
    "CALL threads = 64",
    "CALL home_directory = '/'",
    "CALL READ_CSV_SERIAL('/etc/passwd') RETURN *",
    "CALL READ_PARQUET('/etc/passwd') RETURN *",
    "CALL json_scan('/etc/passwd') RETURN *",
    "CALL current_setting('timeout') RETURN *",
    "CALL show_tables() RETURN * UNION CALL timeout = 0",
    "CALL show_tables() WITH name LOAD FROM name RETURN *",
    "CALL table_info('Turn') RETURN name; CALL timeout = 0",
    "CALL create_fts_index('Turn', 'x', ['text'])",
    "CALL project_graph('g', ['Turn'], ['REPLIES_TO'])",
    "CALL clear_warnings()",
    "MATCH (t:Turn) CALL page_rank('g') RETURN *",
    "BEGIN TRANSACTION",
    "BEGIN TRANSACTION READ ONLY",
    "COMMIT",
    "ROLLBACK",
    "ROLLBACK; MATCH (t:Turn) SET t.text = 'x'",
    "COMMIT; CREATE (:Turn {id: 'x'})",
    "RETURN 1; CREATE (:Turn {id: 'x'})",
    "MATCH (t:Turn) RETURN t; MATCH (t:Turn) DELETE t;",
    "CHECKPOINT",
    "EXPLAIN MATCH (t:Turn) RETURN t",
    "PROFILE MATCH (t:Turn) RETURN t",
    "PROFILE CREATE (:Turn {id: 'x'})",
    "RETURN nextval('x')",
    "RETURN `nextval`('x')",
    "RETURN currval('x')",
    "RETURN error('x')",
    "RETURN copy_csv('x')",
    "RETURN repeat('x', 1000000000)",
    "RETURN lpad('x', 1000000000, 'y')",
    "RETURN size(range(1, 1000000000))",
    "RETURN size(range(1, 10 + 1000000000))",
    "RETURN _cache_array_column_locally('x')",
    "MATCH (t:Turn) RETURN t.session, count(DISTINCT t.role), collect(t.id)",
    "MATCH (t:Turn) WITH t.session AS s, max(t.at) AS at, sum(DISTINCT t.at) AS x RETURN at",
    "FOREACH (x IN [1] | SET x = 2)",
    "MATCH (t:Turn) YIELD t RETURN 1",
    "WITH 1 AS x CREATE (:Turn {id: 'x'}) RETURN x",
    "MATCH (t:Turn) WHERE t:Turn SET t.text = 'x' RETURN 1",
    "MATCH (t:Turn) RETURN t.id AS x SET t.text = 'x'",
    "RETURN 1SET",
    "MATCH (t:Turn) RETURN t FROBNICATE t",
    "RETURN EXISTS { MATCH (t:Turn) SET t.text = 'x' }",
    "RETURN $x",
    "$x",
    "RETURN 'a\\q'",
    "RETURN 'open",
    "RETURN `open",
    "RETURN 1 /* open",
    "RETURN 'it''s' SET",
    "RETURN 'a\x00b'",
    "RETURN 'a\ud800b'",
    "RETURN \u2019x\u2019",
    "ＣＲＥＡＴＥ (:Turn {id: 'x'})",
    "MATCH (t:Turn) ＳＥＴ t.text = 'x' RETURN 1",
    "MATCH (t:Turn) ſet t.text = 'x' RETURN 1",
    "MATCH (t:Turn)",
    ";",
    ";;",
    "RETURN (1",
    "RETURN 1)",
    "RETURN [1)",
    "RETURN " + "(" * 40 + "1" + ")" * 40,
    "RETURN " + "CASE WHEN true THEN " * 30 + "1" + " END" * 30,
    "RETURN " + "1+" * 5000 + "1",
    "RETURN '" + "x" * LONGEST + "'",
)  # fmt: skip

BLANK = "\u2003"
SPELLINGS: tuple[Callable[[str], str], ...] = (
    str,
    str.lower,
    lambda query: "".join(each.upper() if at % 2 else each.lower() for at, each in enumerate(query)),
    lambda query: query.replace(" ", "/* x */"),
    lambda query: query.replace(" ", " // RETURN 1\n"),
    lambda query: query.replace(" ", BLANK),
    lambda query: query.replace(" ", "\r\n\t"),
    lambda query: f"/* RETURN 1; */ {query} // ;",
    lambda query: f"{query};",
    lambda query: f";{query}",
    lambda query: f"RETURN 1; {query}",
    lambda query: f"{query}; RETURN 1",
    lambda query: f"\ufeff{query}",
)


def state(memory: Memory, folder: Path) -> tuple[object, ...]:
    """What a write could change: the graph's rows, its settings, and every file beside it."""
    counted = [
        memory.query(query)
        for query in (
            "MATCH (n) RETURN label(n) AS label, count(*) AS n ORDER BY label",
            "MATCH ()-[r]->() RETURN label(r) AS label, count(*) AS n ORDER BY label",
            "MATCH (t:Turn) RETURN t.id AS id, t.text AS text ORDER BY id",
            "CALL show_tables() RETURN name ORDER BY name",
            "CALL show_attached_databases() RETURN *",
            "CALL current_setting('threads') RETURN *",
        )
    ]
    files = sorted((str(path), path.stat().st_size) for path in folder.rglob("*") if path.is_file())
    log = hashlib.sha256((folder / "memory" / "log.sqlite").read_bytes()).hexdigest()
    return counted, files, log


def test_nothing_that_writes_or_reaches_out_is_ever_run(spoken: Memory, tmp_path: Path) -> None:
    before = state(spoken, tmp_path)
    for statement in WRITES:
        for spell in SPELLINGS:
            query = spell(statement.replace(OUTSIDE, str(tmp_path)))
            with pytest.raises(Refused, match="Nothing was run"):
                spoken.console(query)
    assert state(spoken, tmp_path) == before


def test_what_the_engine_reads_is_what_was_looked_at() -> None:
    query = "MATCH (t:Turn) // SET\n\u00a0RETURN /* ; */ t.text AS `a b`, 'x // y' ;"
    assert checked(query) == "MATCH (t:Turn)       \n RETURN         t.text AS `a b`, 'x // y'  "


def test_a_refusal_says_where(spoken: Memory) -> None:
    with pytest.raises(Refused, match=r"SET does more than read the graph.*\(line 2, column 3\)") as caught:
        spoken.console("MATCH (t:Turn)\n  SET t.text = 'x'")
    assert (caught.value.line, caught.value.column) == (2, 3)
    with pytest.raises(Refused, match="function nextval is not known"):
        spoken.console("RETURN nextval('x')")
    with pytest.raises(Refused, match="begins with MATCH"):
        spoken.console("FROB (t) RETURN t")
    for blank in ("", " \n", "// nothing but words", "/* */;"):
        with pytest.raises(Refused, match="no query here"):
            spoken.console(blank)
    with pytest.raises(Refused, match=r"\$id has no value"):
        spoken.console("MATCH (t:Turn {id: $id}) RETURN t")
    with pytest.raises(QueryFailed, match="t has no property nope"):
        spoken.console("MATCH (t:Turn) RETURN t.nope")


def test_the_first_rows_come_with_how_many_there_are(spoken: Memory) -> None:
    answer = spoken.console("MATCH (t:Turn) RETURN t.id AS id ORDER BY id", limit=2)
    assert answer == Answer(("id",), (("s0",), ("s1",)), 6, answer.took_ms, "rows")
    assert spoken.console("MATCH (t:Turn) RETURN t.id", limit=0).rows == ()
    assert spoken.console("UNWIND range(1, 50000) AS x RETURN x", limit=10**9).total == 50_000


def test_a_query_that_takes_too_long_is_stopped_and_the_next_one_is_answered(spoken: Memory) -> None:
    long = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a + b)"
    with pytest.raises(QueryTimeout):
        spoken.console(long, timeout_s=0.05)
    assert spoken.console("RETURN 1").rows == ((1,),)


def test_nodes_relationships_and_paths_come_as_plain_values(spoken: Memory) -> None:
    query = "MATCH p = (a:Turn {id: 's1'})-[r:REPLIES_TO]->(b:Turn) RETURN a, r, p"
    node, edge, path = spoken.console(query).rows[0]
    assert (node["_label"], node["id"], node["text"]) == ("Turn", "s1", "s1")
    assert (edge["_label"], edge["_src"]) == ("REPLIES_TO", node["_id"])
    assert [each["id"] for each in path["_nodes"]] == ["s1", "s0"]


def test_values_that_json_lacks_become_words() -> None:
    assert [plain(value) for value in (float("nan"), b"\x01", {"a": {1}}, object)] == [
        "nan", "01", {"a": [1]}, repr(object),
    ]  # fmt: skip


def test_a_value_that_python_has_no_room_for_is_said_to_be_one(spoken: Memory) -> None:
    with pytest.raises(QueryFailed):
        spoken.console("RETURN to_days(999999999999999999)")
    assert spoken.console("RETURN 1").total == 1


def test_the_past_has_a_console_too(spoken: Memory) -> None:
    with spoken.past(4) as past:
        assert past.console("MATCH (t:Turn) RETURN count(*)").rows == ((3,),)
        with pytest.raises(Refused):
            past.console("MATCH (t:Turn) SET t.text = 'x'")


def test_no_word_is_allowed_and_refused() -> None:
    assert not KEYWORDS & REACHING
    assert not {name.upper() for name in FUNCTIONS} & REACHING


def test_every_function_that_is_allowed_is_one_of_the_engine(spoken: Memory) -> None:
    known = {row["name"].lower() for row in spoken.query("CALL show_functions() RETURN name")}
    assert known >= FUNCTIONS
