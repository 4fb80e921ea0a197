"""Values that are hard to show or to give: nested, huge, null, of the wrong type, paths that come round, no rows."""

from typing import Any

import pytest

from graph.errors import EngineEnded, QueryFailed, Refused
from graph.memory import Memory
from tests.graph.talk import said
from tests.graph.teach import observed

pytestmark = pytest.mark.process

LONG = "wren " * 20_000  # 100,000 characters


def test_nested_values_come_as_json_has_them(spoken: Memory) -> None:
    answer = spoken.console.run("RETURN {a: 1, b: {c: [1, null, 2], d: [{e: 'x'}]}} AS deep, [[1], [2, 3]] AS lists")
    assert answer.rows == (({"a": 1, "b": {"c": [1, None, 2], "d": [{"e": "x"}]}}, [[1], [2, 3]]),)
    nodes = spoken.console.run(
        "MATCH (t:Turn) WHERE t.index < 2 WITH t ORDER BY t.id LIMIT 9 RETURN {turn: t, said: [t.text]}"
    )
    assert [row[0]["turn"]["id"] for row in nodes.rows] == ["s0", "s1"]


def test_a_text_of_100_kb_comes_whole_and_is_found(spoken: Memory) -> None:
    spoken.append(said("long", parent="s5", text=LONG))
    answer = spoken.console.run("MATCH (t:Turn {id: 'long'}) RETURN t.text, size(t.text), t")
    assert answer.rows[0][:2] == (LONG, 100_000)
    assert answer.rows[0][2]["text"] == LONG
    found = spoken.console.run("MATCH (t:Turn) WHERE t.text = $text RETURN t.id", parameters={"text": LONG})
    assert found.rows == (("long",),)


def test_nulls_are_values(spoken: Memory) -> None:
    answer = spoken.console.run(
        "MATCH (t:Turn {id: 's0'}) RETURN t.error, null AS nothing, [t.error, t.text], {a: t.error}"
    )
    assert answer.rows == ((None, None, [None, "s0"], {"a": None}),)
    rows = spoken.console.run(
        "MATCH (t:Turn) OPTIONAL MATCH (t)-[r:SUPERSEDES]->(b) RETURN t.id, r, b ORDER BY t.id LIMIT 1"
    )
    assert rows.rows == (("s0", None, None),)
    some = "MATCH (t:Turn) WHERE $role IS NULL OR t.role = $role RETURN count(*)"
    assert spoken.console.run(some, parameters={"role": None}).rows == ((6,),)
    assert spoken.console.run(some, parameters={"role": "user"}).rows == ((3,),)


def test_no_rows_are_an_answer(spoken: Memory) -> None:
    answer = spoken.console.run("MATCH (t:Turn {id: 'nobody'}) RETURN t.id AS id, t")
    assert (answer.columns, answer.rows, answer.total, answer.cut) == (("id", "t"), (), 0, "")


def test_a_path_that_comes_round_ends(spoken: Memory) -> None:
    spoken.append(observed("n", "s0"))  # m and n rest on the same turn, so a walk without direction comes back
    there = "MATCH p = (a:Observation {id: 'm'})-[:DERIVED_FROM*1..4]-(b:Observation) RETURN b.id, length(p)"
    answer = spoken.console.run(there)
    assert answer.rows == (("n", 2),)
    around = "MATCH p = (a:Observation {id: 'm'})-[:DERIVED_FROM* ACYCLIC 1..4]-(b) RETURN p"
    assert all(isinstance(row[0]["_nodes"], list) for row in spoken.console.run(around).rows)


@pytest.mark.parametrize(
    ("query", "value", "told"),
    [
        (
            "MATCH (t:Turn) WHERE t.index = $a RETURN t.id",
            "x",
            r"\$a is a text, which does not fit: .*Could not convert.*\(line 1, column 32\)",
        ),
        ("MATCH (t:Turn) WHERE t.live = $a RETURN t.id", 5, "Cannot compare"),
        (
            "MATCH (t:Turn) WHERE t.id IN $a RETURN t.id",
            "s1",
            r"\$a is a text, which does not fit: list_contains\(\) does not accept STRING and STRING",
        ),
        ("MATCH (t:Turn) WHERE t.id IN $a RETURN t.id", None, r"\$a cannot be null here"),
        ("RETURN list_sum($a)", None, r"\$a cannot be null here"),
        ("RETURN keys($a)", None, r"\$a cannot be null here"),
        ("UNWIND $a AS x RETURN x", 3, "LIST was expected"),
        ("MATCH (t:Turn) RETURN t.id LIMIT $a", "x", "non-negative integer"),
        ("MATCH (t:Turn) RETURN t.id LIMIT $a", -1, "non-negative integer"),
        ("RETURN date($a)", "tomorrow", r"\$a is a text, which does not fit: .*Expected format"),
        ("RETURN $a + 1", "x", r"\$a is a text, which does not fit: \+ does not go with STRING and INT64"),
        ("RETURN $a", [1, "x"], "a list of both"),
        ("RETURN $a", [], "has no type of its own"),
    ],
)
def test_a_value_of_the_wrong_type_is_told_and_the_next_query_is_answered(
    spoken: Memory, query: str, value: Any, told: str
) -> None:
    with pytest.raises(QueryFailed, match=told):
        spoken.console.run(query, parameters={"a": value})
    assert spoken.console.run("MATCH (t:Turn) WHERE t.id = $a RETURN t.index", parameters={"a": "s3"}).rows == ((3,),)


@pytest.mark.parametrize(
    "value", [[], [1, None], ["s1", "s9"], {"a": [{"b": "x"}]}, [{"a": 1}, {"a": None}], 2**62, "é\n"]
)
def test_a_value_that_fits_comes_back_as_it_was(spoken: Memory, value: Any) -> None:
    rows = spoken.console.run("UNWIND $a AS x RETURN x", parameters={"a": [value] if value != [] else value}).rows
    assert rows == (((value,),) if value != [] else ())


def test_unknown_tables_and_properties_name_what_was_meant(spoken: Memory) -> None:
    for query, told in (
        ("MATCH (t:Turns) RETURN t", r"There is no table Turns; did you mean Turn\? \(line 1, column 10\)"),
        ("MATCH (t)-[:DERIVED]->(b) RETURN b", "There is no table DERIVED; did you mean DERIVED_FROM"),
        ("MATCH (t:Turn) RETURN\n t.txet", r"t has no property txet; did you mean text\? \(line 2, column 4\)"),
        ("MATCH (t:Turn) RETURN u.text", r"Nothing is called u here.*\(line 1, column 23\)"),
        ("RETURN uper('x')", r"did you mean upper\?"),
        ("MATCH (t:Turn) RETURN stdev(t.index)", r"here it is sqrt\("),
    ):
        with pytest.raises(QueryFailed, match=told):
            spoken.console.run(query)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("RETURN initcap('ß')", "initcap() does so of letters like ß"),
        ("MATCH (t:Turn) RETURN CASE WHEN {a: t.live}.a THEN 1 ELSE 2 END", "compare it, as in … = true"),
        ("MATCH (t:Turn) WHERE t.id + t.id CONTAINS 'x' RETURN t", "put brackets around what belongs together"),
        ("MATCH (t:Turn) RETURN sum(t.id)", "sum() does not accept STRING; it takes, for example, (INT128)"),
        ("RETURN toFloat('abc')", "'abc' is not a number"),
        ("MATCH (t:Turn) RETURN elementId(t), id(t)", "give each a name with AS"),
        ("WITH [1] AS l, 0 AS k RETURN l[k]", "Lists count from 1 here"),
        ("WITH [1] AS l, 5 AS k RETURN l[k]", "There is no item [5]"),
        (
            "MATCH p = ()-[:REPLIES_TO*2]->() RETURN reduce(s = '', n IN nodes(p) | s + n.id + n.role)",
            "of the same type",
        ),
        ("MATCH (t:Turn) RETURN t.id ORDER BY size((t)--())", "return it AS n, and ORDER BY n"),
        ("RETURN CAST('abc' AS INT64)", "Could not convert"),
    ],
)
def test_the_engines_inner_words_become_a_short_sentence(spoken: Memory, query: str, told: str) -> None:
    with pytest.raises(QueryFailed) as caught:
        spoken.console.run(query)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)
    assert spoken.console.run("RETURN 1").rows == ((1,),)


@pytest.mark.parametrize(
    "query",
    [
        "RETURN timestamp('290000-01-01 00:00:00')",
        "RETURN date('10000-01-01')",
        "RETURN date('0000-01-01')",
        "RETURN make_date(99999, 1, 1)",
        "RETURN make_date(0, 1, 1)",
        "RETURN to_timestamp(999999999999)",
        "RETURN epoch_ms(999999999999999)",
        "WITH null AS x RETURN nodes(x)",
        "WITH 1 AS a, null AS x RETURN keys(x)",
    ],
)
def test_what_would_bring_the_engine_down_is_refused_where_it_can_be_seen(spoken: Memory, query: str) -> None:
    with pytest.raises(Refused, match=r"year 9999|bare null"):
        spoken.console.run(query)


def test_an_engine_that_broke_down_says_what_the_reason_may_be(spoken: Memory) -> None:
    with pytest.raises(EngineEnded, match=r"it broke down: .* years 1 to 9999, or of a null that has no type"):
        spoken.console.run("RETURN date('2020-01-01') + interval('100000 years')")
    early = "RETURN make_date(9999, 12, 31), date('0001-01-01'), timestamp('9999-12-31 23:59:59'), epoch_ms(0)"
    assert spoken.console.run(early).rows[0][:2] == ("9999-12-31", "0001-01-01")
    assert spoken.console.run("WITH null AS x RETURN x, coalesce(x, 1)").rows == ((None, 1),)
