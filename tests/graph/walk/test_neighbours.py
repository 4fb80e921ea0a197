"""A node and its neighbours on a real graph: what is next to it, in which order, and what is never shown."""

import pytest

from graph.errors import NotFound
from graph.events import EntityNoted, ProjectMade, Recalled, Role
from graph.memory import Memory
from graph.projection.schema import NODES
from graph.values import Edge, Ego, Ref, Side
from graph.walk.neighbours import sides_of
from graph.walk.nodes import TABLES
from tests.graph.deeds import begin, delete, drop, fork, hide, rename, unhide, withhold
from tests.graph.talk import reply, said, talk
from tests.graph.teach import forget, noted, observed, read, reinforce, retire, support


def turn(id: str) -> Ref:
    return Ref("Turn", id)


def memory_of(id: str) -> Ref:
    return Ref("Observation", id)


def side(ego: Ego, relation: str, *, outgoing: bool, table: str) -> Side:
    found = [each for each in ego.sides if each.key == (relation, outgoing, table)]
    assert len(found) == 1, (relation, [each.key for each in ego.sides])
    return found[0]


def ids(of: Side) -> list[str]:
    return [node.ref.id for node in of.nodes]


def named(entity: str, name: str, *turns: str) -> list[EntityNoted]:
    return [noted(entity, name, each) for each in turns]


def test_every_table_of_the_graph_can_be_told() -> None:
    assert set(TABLES) == {table.name for table in NODES}
    for table in NODES:
        told = TABLES[table.name]
        assert {*told.flags, *told.brief, *told.details, *told.times} <= set(table.names)


def test_every_table_has_a_node_that_is_told(whole: Memory) -> None:
    talk(whole, 2)
    whole.append(*named("e", "Ada", "s0"), ProjectMade(project="p", text="boats"), observed("o", "s0", about=("e",)))
    whole.append(*read("d", "c1", "c2"))
    for table in NODES:
        for row in whole.query(f"MATCH (n:`{table.name}`) RETURN n.id AS id"):
            ref = Ref(table.name, row["id"])
            node = whole.walk.node(ref)
            assert node.ref == ref
            assert node.title
            assert whole.walk.ego(ref).node == node
            assert all(key[2] in TABLES for key in sides_of(table.name))


def test_a_turn_has_its_chat_speaker_what_it_follows_what_follows_and_what_was_recalled_by_rank(whole: Memory) -> None:
    talk(whole, 4)
    packed = tuple(Recalled(id=f"s{place}", ranks={"lexical": 4 - place}) for place in range(3))
    whole.append(said("q", parent="s3"), reply("a", parent="q", recalled=packed))
    ego = whole.walk.ego(turn("s1"))
    assert ego.node.title == "s1"
    assert ego.node.details["role"] == "assistant"
    assert ego.node.at is not None
    assert ids(side(ego, "IN_SESSION", outgoing=True, table="Session")) == ["s"]
    assert ids(side(ego, "SAID_BY", outgoing=True, table="Entity")) == ["assistant"]
    assert ids(side(ego, "REPLIES_TO", outgoing=True, table="Turn")) == ["s0"]
    assert ids(side(ego, "REPLIES_TO", outgoing=False, table="Turn")) == ["s2"]
    assert ids(side(ego, "RECALLED", outgoing=False, table="Turn")) == ["a"]
    assert ids(side(whole.walk.ego(turn("a")), "RECALLED", outgoing=True, table="Turn")) == ["s2", "s1", "s0"]


def test_the_newest_turns_and_the_most_proven_memories_come_first(whole: Memory) -> None:
    talk(whole, 6)
    weak, strong = observed("weak", "s0", about=("e",)), observed("strong", "s1", "s2", about=("e",))
    whole.append(*named("e", "Ada Lovelace", "s0", "s2", "s4"), strong, weak)
    whole.append(support("strong", "s4"))
    ego = whole.walk.ego(Ref("Entity", "e"))
    assert ids(side(ego, "MENTIONS", outgoing=False, table="Turn")) == ["s4", "s2", "s0"]
    assert ids(side(ego, "ABOUT", outgoing=False, table="Observation")) == ["strong", "weak"]
    assert [each.relation for each in ego.sides] == ["ABOUT", "MENTIONS"]
    # An entity is found by its name in any case.
    assert whole.walk.node(Ref("Entity", "ada lovelace")).ref == Ref("Entity", "e")
    assert whole.walk.ego(Ref("Entity", "YOU")).node.ref.id == "you"
    assert whole.walk.neighbours(Ref("Entity", "Ada Lovelace"), ("MENTIONS", False, "Turn")).total == 3


def test_a_page_of_neighbours_and_those_with_some_words(whole: Memory) -> None:
    whole.append(begin("s"))
    for number in range(25):
        parent = f"t{number - 1}" if number else None
        whole.append(said(f"t{number}", parent=parent, text=f"Über die {'Larch' if number % 5 else 'oak'} {number}"))
    key = ("IN_SESSION", False, "Turn")
    ego = whole.walk.ego(Ref("Session", "s"))
    assert (ego.sides[0].total, len(ego.sides[0].nodes)) == (25, 20)
    rest = whole.walk.neighbours(Ref("Session", "s"), key, offset=20)
    assert (rest.total, ids(rest)) == (25, ["t4", "t3", "t2", "t1", "t0"])
    found = whole.walk.neighbours(Ref("Session", "s"), key, text="ÜBER OAK", limit=3)
    assert (found.total, ids(found)) == (5, ["t20", "t15", "t10"])
    assert whole.walk.neighbours(Ref("Session", "s"), key, text="birch").nodes == ()
    assert whole.walk.neighbours(Ref("Session", "s"), key, offset=100).nodes == ()
    assert whole.walk.neighbours(Ref("Session", "s"), key, offset=100).total == 25
    assert whole.walk.neighbours(Ref("Session", "s"), ("ABOUT", True, "Entity")).total == 0


def test_the_words_of_a_hidden_turn_are_nowhere(whole: Memory) -> None:
    talk(whole, 2)
    whole.append(said("h", parent="s1", text="xyzzy is the word"))
    whole.append(said("tool", parent="h", role=Role.TOOL, text="recall()\nxyzzy", recalled=(Recalled(id="h"),)))
    whole.append(*named("e", "Xyzzy", "h"), observed("o", "h", text="The word is xyzzy", about=("e",)), hide("h"))
    refs = (turn("h"), turn("tool"), memory_of("o"), Ref("Entity", "e"), Ref("Session", "s"), turn("s1"))
    for ref in refs:
        assert "xyzzy" not in repr(whole.walk.ego(ref)).lower(), ref
        assert "xyzzy" not in repr(whole.walk.around(ref)).lower(), ref
        for key in sides_of(ref.table):
            assert whole.walk.neighbours(ref, key, text="xyzzy").total == 0 or key[2] == "Turn"
            assert "xyzzy" not in repr(whole.walk.neighbours(ref, key, text="xyzzy")).lower()
    for ref in refs[:4]:
        assert (whole.walk.node(ref).mark, whole.walk.node(ref).title) == ("hidden", "")
    assert all(step.words is None for step in whole.walk.provenance("o"))
    whole.append(unhide("h"))
    assert whole.walk.node(turn("h")).title == "xyzzy is the word"
    assert [step.words for step in whole.walk.provenance("o")] == [None, "xyzzy is the word"]


def test_what_is_deleted_is_no_node_and_no_neighbour(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s1"), observed("p", "s2"))
    whole.append(delete("s3"), forget("p"))
    for ref in (turn("s3"), memory_of("p"), turn("nobody"), Ref("Nothing", "x"), Ref("Meta", "0"), Ref("Entity", "x")):
        with pytest.raises(NotFound, match="may have been deleted"):
            whole.walk.ego(ref)
    assert [each.relation for each in whole.walk.ego(turn("s2")).sides if each.table == "Observation"] == []
    turns = side(whole.walk.ego(Ref("Session", "s")), "IN_SESSION", outgoing=False, table="Turn")
    assert ids(turns) == ["s2", "s1", "s0"]
    assert whole.walk.subgraph([turn("s3"), turn("s2")]).nodes == (whole.walk.node(turn("s2")),)
    whole.append(drop("s"))
    with pytest.raises(NotFound):
        whole.walk.node(Ref("Session", "s"))


def test_why_something_is_not_in_force_and_in_which_world_it_is(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(fork("f", "s", "s1", "w"), said("w0", "f", parent="s1"))
    first = observed("o", "s0")
    whole.append(first, observed("o2", "s1", after=first), observed("candidate", "s0", status="candidate"))
    whole.append(observed("retired", "s0"), retire("retired", "s2"), rename("f", "Atlantis"), withhold("s3"))
    marks = {id: whole.walk.node(memory_of(id)).mark for id in ("o", "o2", "candidate", "retired")}
    assert marks == {"o": "superseded", "o2": "", "candidate": "under review", "retired": "retired"}
    assert whole.walk.node(turn("s3")).mark == "kept out"
    assert [whole.walk.node(ref).world for ref in (turn("w0"), turn("s0"), Ref("Session", "f"))] == ["w", None, "w"]
    assert ids(side(whole.walk.ego(Ref("World", "w")), "IN_WORLD", outgoing=False, table="Session")) == ["f"]


def test_the_way_from_a_memory_leads_down_to_its_words(whole: Memory) -> None:
    talk(whole, 6)
    whole.append(*read("d", "c1"))
    first = observed("o", "s0", "c1")
    second = observed("o2", "s2", after=first)
    whole.append(first, second)
    whole.append(support("o2", "s4"), reinforce("o2", "s5", 0.1, 0.7, 0.8))
    steps = whole.walk.provenance("o2")
    assert steps[0].node.ref == memory_of("o2")
    assert {(step.depth, step.relation, step.node.ref.id) for step in steps[1:]} == {
        (1, "DERIVED_FROM", "s0"),
        (1, "DERIVED_FROM", "s2"),
        (1, "DERIVED_FROM", "c1"),
        (2, "PART_OF", "d"),
        (1, "SUPPORTED_BY", "s4"),
        (1, "REINFORCED_BY", "s5"),
        (1, "SUPERSEDES", "o"),
    }
    words = {step.node.ref.id: step.words for step in steps if step.words is not None}
    assert words == {"s0": "s0", "s2": "s2", "c1": "Head\nc1", "s4": "s4", "s5": "s5"}
    assert whole.walk.around(memory_of("o2")).more_nodes == 0


def test_a_chain_of_revisions_is_walked_once_however_often_it_names_the_same_words(whole: Memory) -> None:
    talk(whole, 2)
    made = [observed("o0", "s0")]
    for number in range(1, 12):
        made.append(observed(f"o{number}", "s0", "s1", after=made[-1]))
    whole.append(*made)
    steps = whole.walk.provenance("o11")
    memories = [step.node.ref.id for step in steps if step.node.ref.table == "Observation"]
    assert memories == [f"o{number}" for number in range(11, -1, -1)]
    assert sum(step.node.ref.table == "Turn" for step in steps) == 2


def test_a_node_is_drawn_with_its_neighbours_and_their_edges(whole: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(whole, 30)
    whole.append(*named("e", "Ada", *(f"s{each}" for each in range(30))), observed("o", "s3", "s5", about=("e",)))
    drawn = whole.walk.around(memory_of("o"), limit=40)
    assert drawn.nodes[0].ref == memory_of("o")
    there = {node.ref for node in drawn.nodes}
    assert {turn("s3"), turn("s5"), Ref("Entity", "e"), Ref("Session", "s"), turn("s4")} <= there
    assert Edge(turn("s3"), Ref("Entity", "e"), "MENTIONS") in drawn.edges
    assert all({edge.start, edge.end} <= there for edge in drawn.edges)
    assert len(set(drawn.edges)) == len(drawn.edges)
    hub = whole.walk.around(Ref("Session", "s"), limit=10)
    assert (len(hub.nodes), hub.more_nodes) == (10, 32 - 9)
    refs = [Ref("Session", "s"), Ref("Entity", "e"), turn("s3"), memory_of("o")]
    before = [whole.walk.ego(ref) for ref in refs]
    monkeypatch.setattr("graph.walk.neighbours.MANY", 0)
    assert [whole.walk.ego(ref) for ref in refs] == before


def test_a_text_of_100_kb_is_told_in_a_line_and_kept_whole_where_it_is_asked_for(whole: Memory) -> None:
    long = "word\n" * 20_000
    whole.append(begin("s"), said("t", text=long))
    assert len(whole.walk.node(turn("t")).title) <= 400
    assert whole.walk.node(turn("t")).details["text"] == long
    neighbour = whole.walk.ego(Ref("Session", "s")).sides[0].nodes[0]
    assert "text" not in neighbour.details


@pytest.mark.restarts
def test_the_past_is_walked_too(whole: Memory) -> None:
    talk(whole, 4)
    with whole.past(3) as past:
        assert past.walk.ego(Ref("Session", "s")).sides[0].total == 2
        with pytest.raises(NotFound):
            past.walk.node(turn("s3"))


def test_a_turn_whose_words_were_erased_with_what_it_quotes_still_joins_what_is_around_it(whole: Memory) -> None:
    talk(whole, 2)
    quote = Recalled(id="s1")
    whole.append(said("tool", parent="s1", role=Role.TOOL, text="recall()\ns1", recalled=(quote,)))
    whole.append(reply("answer", parent="tool"), delete("s1"))
    assert (whole.walk.node(turn("tool")).title, whole.walk.node(turn("tool")).mark) == ("", "erased")
    assert ids(side(whole.walk.ego(turn("tool")), "REPLIES_TO", outgoing=False, table="Turn")) == ["answer"]
    assert ids(side(whole.walk.ego(turn("tool")), "REPLIES_TO", outgoing=True, table="Turn")) == ["s0"]
