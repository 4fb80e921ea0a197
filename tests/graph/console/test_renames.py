"""Old names become those of today in queries that are kept, and are told in those that are typed."""

import pytest

from graph.console.grammar import checked
from graph.console.renames import PROPERTIES, RELATIONSHIPS, renamed
from graph.errors import QueryFailed
from graph.memory import Memory
from graph.projection.schema import META, NODES, RELS
from tests.graph.talk import talk

REWRITTEN = {
    "MATCH (t:Turn)-[:`IN`]->(s:Session) RETURN s.id": "MATCH (t:Turn)-[:IN_SESSION]->(s:Session) RETURN s.id",
    "MATCH (t)<-[r:IN]-() RETURN r": "MATCH (t)<-[r:IN_SESSION]-() RETURN r",
    "MATCH (t)-[r:REPLIES_TO|:in*1..3]->() RETURN r": "MATCH (t)-[r:REPLIES_TO|:IN_SESSION*1..3]->() RETURN r",
    "MATCH (t)\n  -[ : /* `IN` */ `IN` ]->(s) // :IN\nRETURN 'IN', \"-[:IN]->\", 1 IN [1]": (
        "MATCH (t)\n  -[ : /* `IN` */ IN_SESSION ]->(s) // :IN\nRETURN 'IN', \"-[:IN]->\", 1 IN [1]"
    ),
    "MATCH (t:Turn) WHERE EXISTS { MATCH (t)-[:IN]->() } RETURN t": (
        "MATCH (t:Turn) WHERE EXISTS { MATCH (t)-[:IN_SESSION]->() } RETURN t"
    ),
    "MATCH (t)-[r]->() WHERE r:IN|HEAD AND t.id IN ['a'] RETURN t": (
        "MATCH (t)-[r]->() WHERE r:IN_SESSION|HEAD AND t.id IN ['a'] RETURN t"
    ),
    "MATCH (t:Turn {spells: 'onto'}) WHERE t.onto > 3 RETURN t.`onto` AS a, t.ONTO AS b": (
        "MATCH (t:Turn {past_on_path: 'onto'}) WHERE t.on_path_since > 3 "
        "RETURN t.on_path_since AS a, t.on_path_since AS b"
    ),
    "MATCH p = (t:Turn)-[:REPLIES_TO*]->() RETURN all(n IN nodes(p) WHERE n.onto > 1)": (
        "MATCH p = (t:Turn)-[:REPLIES_TO*]->() RETURN all(n IN nodes(p) WHERE n.on_path_since > 1)"
    ),
    "MATCH (later:Observation) WHERE later.later = 0 AND later.dead = 0 RETURN later.retired AS dead": (
        "MATCH (later:Observation) WHERE later.newer_revisions = 0 AND later.lost_sources = 0 "
        "RETURN later.contradictions AS dead"
    ),
    "MATCH (o) WITH o, {later: o.later} AS m RETURN m": "MATCH (o) WITH o, {later: o.newer_revisions} AS m RETURN m",
}
LEFT = (
    "MATCH (t:Turn) WHERE t.text = 'IN' AND t.role IN ['user'] RETURN t // -[:IN]-> t.onto",
    "MATCH (t:Turn)-[:IN_SESSION]->() RETURN t.on_path_since",
    "MATCH (n:Turn) RETURN n.id AS IN_SESSION, n.text AS `IN`",
    "RETURN {a: `IN`}",
    # Where one of the old names may be something else, none is touched.
    "MATCH (t)-[:IN]->() WITH {onto: 1} AS m RETURN m.onto",
    "MATCH (t:Turn)-[:IN]->() RETURN t {.onto}",
    "MATCH (t:Turn) RETURN t.onto AS t",
    "UNWIND $rows AS row RETURN row.later, $row.later",
    "MATCH (t:Turn) RETURN [x IN [1] | x.onto]",
    "MATCH (t:Turn) RETURN list_filter($l, x -> x.onto)",
    # What cannot be read stays too.
    "MATCH (t)-[:IN]->( RETURN t",
    "MATCH (t)-[:IN]->() RETURN 'open",
    "",
)
TOLD = {
    "MATCH (t:Turn)-[:IN]->(s) RETURN s": (1, 18, "IN is called IN_SESSION now"),
    "MATCH (t:Turn)\n-[r:REPLIES_TO|`IN`]->(s) RETURN s": (2, 16, "IN is called IN_SESSION now"),
    "MATCH (t:Turn)-[r]->() WHERE r:IN RETURN t": (1, 32, "IN is called IN_SESSION now"),
    "MATCH (t)-[r]->() WHERE type(r) = 'IN' RETURN t": (1, 35, "IN is called IN_SESSION now"),
    "MATCH (t)-[r]->() WHERE 'IN' <> label(r) RETURN t": (1, 25, "IN is called IN_SESSION now"),
    "MATCH (t)-[r]->() WHERE type(r) IN ['HEAD', 'IN'] RETURN t": (1, 45, "IN is called IN_SESSION now"),
    "CALL show_connection('IN') RETURN *": (1, 22, "IN is called IN_SESSION now"),
    "MATCH (t:Turn) RETURN t.onto": (1, 25, "t has no property onto; it is called on_path_since now"),
    "MATCH (t:Turn {spells: ''}) RETURN t": (1, 16, "it is called past_on_path now"),
    "MATCH (o:Observation) RETURN o.Later": (1, 32, "it is called newer_revisions now"),
}


@pytest.mark.parametrize("query", REWRITTEN)
def test_old_names_become_new_ones_and_all_else_stays(query: str) -> None:
    assert renamed(query) == REWRITTEN[query]
    assert renamed(REWRITTEN[query]) == REWRITTEN[query]


@pytest.mark.parametrize("query", LEFT)
def test_what_is_no_old_name_or_not_certainly_one_stays(query: str) -> None:
    assert renamed(query) == query


@pytest.mark.process
def test_what_is_rewritten_can_be_run(whole: Memory) -> None:
    talk(whole, 2)
    for query in REWRITTEN.values():
        checked(query)
        whole.console.validate(query)


@pytest.mark.process
@pytest.mark.parametrize("query", TOLD)
def test_an_old_name_that_is_typed_is_told_with_the_new_one(whole: Memory, query: str) -> None:
    line, column, words = TOLD[query]
    with pytest.raises(QueryFailed, match=words) as caught:
        whole.console.run(query)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.process
def test_a_property_that_its_table_never_had_is_no_old_name(whole: Memory) -> None:
    with pytest.raises(QueryFailed, match="s has no property later") as caught:
        whole.console.run("MATCH (s:Session) RETURN s.later")
    assert "newer_revisions" not in str(caught.value)


def test_an_old_name_is_never_given_again() -> None:
    names = {each.upper() for table in (*NODES, META, *RELS) for each in (table.name, *table.names)}
    assert names.isdisjoint(each.upper() for each in (*RELATIONSHIPS, *PROPERTIES))
    assert {*RELATIONSHIPS.values(), *PROPERTIES.values()} <= {
        each for table in (*NODES, *RELS) for each in (table.name, *table.names)
    }
