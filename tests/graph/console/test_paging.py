"""The first rows and the count are made of the same statement, and say the same as the statement as a whole."""

import pytest

from graph.console.console import Answer
from graph.console.grammar import checked
from graph.console.paging import Paged, paged
from graph.memory import Memory
from tests.graph.talk import talk

pytestmark = pytest.mark.process

MADE: dict[str, tuple[str, str | None]] = {
    "MATCH (t:Turn) RETURN t.id": ("MATCH (t:Turn) RETURN t.id LIMIT 3", "MATCH (t:Turn) RETURN count(*)"),
    "MATCH (t:Turn) RETURN * ORDER BY t.at": (
        "MATCH (t:Turn) RETURN * ORDER BY t.at LIMIT 3",
        "MATCH (t:Turn) RETURN count(*)",
    ),
    "MATCH (t:Turn) RETURN t LIMIT 2": ("MATCH (t:Turn) RETURN t LIMIT 2", "MATCH (t:Turn) RETURN count(*)"),
    "MATCH (t:Turn) RETURN t SKIP 1 LIMIT 99": (
        "MATCH (t:Turn) RETURN t SKIP 1 LIMIT 3",
        "MATCH (t:Turn) RETURN count(*)",
    ),
    "MATCH (t:Turn) RETURN DISTINCT t.role AS role, t.at % 2": (
        "MATCH (t:Turn) RETURN DISTINCT t.role AS role, t.at % 2 LIMIT 3",
        "MATCH (t:Turn) WITH DISTINCT t.role AS _0, t.at % 2 AS _1 RETURN count(*)",
    ),
    "MATCH (t:Turn) RETURN t.role, coalesce(max(t.at), 0) AS at ORDER BY at": (
        "MATCH (t:Turn) RETURN t.role, coalesce(max(t.at), 0) AS at ORDER BY at LIMIT 3",
        "MATCH (t:Turn) WITH t.role AS _0, coalesce(max(t.at), 0) AS _1 RETURN count(*)",
    ),
    "MATCH (t:Turn) RETURN t.`limit`, {limit: 1} AS m": (
        "MATCH (t:Turn) RETURN t.`limit`, {limit: 1} AS m LIMIT 3",
        "MATCH (t:Turn) RETURN count(*)",
    ),
    "MATCH (t:Turn) WITH t ORDER BY t.at LIMIT 5 RETURN t.at AS limit": (
        "MATCH (t:Turn) WITH t ORDER BY t.at LIMIT 5 RETURN t.at AS limit LIMIT 3",
        "MATCH (t:Turn) WITH t ORDER BY t.at LIMIT 5 RETURN count(*)",
    ),
    "RETURN EXISTS { MATCH (t:Turn) RETURN t } AS x": (
        "RETURN EXISTS { MATCH (t:Turn) RETURN t } AS x LIMIT 3",
        "RETURN count(*)",
    ),
    # As a whole:
    "RETURN 1 AS x UNION ALL RETURN 2 AS x": ("RETURN 1 AS x UNION ALL RETURN 2 AS x", None),
    "MATCH (t:Turn) RETURN t LIMIT $n": ("MATCH (t:Turn) RETURN t LIMIT $n", None),
    "MATCH (t:Turn) RETURN t LIMIT 1 + 1": ("MATCH (t:Turn) RETURN t LIMIT 1 + 1", None),
    "MATCH (t:Turn) RETURN t SKIP $n LIMIT 1": ("MATCH (t:Turn) RETURN t SKIP $n LIMIT 1", None),
    "CALL show_tables() RETURN *": ("CALL show_tables() RETURN *", None),
}


@pytest.mark.parametrize("statement", MADE)
def test_two_statements_are_made_of_one(statement: str) -> None:
    made = paged(statement, 3)
    assert (made.first, made.counted) == MADE[statement]


def test_a_count_is_that_of_rows_after_skip_and_limit() -> None:
    assert Paged("", "").total(7) == 7
    assert Paged("", "", skip=3).total(7) == 4
    assert Paged("", "", skip=9).total(7) == 0
    assert Paged("", "", skip=3, limit=2).total(7) == 2
    assert Paged("", "", limit=0).total(7) == 0


SAME = (
    "MATCH (t:Turn) RETURN t.id",
    "MATCH (t:Turn) RETURN t.id ORDER BY t.id DESC SKIP 2",
    "MATCH (t:Turn) RETURN t.id ORDER BY t.id SKIP 2 LIMIT 7",
    "MATCH (t:Turn) RETURN t.id ORDER BY t.id SKIP 2 LIMIT 1",
    "MATCH (t:Turn) RETURN t.id SKIP 99",
    "MATCH (a:Turn), (b:Turn) RETURN a.role, b.id",
    "MATCH (a:Turn), (b:Turn) RETURN DISTINCT a.role AS x, b.role",
    "MATCH (a:Turn), (b:Turn) RETURN DISTINCT a.role, b.id SKIP 1 LIMIT 9",
    "MATCH (t:Turn) RETURN t.`index`, count(*) AS n, collect(t.id)",
    "MATCH (t:Turn) RETURN t.role, count(DISTINCT t.id)",
    "MATCH (t:Turn) RETURN count(*), max(t.at)",
    "MATCH (t:Turn) WHERE t.id = 'none' RETURN t.role, count(*)",
    "MATCH (t:Turn) WHERE t.id = 'none' RETURN count(*)",
    "MATCH (t:Turn) RETURN DISTINCT *",
    "MATCH (t:Turn) OPTIONAL MATCH (t)<-[:REPLIES_TO]-(u:Turn) RETURN t.id, u.id",
    "MATCH p = (a:Turn)-[:REPLIES_TO*1..3]->(b:Turn) RETURN p",
    "UNWIND [1, 1, NULL, 2] AS x RETURN DISTINCT x",
    "UNWIND range(1, 50) AS x UNWIND [1, 2] AS y RETURN x + y AS `a b`, x ORDER BY `a b` DESC, x LIMIT 60",
    "RETURN 1",
    "RETURN 1 AS x UNION RETURN 1 AS x UNION RETURN 2 AS x",
    "MATCH (t:Turn) WITH t.role AS r, count(*) AS n ORDER BY n LIMIT 1 RETURN r, n",
)  # fmt: skip


@pytest.mark.parametrize("query", SAME)
def test_few_rows_come_with_the_total_of_all(whole: Memory, query: str) -> None:
    talk(whole, 9)
    every = whole._graph.query(checked(query), None, timeout_s=10)
    for limit in (0, 2, 500):
        answer = whole.console.run(query, limit=limit)
        assert len(answer.rows) == min(limit, len(every))
        assert answer.total == len(every)
        assert answer.cut == ("rows" if len(every) > limit else "")
        if "ORDER BY" in query:
            assert [tuple(row.values()) for row in every[:limit]] == list(answer.rows)


def test_a_count_comes_after_the_rows_only_where_there_are_more(whole: Memory) -> None:
    talk(whole, 3)
    told: list[Answer] = []
    whole.console.run("MATCH (t:Turn) RETURN t.id", limit=3, first=told.append)
    whole.console.run("MATCH (t:Turn) RETURN t.id", limit=2, first=told.append)
    assert [each.total for each in told] == [3, None]


def test_values_are_given_to_the_count_that_it_asks_for(whole: Memory) -> None:
    talk(whole, 9)
    query = "MATCH (t:Turn) WHERE t.id <> $id RETURN t.id + $more AS x"
    answer = whole.console.run(query, parameters={"id": "s0", "more": "!"}, limit=2)
    assert (len(answer.rows), answer.total) == (2, 8)
