"""Values that are hard to show or to give: nested, huge, null, of the wrong type, paths that come round, no rows."""

from typing import Any

import pytest

from graph.errors import EngineEnded, QueryFailed, Refused
from graph.memory import Memory
from tests.graph.console.conftest import place_of
from tests.graph.console.told import told
from tests.graph.talk import said
from tests.graph.teach import observed
from tests.tables import each

pytestmark = pytest.mark.process

LONG = "wren " * 20_000  # 100,000 characters


def test_nested_values_and_nulls_come_as_json_has_them_and_no_rows_are_an_answer(standing: Memory) -> None:
    run = standing.console.run
    answer = run("RETURN {a: 1, b: {c: [1, null, 2], d: [{e: 'x'}]}} AS deep, [[1], [2, 3]] AS lists")
    assert answer.rows == (({"a": 1, "b": {"c": [1, None, 2], "d": [{"e": "x"}]}}, [[1], [2, 3]]),)
    nodes = run("MATCH (t:Turn) WHERE t.index < 2 WITH t ORDER BY t.id LIMIT 9 RETURN {turn: t, said: [t.text]}")
    assert [row[0]["turn"]["id"] for row in nodes.rows] == ["s0", "s1"]
    nulls = run("MATCH (t:Turn {id: 's0'}) RETURN t.error, null AS nothing, [t.error, t.text], {a: t.error}")
    assert nulls.rows == ((None, None, [None, "s0"], {"a": None}),)
    left = run("MATCH (t:Turn) OPTIONAL MATCH (t)-[r:SUPERSEDES]->(b) RETURN t.id, r, b ORDER BY t.id LIMIT 1")
    assert left.rows == (("s0", None, None),)
    some = "MATCH (t:Turn) WHERE $role IS NULL OR t.role = $role RETURN count(*)"
    assert run(some, parameters={"role": None}).rows == ((6,),)
    assert run(some, parameters={"role": "user"}).rows == ((3,),)
    none = run("MATCH (t:Turn {id: 'nobody'}) RETURN t.id AS id, t")
    assert (none.columns, none.rows, none.total, none.cut) == (("id", "t"), (), 0, "")


def test_a_text_of_100_kb_comes_whole_and_a_path_that_comes_round_ends(spoken: Memory) -> None:
    run = spoken.console.run
    # m and n rest on the same turn, so a walk without direction comes back.
    spoken.append(said("long", parent="s5", text=LONG), observed("n", "s0"))
    answer = run("MATCH (t:Turn {id: 'long'}) RETURN t.text, size(t.text), t")
    assert answer.rows[0][:2] == (LONG, 100_000)
    assert answer.rows[0][2]["text"] == LONG
    assert run("MATCH (t:Turn) WHERE t.text = $text RETURN t.id", parameters={"text": LONG}).rows == (("long",),)
    there = "MATCH p = (a:Observation {id: 'm'})-[:DERIVED_FROM*1..4]-(b:Observation) RETURN b.id, length(p)"
    assert run(there).rows == (("n", 2),)
    around = "MATCH p = (a:Observation {id: 'm'})-[:DERIVED_FROM* ACYCLIC 1..4]-(b) RETURN p"
    assert all(isinstance(row[0]["_nodes"], list) for row in run(around).rows)


def test_a_value_of_the_wrong_type_is_told_and_the_next_query_is_answered(standing: Memory) -> None:
    def check(row: tuple[str, tuple[Any, str]]) -> None:
        query, (value, words) = row
        with pytest.raises(QueryFailed, match=words):
            standing.console.run(query, parameters={"a": value})
        index = "MATCH (t:Turn) WHERE t.id = $a RETURN t.index"
        assert standing.console.run(index, parameters={"a": "s3"}).rows == ((3,),)

    each(told("values.txt").items(), check)


def test_a_value_that_fits_comes_back_as_it_was(standing: Memory) -> None:
    def check(value: Any) -> None:
        given = [value] if value != [] else value
        rows = standing.console.run("UNWIND $a AS x RETURN x", parameters={"a": given}).rows
        assert rows == (((value,),) if value != [] else ())

    each([[], [1, None], ["s1", "s9"], {"a": [{"b": "x"}]}, [{"a": 1}, {"a": None}], 2**62, "é\n"], check)


def test_what_the_engine_does_not_know_or_calls_by_inner_words_becomes_a_short_sentence(standing: Memory) -> None:
    place_of(
        standing, "MATCH (t:Turns) RETURN t", r"There is no table Turns; did you mean Turn\? \(line 1, column 10\)"
    )
    place_of(standing, "MATCH (t)-[:DERIVED]->(b) RETURN b", "There is no table DERIVED; did you mean DERIVED_FROM")
    nope = r"t has no property txet; did you mean text\? \(line 2, column 4\)"
    place_of(standing, "MATCH (t:Turn) RETURN\n t.txet", nope)
    place_of(standing, "MATCH (t:Turn) RETURN u.text", r"Nothing is called u here.*\(line 1, column 23\)")
    place_of(standing, "RETURN uper('x')", r"did you mean upper\?")
    place_of(standing, "MATCH (t:Turn) RETURN stdev(t.index)", r"here it is sqrt\(")

    def check(row: tuple[str, str]) -> None:
        query, words = row
        with pytest.raises(QueryFailed) as caught:
            standing.console.run(query)
        assert words in str(caught.value)
        assert len(str(caught.value)) < 250
        assert "\n" not in str(caught.value)
        assert standing.console.run("RETURN 1").rows == ((1,),)

    each(told("inner_words.txt").items(), check)


def test_what_would_bring_the_engine_down_is_refused_where_it_can_be_seen(standing: Memory) -> None:
    for query in (
        "RETURN timestamp('290000-01-01 00:00:00')",
        "RETURN date('10000-01-01')",
        "RETURN date('0000-01-01')",
        "RETURN make_date(99999, 1, 1)",
        "RETURN make_date(0, 1, 1)",
        "RETURN to_timestamp(999999999999)",
        "RETURN epoch_ms(999999999999999)",
        "WITH null AS x RETURN nodes(x)",
        "WITH 1 AS a, null AS x RETURN keys(x)",
    ):
        place_of(standing, query, "year 9999|bare null", Refused)


def test_an_engine_that_broke_down_says_what_the_reason_may_be(standing: Memory) -> None:
    with pytest.raises(EngineEnded, match=r"it broke down: .* years 1 to 9999, or of a null that has no type"):
        standing.console.run("RETURN date('2020-01-01') + interval('100000 years')")
    early = "RETURN make_date(9999, 12, 31), date('0001-01-01'), timestamp('9999-12-31 23:59:59'), epoch_ms(0)"
    assert standing.console.run(early).rows[0][:2] == ("9999-12-31", "0001-01-01")
    assert standing.console.run("WITH null AS x RETURN x, coalesce(x, 1)").rows == ((None, 1),)
