"""What people who know Cypher write is answered as Python answers it, or refused with what to say instead."""

from datetime import date, datetime

import pytest

from graph.console.dialect import translated
from graph.console.grammar import checked
from graph.console.lexing import place_in, tokens_of
from graph.errors import QueryFailed, Refused
from graph.memory import Memory
from tests.graph.console.conftest import place_of
from tests.graph.console.known import EDGES, TURNS
from tests.graph.console.ordinary import READS as ORDINARY
from tests.graph.console.reads import MENDED, READS, REFUSED, Rows


def answered(memory: Memory, query: str) -> Rows | str:
    """The rows, in an order of their own where the query does not say one; or why there are none."""
    try:
        return in_order(query, list(memory.console.run(query).rows))
    except QueryFailed as error:
        return str(error)


def in_order(query: str, rows: Rows) -> Rows:
    return rows if "ORDER BY" in query else sorted(rows, key=repr)


@pytest.mark.process
@pytest.mark.parametrize("table", [MENDED, READS], ids=["mended", "others"])
def test_a_read_finds_what_python_finds(known: Memory, table: dict[str, Rows]) -> None:
    assert known.console.run("MATCH ()-[r]->() RETURN count(*)").rows == ((len(EDGES),),)
    found = {query: answered(known, query) for query in table}
    assert found == {query: in_order(query, rows) for query, rows in table.items()}


@pytest.mark.process
def test_what_cannot_be_mended_is_refused_with_what_to_say(known: Memory) -> None:
    values = {"word": "x", "part": "week"}
    for query, told in REFUSED.items():
        with pytest.raises(Refused, match=told):
            known.console.run(query, parameters={name: value for name, value in values.items() if f"${name}" in query})


@pytest.mark.process
def test_a_time_is_compared_with_a_day_that_is_given_and_columns_are_headed_as_they_were_written(known: Memory) -> None:
    later = sum(f"{each.said:%Y-%m-%d}" >= "2026-01-05" for each in TURNS)
    for day in ("2026-01-05", "2026-01-05T00:00", date(2026, 1, 5), datetime(2026, 1, 5)):
        for condition in ("t.at >= $day", "$day <= t.at"):
            query = f"MATCH (t:Turn) WHERE {condition} RETURN count(*)"
            assert known.console.run(query, parameters={"day": day}).rows == ((later,),)
    query = "MATCH (t:Turn {id: 'l1'})-[r:IN_SESSION]->(s) RETURN type(r), [s.id], t.role AS who, toUpper( t.id )"
    assert known.console.run(query).columns == ("type(r)", "[s.id]", "who", "toUpper( t.id )")
    assert known.console.run("MATCH (t:Turn {id: 'l1'}) RETURN *").columns == ("t",)


@pytest.mark.process
def test_what_is_wrong_is_told_with_its_place_as_it_was_written(known: Memory) -> None:
    for query, place in (
        ("MATCH (a)-->(b)<--(c)\nRETURN year(a.at), toString(1) + ", (2, 33)),
        ("MATCH (a)-->(b)<--(c)\nRETURN toString(1), nobody.x", (2, 21)),
        ("MATCH (a)-->(b)<--(c)\nRETURN toString(1), delete(a)", (2, 21)),
        ("MATCH (t:Turn)\nWHERE t.id != 'l1' AND t.text =~ '*x'\nRETURN t", (2, 34)),
    ):
        assert place_of(known, query) == place


def test_what_the_engine_gets_is_what_the_wall_looked_at() -> None:
    for query in (*MENDED, *READS, *ORDINARY):
        tokens, read = translated(query), tokens_of(checked(query))
        assert [each.text for each in read if each.sort != "string"] == [
            each.text for each in tokens if each.sort != "string"
        ]
        for token, again in zip(tokens, read, strict=True):
            assert place_in(query, tokens, again.place) == token.place


def test_what_would_become_too_long_is_refused() -> None:
    with pytest.raises(Refused, match="take it apart with WITH"):
        checked(f"RETURN {'toString(' * 9}1{')' * 9}")
