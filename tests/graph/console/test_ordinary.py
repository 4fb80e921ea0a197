"""Reads as people write them are answered; nothing is named to them that does not run."""

import pytest

from graph.console.dialect import TEMPLATES
from graph.console.functions import AGGREGATES, FUNCTION_HELP, FUNCTIONS, INSTEAD, NEVER_OF_NULL, WITH_LAMBDAS
from graph.console.grammar import CLAUSES, KEYWORDS, checked
from graph.console.lexing import Sort, tokens_of
from graph.console.suggestions import plainly
from graph.errors import Refused
from graph.memory import Memory
from graph.projection.schema import META, NODES, RELS
from tests.graph.console.hostile import CANARY
from tests.graph.console.ordinary import READS


@pytest.mark.process
def test_every_read_finds_what_it_should_and_no_canary(standing: Memory) -> None:
    for query, expected in READS.items():
        answer = standing.console.run(query)
        assert (query, list(answer.rows), answer.total) == (query, expected, len(expected))
        assert CANARY not in repr(answer.rows)


@pytest.mark.process
def test_tables_are_listed(standing: Memory) -> None:
    assert standing.console.run("CALL table_info('Meta') RETURN *").total == 4
    assert {row[1] for row in standing.console.run("CALL show_tables() RETURN *;").rows} == {
        each.name for each in (*NODES, META, *RELS)
    }
    assert standing.console.run("CALL show_connection('RECALLED') RETURN *").total == 4


def test_every_clause_keyword_and_function_that_may_be_used_is_in_a_read_that_runs() -> None:
    words, called = set(), set()
    for query in READS:
        tokens = tokens_of(query)
        for at, token in enumerate(tokens):
            if token.sort is Sort.WORD:
                words.add(token.upper)
                if at + 1 < len(tokens) and tokens[at + 1].text == "(":
                    called.add(token.text.lower())
    assert words >= KEYWORDS
    assert words >= CLAUSES
    assert called >= FUNCTIONS


def test_every_function_that_is_allowed_is_one_of_the_engine_and_is_told_in_a_line(standing: Memory) -> None:
    known = {row["name"].lower() for row in standing.query("CALL show_functions() RETURN name")}
    assert known >= FUNCTIONS
    for name, (signature, line) in FUNCTION_HELP.items():
        assert signature.startswith(f"{name}(")
        assert 0 < len(line) < 90
    assert FUNCTION_HELP.keys() >= {name for name, _ in TEMPLATES}
    assert FUNCTIONS >= AGGREGATES | WITH_LAMBDAS | NEVER_OF_NULL
    assert not FUNCTIONS & INSTEAD.keys()


def test_what_the_engine_does_not_know_is_told_with_what_was_meant() -> None:
    for words, told in (
        ("Table Turns does not exist.", "There is no table Turns; did you mean Turn?"),
        ("Table REPLY_TO does not exist.", "There is no table REPLY_TO; did you mean REPLIES_TO?"),
        ("Table Zzz does not exist.", "There is no table Zzz. `clew schema` lists those there are"),
        ("Cannot find property txet for t.", "t has no property txet; did you mean text?"),
        ("Cannot find property zzzzzz for t.", "t has no property zzzzzz"),
    ):
        assert plainly(f"Binder exception: {words}") == told
    assert plainly("Runtime exception: Divide by zero.") == "Runtime exception: Divide by zero."


def test_only_what_the_table_has_is_said_to_be_meant_and_never_the_word_itself() -> None:
    for property, statement, told in (
        ("started_at", "MATCH (t:Turn) RETURN t.started_at", "; did you mean at?"),
        ("said_at", "MATCH (t:Turn)\nRETURN t.said_at", "; did you mean at?"),
        ("begun_at", "MATCH (t:Session) RETURN t.begun_at", ""),
        ("started_at", "MATCH ()-[t:`SAID_BY`]->() RETURN t.started_at", ""),
        ("txet", "MATCH (t:Turn:Session) RETURN t.txet", "; did you mean text?"),
        ("started_at", "MATCH (a)--(t) RETURN t.started_at", "; did you mean "),
    ):
        said = plainly(f"Binder exception: Cannot find property {property} for t.", statement)
        assert said.startswith(f"t has no property {property}{told}")
        assert told or said.endswith(property)
        assert f"mean {property}" not in said


def test_what_other_dialects_have_is_told_with_what_it_is_here() -> None:
    path = r"here it is MATCH p = \(a\)-\[\* SHORTEST 1\.\.5\]-\(b\)"
    for query, told in (
        ("MATCH (a), (b) RETURN shortestPath((a)-[*]-(b))", path),
        ("MATCH (t:Turn) WHERE t.at > datetime({year: 2026}) RETURN t", "here it is datetime"),
        ("MATCH (t:Turn) RETURN to_timestamp(t.at)", r"say epoch_ms\(t\.at\)"),
        ("MATCH (t:Turn) RETURN rand()", r"here it is hash\(x\.id\)"),
        ("RETURN range(1, $n)", "given whole numbers here"),
    ):
        with pytest.raises(Refused, match=told):
            checked(query)


@pytest.mark.process
def test_conditions_that_are_compared_lose_no_rows(standing: Memory) -> None:
    for condition in (
        "t.live",
        "t.live = true",
        "(t.`live`)",
        "CASE WHEN t.live THEN true ELSE false END",
        "NOT t.hidden",
        "t.live AND t.index > 2",
        "coalesce(t.live, false)",
    ):
        for read in ("MATCH (t:Turn) WHERE t.index > 2", "MATCH (t:Turn {role: 'user'})", "MATCH (t:Turn)-->(u:Turn)"):
            ids = f"{read} RETURN t.id AS id, CASE WHEN {condition} THEN 1 ELSE 2 END AS how ORDER BY id"
            plainly_asked = f"{read} RETURN t.id AS id ORDER BY id"
            assert [row[0] for row in standing.console.run(ids).rows] == [
                row[0] for row in standing.console.run(plainly_asked).rows
            ]
