"""Observations live and die with their proof: revisions, reviews, retirement, forks, documents, titles and blocks."""

from collections.abc import Sequence

from graph.events import ChunkRead, DocumentRead, DocumentRemoved, Recalled, TextErased
from graph.memory import Memory
from tests.graph.projection.test_rebuild_equals_live import asked_for, edges, rows
from tests.graph.talk import (
    assign,
    begin,
    delete,
    fork,
    hide,
    move,
    release,
    reply,
    said,
    talk,
    titled,
    unhide,
    withhold,
    write,
)
from tests.graph.teach import forget, give_back, noted, observed, promote, reject, retire, support


def current(memory: Memory) -> set[str]:
    return {id for id, (holds,) in rows(memory, "Observation", ["current"]).items() if holds}


def standing(memory: Memory, id: str) -> Sequence[object]:
    """Live and status of a revision."""
    return rows(memory, "Observation", ["live", "status"])[id]


def block(memory: Memory, name: str = "human") -> object:
    return rows(memory, "CoreBlock", ["text"])[name][0]


def title(memory: Memory, session: str = "s") -> object:
    return rows(memory, "Session", ["title"])[session][0]


def test_it_lives_and_dies_with_its_sources_and_comes_back_as_the_same(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s2"))
    whole.append(move("s", "s1"))
    assert current(whole) == set()
    whole.append(move("s", "s3"))
    assert current(whole) == {"o"}
    whole.append(fork("f", "s", "s2"), move("s", "s0"))
    assert current(whole) == {"o"}, "a fork keeps alive what its origin rewinds"
    whole.append(move("f", "s0"))
    assert current(whole) == set()
    whole.append(move("s", "s3"), observed("two", "s0", "s2"), delete("s0"))
    assert standing(whole, "two") == (False, "active")
    assert rows(whole, "Observation", ["text"])["two"] == (None,)


def test_what_only_supports_it_touches_it_and_does_not_keep_it_alive_nor_end_it(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s0"), support("o", "s2"))
    (hidden,) = whole.append(hide("s2"))
    assert rows(whole, "Observation", ["touched"])["o"] == (hidden.seq,)
    assert current(whole) == {"o"}
    whole.append(unhide("s2"), hide("s0"))
    assert current(whole) == set()


def test_a_revision_gives_way_to_the_one_before_it_and_dies_with_what_that_was_made_of(whole: Memory) -> None:
    talk(whole, 4)
    first = observed("o1", "s0")
    whole.append(first, observed("o2", "s2", after=first))
    assert current(whole) == {"o2"}
    assert standing(whole, "o1") == (True, "superseded")
    whole.append(hide("s2"))
    assert current(whole) == {"o1"}
    whole.append(unhide("s2"))
    assert current(whole) == {"o2"}
    whole.append(hide("s0"))
    assert current(whole) == set()


def test_a_retirement_is_undone_when_the_turn_that_corrected_dies_or_by_hand(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s0"), retire("o", "s2"))
    assert standing(whole, "o") == (True, "invalid")
    whole.append(move("s", "s1"))
    assert standing(whole, "o") == (True, "active")
    whole.append(move("s", "s3"))
    assert standing(whole, "o") == (True, "invalid")
    whole.append(retire("o"), give_back("o", "active"))
    assert current(whole) == {"o"}
    assert rows(whole, "Turn", ["evidence"])["s2"] == (0,)


def test_a_revision_under_review_supersedes_nothing_until_it_is_promoted_and_an_edit_of_it_all(whole: Memory) -> None:
    talk(whole, 6)
    first = observed("o1", "s0")
    second = observed("o2", "s2", after=first, status="candidate")
    whole.append(first, second)
    assert current(whole) == {"o1", "o2"}
    whole.append(observed("o3", "s4", after=second))
    assert current(whole) == {"o3"}
    assert standing(whole, "o2") == (True, "superseded")
    whole.append(hide("s4"), promote("o2"))
    assert current(whole) == {"o2"}
    whole.append(reject("o2"))
    assert current(whole) == {"o1"}


def test_what_was_made_instead_of_a_dead_one_gives_way_when_that_returns(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o1", "s0", "s2"), hide("s2"), observed("o2", "s0", instead_of="o1"))
    assert current(whole) == {"o2"}
    whole.append(unhide("s2"))
    assert current(whole) == {"o1"}
    whole.append(hide("s2"))
    assert current(whole) == {"o2"}


def test_nothing_is_believed_of_a_turn_that_is_withheld(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o1", "s0"), observed("o2", "s2"), retire("o2", "s0"))
    whole.append(titled("s", "Boats", "s0"), withhold("s0"))
    assert current(whole) == {"o2"}
    assert title(whole) is None
    assert rows(whole, "Turn", ["live"])["s0"] == (True,)
    whole.append(release("s0"))
    assert current(whole) == {"o1"}
    assert title(whole) == "Boats"


def test_a_series_is_deleted_with_all_its_revisions_and_nothing_returns(whole: Memory) -> None:
    talk(whole, 4)
    first = observed("o1", "s0")
    second = observed("o2", "s2", after=first)
    whole.append(first, second, observed("o3", "s2", after=first), observed("other", "s0"))
    whole.append(forget("o1"))
    assert current(whole) == {"other"}
    assert set(rows(whole, "Observation", ["live", "text"]).values()) == {(False, None), (True, "other")}
    whole.append(hide("s2"), unhide("s2"))
    assert current(whole) == {"other"}


def test_it_was_first_seen_when_the_oldest_source_of_its_first_revision_was_said(whole: Memory) -> None:
    whole.append(begin("s"))
    whole.append(said("t0", said_at=9_000), said("t1", parent="t0", said_at=5_000), said("t2", parent="t1", said_at=1))
    first = observed("o1", "t0", "t1")
    whole.append(first, observed("o2", "t2", after=first))
    assert rows(whole, "Observation", ["first_seen"]) == {"o1": (5_000,), "o2": (5_000,)}


def test_titles_and_core_blocks_fall_back_to_what_they_said_before_and_return(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(titled("s", "First", "s0"), titled("s", "Second", "s0", "s2"))
    whole.append(write("human", "Called Ariadne."), write("human", "Likes mazes.", "s2", by="agent"))
    assert (title(whole), block(whole)) == ("Second", "Likes mazes.")
    whole.append(move("s", "s1"))
    assert (title(whole), block(whole)) == ("First", "Called Ariadne.")
    whole.append(hide("s0"))
    assert title(whole) is None
    whole.append(move("s", "s3"), unhide("s0"))
    assert (title(whole), block(whole)) == ("Second", "Likes mazes.")
    whole.append(delete("s2"))
    assert block(whole) == "Called Ariadne."
    whole.append(write("human", ""))
    assert block(whole) is None
    whole.append(fork("w", "s", "s0", "what-if"))
    whole.append(write("human", "Here."), write("human", "There.", world="what-if"))
    assert rows(whole, "CoreBlock", ["name", "world", "text"]) == {
        "human": ("human", "main", "Here."),
        "human\nwhat-if": ("human", "what-if", "There."),
    }


def test_what_a_document_taught_dies_with_the_reading_that_held_it(whole: Memory) -> None:
    read = DocumentRead(document="d", category="text", size=1, chunks=("c1", "c2"), text="Mazes\n/tmp/mazes.txt")
    whole.append(*(ChunkRead(chunk=chunk, document="d", text=chunk) for chunk in ("c1", "c2", "c3")), read)
    whole.append(observed("o", "c1"))
    assert current(whole) == {"o"}
    whole.append(read.model_copy(update={"chunks": ("c2", "c3")}))
    assert current(whole) == set()
    assert edges(whole, "PART_OF") == {("c2", "d"), ("c3", "d")}
    assert rows(whole, "Chunk", ["live", "position"]) == {"c1": (False, 0), "c2": (True, 0), "c3": (True, 1)}
    whole.append(read)
    assert current(whole) == {"o"}
    whole.append(DocumentRemoved(document="d"))
    assert current(whole) == set()
    assert rows(whole, "Document", ["title", "path", "deleted"]) == {"d": (None, None, True)}
    assert set(rows(whole, "Chunk", ["live", "text"]).values()) == {(False, None)}


def test_a_reply_leads_to_the_observations_and_chunks_it_was_given(whole: Memory) -> None:
    talk(whole, 2)
    read = DocumentRead(document="d", category="text", size=1, chunks=("c",), text="t\np")
    (*_, made) = whole.append(ChunkRead(chunk="c", document="d", text="c"), read, observed("o", "s0"))
    items = [Recalled(id="o", kind="observation", score=1, ranks={"observation": 2}), Recalled(id="c", kind="chunk")]
    whole.append(reply("r", parent="s1", recalled=[*items, Recalled(id="human", kind="block")]))
    assert edges(whole, "RECALLED", ", r.strategy, r.rank") == {("r", "o", "observation", 2), ("r", "c", None, None)}
    whole.append(TextErased(events=(made.seq,)))
    assert rows(whole, "Observation", ["text", "live"])["o"] == (None, True)


def test_an_entity_keeps_a_name_while_one_that_noted_it_has_its_text(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(noted("e", "Theseus", "s0"), noted("e", "theseus", "s2"))
    assert rows(whole, "Entity", ["name"])["e"] == ("theseus",)
    whole.append(delete("s2"))
    assert rows(whole, "Entity", ["name"])["e"] == ("Theseus",)
    whole.append(delete("s0"))
    assert rows(whole, "Entity", ["name", "kind"])["e"] == (None, "person")
    assert rows(whole, "Entity", ["name"])["you"] == ("you",)


def test_a_session_moves_from_project_to_project(whole: Memory) -> None:
    whole.append(begin("s", project="maze"))
    assert edges(whole, "SCOPED_TO") == {("s", "maze")}
    whole.append(assign("s", "ship"))
    assert edges(whole, "SCOPED_TO") == {("s", "ship")}
    whole.append(assign("s", None))
    assert edges(whole, "SCOPED_TO") == set()
    assert rows(whole, "Session", ["project"])["s"] == (None,)


def test_a_turn_asks_for_what_hangs_on_it_only_where_something_does(whole: Memory) -> None:
    talk(whole, 30)
    whole.append(observed("o", "s27"))
    asked = asked_for(whole, lambda cypher: "DERIVED_FROM" in cypher)
    whole.append(move("s", "s2"))
    assert asked == ["s27"]
