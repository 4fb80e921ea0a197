"""The first rows and the count are made of the same statement, and say the same as the statement as a whole."""

import pytest

from graph.console.console import Answer
from graph.console.grammar import checked
from graph.console.paging import Paged, paged
from graph.memory import Memory
from tests.graph.console.told import tables
from tests.graph.talk import talk
from tests.tables import each

pytestmark = pytest.mark.process

TABLES = tables("paging.toml")


def test_two_statements_are_made_of_one_or_it_is_asked_as_a_whole() -> None:
    def check(row: tuple[str, str, str | None]) -> None:
        statement, first, counted = row
        made = paged(statement, 3)
        assert (made.first, made.counted) == (first, counted)

    each([*TABLES["made"], *((statement, statement, None) for statement in TABLES["whole"])], check)


def test_a_count_is_that_of_rows_after_skip_and_limit() -> None:
    assert Paged("", "").total(7) == 7
    assert Paged("", "", skip=3).total(7) == 4
    assert Paged("", "", skip=9).total(7) == 0
    assert Paged("", "", skip=3, limit=2).total(7) == 2
    assert Paged("", "", limit=0).total(7) == 0


def test_few_rows_come_with_the_total_of_all_and_a_count_only_where_there_are_more(whole: Memory) -> None:
    talk(whole, 9)

    def check(query: str) -> None:
        every = whole._graph.query(checked(query), None, timeout_s=10)
        for limit in (0, 2, 500):
            told: list[Answer] = []
            answer = whole.console.run(query, limit=limit, first=told.append)
            assert len(answer.rows) == min(limit, len(every))
            assert answer.total == len(every)
            assert answer.cut == ("rows" if len(every) > limit else "")
            if "ORDER BY" in query:
                assert [tuple(row.values()) for row in every[:limit]] == list(answer.rows)
            if "LIMIT" not in query and "UNION" not in query:
                assert [first.total for first in told] == [None if len(every) > limit else len(every)]

    each(TABLES["same"], check)
    query = "MATCH (t:Turn) WHERE t.id <> $id RETURN t.id + $more AS x"
    answer = whole.console.run(query, parameters={"id": "s0", "more": "!"}, limit=2)  # which the count asks for too
    assert (len(answer.rows), answer.total) == (2, 8)
