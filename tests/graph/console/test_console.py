"""The console: what only reads is answered, and nothing else ever reaches the engine, however it is written."""

import pytest

from graph.console.console import Answer, plain
from graph.console.grammar import checked
from graph.errors import QueryFailed, QueryTimeout, Refused
from graph.memory import Memory
from tests.graph.console.conftest import place_of

pytestmark = pytest.mark.process


def test_what_the_engine_reads_is_what_was_looked_at() -> None:
    query = "MATCH (t:Turn) // SET\n\u00a0RETURN /* ; */ t.text AS `a b`, 'x // y' ;"
    assert checked(query) == "MATCH (t:Turn)       \n RETURN         t.text AS `a b`, 'x // y'  "


def test_a_refusal_says_where(standing: Memory) -> None:
    told = r"SET does more than read the graph.*\(line 2, column 3\)"
    assert place_of(standing, "MATCH (t:Turn)\n  SET t.text = 'x'", told, Refused) == (2, 3)
    place_of(standing, "RETURN nextval('x')", "function nextval is not known", Refused)
    place_of(standing, "FROB (t) RETURN t", "begins with MATCH", Refused)
    for blank in ("", " \n", "// nothing but words", "/* */;"):
        place_of(standing, blank, "no query here", Refused)
    place_of(standing, "MATCH (t:Turn {id: $id}) RETURN t", r"\$id has no value", Refused)
    place_of(standing, "MATCH (t:Turn) RETURN t.nope", "t has no property nope")


def test_the_first_rows_come_with_how_many_there_are(standing: Memory) -> None:
    answer = standing.console.run("MATCH (t:Turn) RETURN t.id AS id ORDER BY id", limit=2)
    assert answer == Answer(("id",), (("s0",), ("s1",)), 6, answer.took_ms, "rows")
    assert standing.console.run("MATCH (t:Turn) RETURN t.id", limit=0).rows == ()
    assert standing.console.run("UNWIND range(1, 50000) AS x RETURN x", limit=10**9).total == 50_000


def test_a_query_that_takes_too_long_is_stopped_and_the_next_one_is_answered(standing: Memory) -> None:
    long = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a + b)"
    with pytest.raises(QueryTimeout):
        standing.console.run(long, timeout_s=0.05)
    assert standing.console.run("RETURN 1").rows == ((1,),)


def test_nodes_relationships_and_paths_come_as_plain_values(standing: Memory) -> None:
    query = "MATCH p = (a:Turn {id: 's1'})-[r:REPLIES_TO]->(b:Turn) RETURN a, r, p"
    node, edge, path = standing.console.run(query).rows[0]
    assert (node["_label"], node["id"], node["text"]) == ("Turn", "s1", "s1")
    assert (edge["_label"], edge["_src"]) == ("REPLIES_TO", node["_id"])
    assert [each["id"] for each in path["_nodes"]] == ["s1", "s0"]


def test_values_that_json_lacks_become_words() -> None:
    assert [plain(value) for value in (float("nan"), b"\x01", {"a": {1}}, object)] == [
        "nan", "01", {"a": [1]}, repr(object),
    ]  # fmt: skip


def test_a_value_that_python_has_no_room_for_is_said_to_be_one(standing: Memory) -> None:
    with pytest.raises(QueryFailed):
        standing.console.run("RETURN to_days(999999999999999999)")
    assert standing.console.run("RETURN 1").total == 1
