"""Old names become those of today in queries that are kept, and are told in those that are typed."""

import pytest

from graph.console.grammar import checked
from graph.console.renames import PROPERTIES, RELATIONSHIPS, renamed
from graph.memory import Memory
from graph.projection.schema import META, NODES, RELS
from tests.graph.console.conftest import place_of
from tests.graph.console.told import tables
from tests.tables import each

TABLES = tables("renames.toml")
REWRITTEN: dict[str, str] = dict(TABLES["rewritten"])


def test_old_names_become_new_ones_and_what_is_not_certainly_an_old_name_stays() -> None:
    found = {query: renamed(query) for query in (*REWRITTEN, *REWRITTEN.values(), *TABLES["left"])}
    assert found == REWRITTEN | {query: query for query in (*REWRITTEN.values(), *TABLES["left"])}


@pytest.mark.process
def test_what_is_rewritten_can_be_run_and_an_old_name_that_is_typed_is_told_with_the_new_one(standing: Memory) -> None:
    for query in REWRITTEN.values():
        checked(query)
        standing.console.validate(query)

    def check(row: tuple[str, int, int, str]) -> None:
        query, line, column, words = row
        assert place_of(standing, query, words) == (line, column)

    each(TABLES["told"], check)
    # A property that its table never had is no old name.
    place_of(standing, "MATCH (s:Session) RETURN s.later", ": s has no property later(?!.*newer_revisions)")


def test_an_old_name_is_never_given_again() -> None:
    names = {each.upper() for table in (*NODES, META, *RELS) for each in (table.name, *table.names)}
    assert names.isdisjoint(each.upper() for each in (*RELATIONSHIPS, *PROPERTIES))
    assert {*RELATIONSHIPS.values(), *PROPERTIES.values()} <= {
        each for table in (*NODES, *RELS) for each in (table.name, *table.names)
    }
