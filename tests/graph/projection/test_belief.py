"""Observations live and die with their proof: revisions, reviews, retirement, forks, documents, titles and blocks."""

from collections.abc import Sequence

from graph.events import ChunkRead, DocumentRead, Recalled, TextErased
from graph.memory import Memory
from tests.graph.deeds import assign, begin, delete, fork, hide, move, release, titled, unhide, withhold, write
from tests.graph.projection.test_rebuild_equals_live import asked_for, edges, rows
from tests.graph.talk import reply, said, talk
from tests.graph.teach import forget, give_back, noted, observed, promote, reject, remove, retire, support


def current(memory: Memory) -> set[str]:
    return {id for id, (holds,) in rows(memory, "Observation", ["current"]).items() if holds}


def standing(memory: Memory, id: str) -> Sequence[object]:
    """Live and status of a revision."""
    return rows(memory, "Observation", ["live", "status"])[id]


def block(memory: Memory, name: str = "human") -> object:
    return rows(memory, "CoreBlock", ["text"])[name][0]


def title(memory: Memory, session: str = "s") -> object:
    return rows(memory, "Session", ["title"])[session][0]


def test_it_lives_and_dies_with_its_sources_and_comes_back_as_the_same(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(observed("o", "s2"))
    memory.append(move("s", "s1"))
    assert current(memory) == set()
    memory.append(move("s", "s3"))
    assert current(memory) == {"o"}
    memory.append(fork("f", "s", "s2"), move("s", "s0"))
    assert current(memory) == {"o"}, "a fork keeps alive what its origin rewinds"
    memory.append(move("f", "s0"))
    assert current(memory) == set()
    memory.append(move("s", "s3"), observed("two", "s0", "s2"), delete("s0"))
    assert standing(memory, "two") == (False, "active")
    assert rows(memory, "Observation", ["text"])["two"] == (None,)


def test_what_only_supports_it_touches_it_and_does_not_keep_it_alive_nor_end_it(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(observed("o", "s0"), support("o", "s2"))
    (hidden,) = memory.append(hide("s2"))
    assert rows(memory, "Observation", ["touched"])["o"] == (hidden.seq,)
    assert current(memory) == {"o"}
    memory.append(unhide("s2"), hide("s0"))
    assert current(memory) == set()


def test_a_revision_gives_way_to_the_one_before_it_and_dies_with_what_that_was_made_of(memory: Memory) -> None:
    talk(memory, 4)
    first = observed("o1", "s0")
    memory.append(first, observed("o2", "s2", after=first))
    assert current(memory) == {"o2"}
    assert standing(memory, "o1") == (True, "superseded")
    memory.append(hide("s2"))
    assert current(memory) == {"o1"}
    memory.append(unhide("s2"))
    assert current(memory) == {"o2"}
    memory.append(hide("s0"))
    assert current(memory) == set()


def test_a_retirement_is_undone_when_the_turn_that_corrected_dies_or_by_hand(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(observed("o", "s0"), retire("o", "s2"))
    assert standing(memory, "o") == (True, "invalid")
    memory.append(move("s", "s1"))
    assert standing(memory, "o") == (True, "active")
    memory.append(move("s", "s3"))
    assert standing(memory, "o") == (True, "invalid")
    memory.append(retire("o"), give_back("o", "active"))
    assert current(memory) == {"o"}
    assert rows(memory, "Turn", ["evidence"])["s2"] == (0,)


def test_a_revision_under_review_supersedes_nothing_until_it_is_promoted_and_an_edit_of_it_all(memory: Memory) -> None:
    talk(memory, 6)
    first = observed("o1", "s0")
    second = observed("o2", "s2", after=first, status="candidate")
    memory.append(first, second)
    assert current(memory) == {"o1", "o2"}
    memory.append(observed("o3", "s4", after=second))
    assert current(memory) == {"o3"}
    assert standing(memory, "o2") == (True, "superseded")
    memory.append(hide("s4"), promote("o2"))
    assert current(memory) == {"o2"}
    memory.append(reject("o2"))
    assert current(memory) == {"o1"}


def test_what_was_made_instead_of_a_dead_one_gives_way_when_that_returns(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(observed("o1", "s0", "s2"), hide("s2"), observed("o2", "s0", instead_of="o1"))
    assert current(memory) == {"o2"}
    memory.append(unhide("s2"))
    assert current(memory) == {"o1"}
    memory.append(hide("s2"))
    assert current(memory) == {"o2"}


def test_nothing_is_believed_of_a_turn_that_is_withheld(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(observed("o1", "s0"), observed("o2", "s2"), retire("o2", "s0"))
    memory.append(titled("s", "Boats", "s0"), withhold("s0"))
    assert current(memory) == {"o2"}
    assert title(memory) is None
    assert rows(memory, "Turn", ["live"])["s0"] == (True,)
    memory.append(release("s0"))
    assert current(memory) == {"o1"}
    assert title(memory) == "Boats"


def test_a_series_is_deleted_with_all_its_revisions_and_nothing_returns(memory: Memory) -> None:
    talk(memory, 4)
    first = observed("o1", "s0")
    second = observed("o2", "s2", after=first)
    memory.append(first, second, observed("o3", "s2", after=first), observed("other", "s0"))
    memory.append(forget("o1"))
    assert current(memory) == {"other"}
    assert set(rows(memory, "Observation", ["live", "text"]).values()) == {(False, None), (True, "other")}
    memory.append(hide("s2"), unhide("s2"))
    assert current(memory) == {"other"}


def test_it_was_first_seen_when_the_oldest_source_of_its_first_revision_was_said(memory: Memory) -> None:
    memory.append(begin("s"), said("t0", said_at=9_000), said("t1", parent="t0", said_at=5_000))
    first = observed("o1", "t0", "t1")
    memory.append(said("t2", parent="t1", said_at=1), first, observed("o2", "t2", after=first))
    assert rows(memory, "Observation", ["first_seen"]) == {"o1": (5_000,), "o2": (5_000,)}


def test_titles_and_core_blocks_fall_back_to_what_they_said_before_and_return(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(titled("s", "First", "s0"), titled("s", "Second", "s0", "s2"))
    memory.append(write("human", "Called Ariadne."), write("human", "Likes mazes.", "s2", by="agent"))
    assert (title(memory), block(memory)) == ("Second", "Likes mazes.")
    memory.append(move("s", "s1"))
    assert (title(memory), block(memory)) == ("First", "Called Ariadne.")
    memory.append(hide("s0"))
    assert title(memory) is None
    memory.append(move("s", "s3"), unhide("s0"))
    assert (title(memory), block(memory)) == ("Second", "Likes mazes.")
    memory.append(delete("s2"))
    assert block(memory) == "Called Ariadne."
    memory.append(write("human", ""))
    assert block(memory) is None
    memory.append(fork("w", "s", "s0", "what-if"))
    memory.append(write("human", "Here."), write("human", "There.", world="what-if"))
    assert rows(memory, "CoreBlock", ["name", "world", "text"]) == {
        "human": ("human", "main", "Here."),
        "human\nwhat-if": ("human", "what-if", "There."),
    }


def test_what_a_document_taught_dies_with_the_reading_that_held_it(memory: Memory) -> None:
    read = DocumentRead(document="d", category="text", size=1, chunks=("c1", "c2"), text="Mazes\n/tmp/mazes.txt")
    memory.append(*(ChunkRead(chunk=chunk, document="d", text=chunk) for chunk in ("c1", "c2", "c3")), read)
    memory.append(observed("o", "c1"))
    assert current(memory) == {"o"}
    memory.append(read.model_copy(update={"chunks": ("c2", "c3")}))
    assert current(memory) == set()
    assert edges(memory, "PART_OF") == {("c2", "d"), ("c3", "d")}
    assert rows(memory, "Chunk", ["live", "position"]) == {"c1": (False, 0), "c2": (True, 0), "c3": (True, 1)}
    memory.append(read)
    assert current(memory) == {"o"}
    memory.append(remove("d"))
    assert current(memory) == set()
    assert rows(memory, "Document", ["title", "path", "deleted"]) == {"d": (None, None, True)}
    assert set(rows(memory, "Chunk", ["live", "text"]).values()) == {(False, None)}


def test_a_reply_leads_to_the_observations_and_chunks_it_was_given(memory: Memory) -> None:
    talk(memory, 2)
    read = DocumentRead(document="d", category="text", size=1, chunks=("c",), text="t\np")
    (*_, made) = memory.append(ChunkRead(chunk="c", document="d", text="c"), read, observed("o", "s0"))
    items = [Recalled(id="o", kind="observation", score=1, ranks={"observation": 2}), Recalled(id="c", kind="chunk")]
    memory.append(reply("r", parent="s1", recalled=[*items, Recalled(id="human", kind="block")]))
    assert edges(memory, "RECALLED", "strategy", "rank") == {("r", "o", "observation", 2), ("r", "c", None, None)}
    memory.append(TextErased(events=(made.seq,)))
    assert rows(memory, "Observation", ["text", "live"])["o"] == (None, True)


def test_an_entity_keeps_a_name_while_a_note_of_it_has_its_text_and_a_session_changes_projects(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(noted("e", "Theseus", "s0"), noted("e", "theseus", "s2"))
    assert rows(memory, "Entity", ["name"])["e"] == ("theseus",)
    memory.append(delete("s2"))
    assert rows(memory, "Entity", ["name"])["e"] == ("Theseus",)
    memory.append(delete("s0"))
    assert rows(memory, "Entity", ["name", "kind"])["e"] == (None, "person")
    assert rows(memory, "Entity", ["name"])["you"] == ("you",)
    memory.append(begin("p", project="maze"))
    assert edges(memory, "SCOPED_TO") == {("p", "maze")}
    memory.append(assign("p", "ship"))
    assert edges(memory, "SCOPED_TO") == {("p", "ship")}
    memory.append(assign("p", None))
    assert edges(memory, "SCOPED_TO") == set()
    assert rows(memory, "Session", ["project"])["p"] == (None,)


def test_a_turn_asks_for_what_hangs_on_it_only_where_something_does(whole: Memory) -> None:
    talk(whole, 30)
    whole.append(observed("o", "s27"))
    asked = asked_for(whole, lambda cypher: "DERIVED_FROM" in cypher)
    whole.append(move("s", "s2"))
    assert asked == ["s27"]
