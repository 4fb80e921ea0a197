"""A copy for whoever may see only what is live: nothing else is in it, however it is asked for."""

import json

import pytest

from graph.console.live_subset import cuts
from graph.events import MAIN_WORLD, Relation, RelationNoted, SessionConfigured
from graph.memory import Memory
from graph.projection.schema import NODES, RELS
from tests.graph.deeds import begin, delete, drop, fork, hide, move, rename, titled, withhold, write
from tests.graph.talk import reply, said, talk
from tests.graph.teach import noted, observed, read, retire

pytestmark = pytest.mark.process


@pytest.fixture
def varied(whole: Memory) -> Memory:
    """Something of every state that there is; the words of what is not live have `gone` in them."""
    talk(whole, 4)
    whole.append(said("aside", parent="s3", text="gone aside"), move("s", "s3"))
    whole.append(said("h", parent="s3", text="gone hidden"), reply("after", parent="h"))
    whole.append(said("d", parent="after", text="gone deleted"), said("w", parent="d", text="gone withheld"))
    whole.append(said("end", parent="w", text="the last word"), observed("kept", "s0", text="a fact that is kept"))
    whole.append(observed("of hidden", "h", text="gone with its turn"))
    whole.append(observed("candidate", "s0", text="gone: not reviewed", status="candidate"))
    whole.append(observed("wrong", "s0", text="gone: retired"), *read("doc", "c1", "c2 gone"))
    whole.append(*read("doc", "c1", new=()), *read("taken out", "c9"), *read("taken out"))
    whole.append(write("user", "gone: the user's own affair"))
    old = observed("old", "s2", text="gone: superseded")
    whole.append(old, observed("new", "s2", after=old, text="a newer fact"))
    whole.append(hide("h"), delete("d"), withhold("w"), retire("wrong", "s2"), begin("x"))
    whole.append(said("x1", session="x", text="gone with its chat"), rename("x", "gone name"), drop("x"))
    return whole


def test_only_what_is_live_is_there_and_no_word_of_anything_else_can_be_had(varied: Memory) -> None:
    def ids(table: str) -> set[str]:
        return {id for (id,) in varied.console.run(f"MATCH (n:{table}) RETURN n.id", live_only=True).rows}

    assert ids("Turn") == {"s0", "s1", "s2", "s3", "after", "end"}
    assert ids("Observation") == {"kept", "new"}
    assert ids("Session") == {"s"}
    assert ids("Wording") == set()
    assert ids("World") == {"main"}
    assert ids("Document") == {"doc"}
    assert ids("Chunk") == {"c1"}
    assert ids("Entity") == {"you", "assistant"}
    assert ids("CoreBlock") == set()
    assert varied.console.run("MATCH (n:Turn) RETURN count(*)").rows[0][0] > 6  # all of it, for who may see all
    assert len(set(varied._apart.pids())) == 2  # of a copy each
    for table in NODES:
        answer = varied.console.run(f"MATCH (n:{table.name}) RETURN n", live_only=True)
        assert "gone" not in json.dumps(answer.rows)
    for rel in RELS:
        answer = varied.console.run(f"MATCH (a)-[r:`{rel.name}`]->(b) RETURN a, r, b", live_only=True)
        assert "gone" not in json.dumps(answer.rows)


NOTED = noted("e", "Gonetta", "h")


def test_what_is_only_supposed_or_said_of_what_is_hidden_or_the_users_own_affair_is_not_there(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(fork("w", "s", "s1", "if"), said("if1", session="w", parent="s1", text="gone: only supposed"))
    whole.append(observed("supposed", "if1", text="gone: only supposed", world="if"), titled("s", "gone title", "s0"))
    whole.append(SessionConfigured(session="s", text="gone: the user's own affair"))
    whole.append(write("user", "gone: the user's own affair"), said("h", parent="s3", text="gone"), NOTED)
    named = "MATCH (e:Entity {id: 'e'}) RETURN count(*)"
    assert whole.console.run(named, live_only=True).rows == ((1,),)
    whole.append(hide("h"), hide("s0"))
    assert whole.console.run(named, live_only=True).rows == ((0,),)
    assert whole.console.run(named).rows == ((1,),)
    for cypher in (
        "MATCH (s:Session) RETURN s.system_prompt",
        "MATCH (b:CoreBlock) RETURN b.text",
        "MATCH (n) RETURN n",
    ):
        assert "gone" in json.dumps(whole.console.run(cypher).rows)
        assert "gone" not in json.dumps(whole.console.run(cypher, live_only=True).rows)
    assert "if1" in {row[0] for row in whole.console.run("MATCH (t:Turn) RETURN t.id").rows}


def test_every_table_is_cut_or_said_to_stay() -> None:
    cut = "\n".join(statement for statement, _ in cuts("boats"))
    assert f"'{MAIN_WORLD}'" in cut
    assert {table.name for table in NODES if f"`{table.name}`" not in cut} == set()


def test_of_relationships_only_those_that_something_live_says_are_there(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(
        observed("said", "s0"),
        observed("hidden", "s2"),
        *(
            RelationNoted.of(each, Relation(subject="you", kind="knows", object="assistant"))
            for each in ("said", "hidden")
        ),
        said("h", parent="s3", text="gone"),
        NOTED,
        observed("gone", "h"),
        RelationNoted.of("gone", Relation(subject="you", kind="likes", object="e")),
    )
    edges = "MATCH (:Entity)-[r:RELATES]->(:Entity) RETURN r.observation ORDER BY r.observation"
    assert whole.console.run(edges, live_only=True).rows == (("gone",), ("hidden",), ("said",))
    whole.append(hide("s2"), hide("h"))
    assert whole.console.run(edges, live_only=True).rows == (("said",),)
    assert whole.console.run("MATCH (e:Entity {id: 'e'}) RETURN count(*)", live_only=True).rows == ((0,),)
    assert whole.console.run(edges).rows == (("said",),)
