"""`clew query` with values, and `clew schema`: from the command line to a real memory."""

import re
from typing import Any

import pytest

from graph.console.console import Answer
from graph.projection.schema import META, NODES, RELS
from tests.tui.commands.conftest import Clew, Remember, refused
from tui.commands.query import as_table, folded, read, summary
from tui.output import width

pytestmark = pytest.mark.usefixtures("words_only")


@pytest.mark.process
def test_values_are_given_by_name_and_what_is_not_shown_is_always_told(clew: Clew, remember: Remember) -> None:
    remember("The boat is at Whitby", "Noted.")
    cypher = "MATCH (t:Turn) WHERE t.text CONTAINS $text AND t.index < $n RETURN t.text AS text, $list AS list"
    ended = clew("query", cypher, "--param", "text=boat", "-p", "$n=1", "-p", 'list=["a", "b"]', "--json")
    assert (ended.code, ended.json["rows"]) == (0, [{"text": "The boat is at Whitby", "list": ["a", "b"]}])
    assert ended.json["cut"] is None
    ended = clew("query", "UNWIND range(1, 40) AS x RETURN x", "--limit", "3", "--format", "csv")
    assert ended.out.split() == ["x", "1", "2", "3"]
    assert re.fullmatch(r"3 of 40 rows, \d+ ms \(use --limit for more\)\n", ended.err)
    assert clew("query", "MATCH (t:Turn) WHERE t.id = 'x' RETURN t.id").err.startswith("0 rows, ")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("3", 3), ("-2.5", -2.5), ("true", True), ("null", None), ('"3"', "3"), ("[1, 2]", [1, 2]),
        ('{"a": 1}', {"a": 1}),
        ("boat", "boat"), ("", ""), ("a=b", "a=b"), ("NaN", "NaN"), ("2026-01-01", "2026-01-01"), ("01", "01"),
        ("[" * 100_000, "[" * 100_000), (" x ", " x "),
    ],
)  # fmt: skip
def test_a_value_is_json_or_else_text(written: str, meant: Any) -> None:
    assert read(written) == meant


def test_a_table_that_is_piped_has_every_word() -> None:
    answer = Answer(("id", "text"), (("1", "hay " * 50 + "needle"),), 1, 1.2)
    assert as_table(answer, width())[1].endswith("hay needle")
    assert as_table(answer, 100)[1].endswith("…")


def test_a_summary_says_why_rows_are_missing() -> None:
    assert summary(Answer(("x",), ((1,),), 1, 1.2)) == "1 row, 1 ms"
    assert summary(Answer(("x",), ((1,),), 9_000, 1.2, "rows")) == "1 of 9,000 rows, 1 ms (use --limit for more)"
    assert summary(Answer(("x",), ((1,), (2,)), None, 1.2)) == "the first 2 rows, and there may be more, 1 ms"
    assert "the others are too large" in summary(Answer(("x",), ((1,),), 2, 1.2, "bytes"))
    assert "the time ran out before the others came" in summary(Answer(("x",), ((1,),), 2, 1.2, "time"))


@pytest.mark.process
def test_one_that_ends_its_engine_failed_and_unknown_names_get_the_one_meant(clew: Clew, remember: Remember) -> None:
    remember("The boat is at Whitby", "Noted.")
    years = "RETURN date('2020-01-01') + interval('100000 years')"
    refused(
        clew,
        (("query", years), 1, "The query ended its engine (it broke down: "),
        (("query", "MATCH (t:Turns) RETURN t"), 2, "There is no table Turns; did you mean Turn?"),
        (("query", "MATCH (t:Turn) RETURN t.txet"), 2, "t has no property txet; did you mean text?"),
        (("query", "MATCH (t:Turn) RETURN u.text"), 2, "Nothing is called u here"),
        (("query", "MATCH (t:Turn) RETURN stdev(t.index)"), 2, "here it is sqrt("),
    )
    assert clew("query", "RETURN 1").code == 0


@pytest.mark.restarts
def test_the_schema_lists_every_table_and_property_with_its_meaning_as_json_too(clew: Clew, remember: Remember) -> None:
    remember("The boat is at Whitby", "Noted.")
    ended = clew("schema")
    assert ended.code == 0
    assert "(:Turn)  2\n  one message" in ended.out
    assert "(:Turn)-[:IN_SESSION]->(:Session)  2" in ended.out
    assert "(:Turn)-[:RECALLED]->(:Turn or :Observation or :Chunk or :Reference)  0" in ended.out
    for table in (*NODES, META, *RELS):
        assert all(f"    {name} " in ended.out for name in table.names)
    told = clew("schema", "--json").json
    assert {each["name"]: each["count"] for each in told["nodes"]}["Turn"] == 2
    assert [each["name"] for each in told["relationships"]] == [each.name for each in RELS]
    recalled = next(each for each in told["relationships"] if each["name"] == "RECALLED")
    assert (recalled["from"], recalled["to"]) == ("Turn", ["Turn", "Observation", "Chunk", "Reference"])
    assert recalled["properties"][0] == {
        "name": "strategy", "type": "STRING", "meaning": "what found it best: words, meaning, the graph, time",
    }  # fmt: skip
    then = clew("schema", "--format", "json", "--as-of", "#2").json
    assert (then["as_of"], {each["name"]: each["count"] for each in then["nodes"]}["Turn"]) == (2, 1)


def test_a_line_goes_on_below_where_there_is_no_room() -> None:
    line = f"    {'at':<17}  INT64   when it was said, in UTC milliseconds"
    assert folded(line, None, under=31) == folded(line, 80, under=31) == line
    assert folded(line, 50, under=31).split("\n")[1].strip()
    for room in (20, 24, 50):
        assert all(len(each) <= room for each in folded(line, room, under=31).split("\n"))
        assert folded(line, room, under=31).split() == line.split()
