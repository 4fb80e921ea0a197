"""What the engine says against a query becomes a sentence with its place."""

import pytest

from graph.errors import QueryFailed, Refused
from graph.memory import Memory

pytestmark = pytest.mark.process

WRONG = {
    "RETURN 1 +": (1, 11, "unexpected here"),
    "MATCH (t:Turn)\nRETURN t.id AS": (2, 15, "unexpected here"),
    "MATCH (t:Turn) RETURN t.id, , t.at": (1, 29, "unexpected here"),
    "MATCH (t:Turn)\n RETURN t.nope": (2, 11, "no property nope"),
    "MATCH (t:Turns) RETURN t": (1, 10, "did you mean Turn"),
    "MATCH (t:Turn)\n\nRETURN x": (3, 8, "Nothing is called x"),
}


def test_a_wrong_query_is_told_with_its_place_whether_it_is_run_or_looked_at(standing: Memory) -> None:
    for query, (line, column, words) in WRONG.items():
        for ask in (standing.console.run, standing.console.validate):
            with pytest.raises(QueryFailed, match=words) as caught:
                ask(query)
            assert (caught.value.line, caught.value.column) == (line, column)
            assert "LIMIT" not in str(caught.value)
            assert "EXPLAIN" not in str(caught.value)


def test_looking_at_a_query_runs_nothing_and_asks_for_no_values(standing: Memory) -> None:
    standing.console.validate("UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a + b)")
    standing.console.validate("MATCH (t:Turn) WHERE t.id = $id RETURN t LIMIT 3")
    standing.console.validate("MATCH (t:Turn) WHERE t.id = $id AND t.world = $world RETURN t", parameters={"id": "s0"})
    with pytest.raises(Refused, match=r"\$id has no value"):
        standing.console.validate("MATCH (t:Turn) WHERE t.id = $id RETURN t", parameters={})
    with pytest.raises(Refused, match="SET does more than read"):
        standing.console.validate("MATCH (t:Turn) SET t.text = 'x'")
