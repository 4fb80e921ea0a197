"""What there is about a person, a project or any word: from who spoke, what names it, and where."""

from contextlib import closing

import pytest

from graph.ids import as_datetime
from graph.memory import Memory
from graph.reader import LogReader
from tests.graph.conftest import ignore
from tests.graph.deeds import begin, delete, fork, hide, move, rename
from tests.graph.talk import reply, said, talk


@pytest.fixture
def spoken(memory: Memory) -> Memory:
    memory.append(
        begin("s", said_at=0),
        rename("s", "Visit"),
        said("q1", speaker="Anna", said_at=1_000, text="I moved to Lisbon."),
        reply("a1", parent="q1", said_at=2_000, text="Anna's boats are there."),
        said("q2", parent="a1", speaker="anna", said_at=3_000, text="Anna is my name."),
        begin("p", project="Boats", said_at=0),
        said("p1", "p", said_at=5_000, text="Larch or oak?"),
        reply("p2", "p", parent="p1", said_at=6_000, text="Ask Anna."),
        said("tool", "p", parent="p2", role="tool", speaker="search", said_at=7_000, text="Anna said: I moved."),
    )
    return memory


def test_a_person_is_who_spoke_in_any_case_and_who_is_named(spoken: Memory) -> None:
    found = spoken.readings.about(" ANNA ")
    assert (found.name, found.kind, found.said, found.mentioned) == ("Anna", "person", 2, 2)
    assert [turn.id for turn in found.turns] == ["p2", "q2", "a1", "q1"]
    assert (found.first_at, found.last_at) == (as_datetime(1_000), as_datetime(6_000))
    assert found.sessions == (("s", "Visit", 3), ("p", None, 1))
    assert [turn.id for turn in spoken.readings.about("Anna", limit=1).turns] == ["p2"]
    assert spoken.readings.about("Anna", limit=0).turns == ()
    assert spoken.readings.about("you").kind == "you"
    assert spoken.readings.about("Assistant").said == 2


def test_a_project_is_what_was_said_in_its_sessions_or_names_it_and_another_word_what_names_it(spoken: Memory) -> None:
    found = spoken.readings.about("boats")
    assert (found.name, found.kind, found.said, found.mentioned) == ("Boats", "project", 0, 3)
    assert [turn.id for turn in found.turns] == ["p2", "p1", "a1"]
    found = spoken.readings.about("Lisbon")
    assert (found.name, found.kind, found.said, found.mentioned) == ("Lisbon", "word", 0, 1)
    for nothing in ("Xylophone", "", "  ", '"', "🎉", "NEAR(", "\x00", "anna lisbon", "x" * 20_000, "\ud800"):
        found = spoken.readings.about(nothing)
        assert (found.kind, found.said, found.mentioned, found.first_at, found.turns) == ("word", 0, 0, None, ())


def test_only_what_is_live_in_main_counts(spoken: Memory) -> None:
    spoken.append(fork("w", "s", "a1", world="what-if"))
    spoken.append(said("w1", "w", parent="a1", speaker="Anna", text="Anna, in another world"))
    spoken.append(hide("a1"), delete("p2"), move("s", "a1"))
    found = spoken.readings.about("Anna")
    assert [turn.id for turn in found.turns] == ["q1"]
    assert (found.said, found.mentioned) == (1, 0)


@pytest.mark.restarts
def test_it_agrees_with_the_graph_and_is_answered_beside_the_holder(spoken: Memory) -> None:
    spoken.open_graph(ignore)
    said_by = "MATCH (t:Turn)-[:SAID_BY]->(e:Entity) WHERE lower(e.id) = 'anna' AND t.live RETURN t.id AS id"
    assert sorted(row["id"] for row in spoken.query(said_by)) == ["q1", "q2"]
    with closing(LogReader.open(spoken._folder)) as reader:
        assert reader.about("Anna") == spoken.readings.about("Anna")
        assert reader.speakers() == ["Anna", "anna", "assistant", "search", "you"]


def test_in_an_empty_memory_there_is_nobody(memory: Memory) -> None:
    assert memory.readings.speakers() == []
    assert memory.readings.about("you").turns == ()
    talk(memory, 0)
    assert memory.readings.about("you").said == 0
