"""Observations live and die with their proof: revisions, reviews, retirement, forks, documents, titles and blocks."""

from collections.abc import Sequence

from graph.events import (
    ChunkRead,
    CoreWritten,
    DocumentRead,
    DocumentRemoved,
    EntityNoted,
    HeadMoved,
    ObservationDeleted,
    ObservationPromoted,
    ObservationRejected,
    ObservationRetired,
    ObservationReturned,
    ObservationSupported,
    ProjectAssigned,
    Recalled,
    SessionForked,
    SessionStarted,
    SessionTitled,
    TextErased,
    TurnDeleted,
    TurnHidden,
    TurnReleased,
    TurnUnhidden,
    TurnWithheld,
)
from graph.memory import Memory
from tests.graph.lessons import observed
from tests.graph.projection.test_rebuild_equals_live import edges, rows
from tests.graph.talk import reply, said, talk


def current(memory: Memory) -> set[str]:
    return {id for id, (holds,) in rows(memory, "Observation", ["current"]).items() if holds}


def standing(memory: Memory, id: str) -> Sequence[object]:
    """Live and status of a revision."""
    return rows(memory, "Observation", ["live", "status"])[id]


def block(memory: Memory, name: str = "human") -> object:
    return rows(memory, "CoreBlock", ["text"])[name][0]


def title(memory: Memory, session: str = "s") -> object:
    return rows(memory, "Session", ["title"])[session][0]


def test_after_a_rewind_past_the_proof_and_forward_again_it_is_the_same_observation(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s2"))
    whole.append(HeadMoved(session="s", turn="s1"))
    assert current(whole) == set()
    whole.append(HeadMoved(session="s", turn="s3"))
    assert current(whole) == {"o"}


def test_when_a_revision_dies_the_one_before_it_is_current_again(whole: Memory) -> None:
    talk(whole, 4)
    first = observed("o1", "s0")
    whole.append(first, observed("o2", "s2", before=first))
    assert current(whole) == {"o2"}
    assert standing(whole, "o1") == (True, "superseded")
    whole.append(TurnHidden(turn="s2"))
    assert current(whole) == {"o1"}
    whole.append(TurnUnhidden(turn="s2"))
    assert current(whole) == {"o2"}


def test_a_revision_dies_with_what_the_first_one_was_made_of(whole: Memory) -> None:
    talk(whole, 4)
    first = observed("o1", "s0")
    whole.append(first, observed("o2", "s2", before=first), TurnHidden(turn="s0"))
    assert current(whole) == set()


def test_deleting_one_of_two_sources_ends_it_for_good(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s0", "s2"), TurnDeleted(turn="s0"))
    assert standing(whole, "o") == (False, "active")
    assert rows(whole, "Observation", ["text"])["o"] == (None,)


def test_what_only_supports_it_does_not_keep_it_alive_nor_end_it(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s0"), ObservationSupported(observation="o", source="s2"), TurnHidden(turn="s2"))
    assert current(whole) == {"o"}
    whole.append(TurnUnhidden(turn="s2"), TurnHidden(turn="s0"))
    assert current(whole) == set()


def test_it_is_touched_when_what_supports_it_comes_or_goes(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s0"), ObservationSupported(observation="o", source="s2"))
    (hidden,) = whole.append(TurnHidden(turn="s2"))
    assert rows(whole, "Observation", ["touched"])["o"] == (hidden.seq,)


def test_a_fork_keeps_a_source_alive_that_its_origin_rewinds(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s2"), SessionForked(session="f", origin="s", at="s2", client="test"))
    whole.append(HeadMoved(session="s", turn="s0"))
    assert current(whole) == {"o"}
    whole.append(HeadMoved(session="f", turn="s0"))
    assert current(whole) == set()


def test_a_retirement_is_undone_when_the_turn_that_corrected_dies(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s0"), ObservationRetired(observation="o", by_turn="s2"))
    assert standing(whole, "o") == (True, "invalid")
    whole.append(HeadMoved(session="s", turn="s1"))
    assert standing(whole, "o") == (True, "active")
    whole.append(HeadMoved(session="s", turn="s3"))
    assert standing(whole, "o") == (True, "invalid")


def test_what_was_retired_by_hand_or_by_a_turn_is_given_back(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s0"), ObservationRetired(observation="o", by_turn="s2"))
    whole.append(ObservationRetired(observation="o"), ObservationReturned(observation="o", status="active"))
    assert current(whole) == {"o"}
    assert rows(whole, "Turn", ["evidence"])["s2"] == (0,)


def test_a_revision_under_review_supersedes_nothing_until_it_is_promoted(whole: Memory) -> None:
    talk(whole, 4)
    first = observed("o1", "s0")
    whole.append(first, observed("o2", "s2", before=first, status="candidate"))
    assert current(whole) == {"o1", "o2"}
    whole.append(ObservationPromoted(observation="o2"))
    assert current(whole) == {"o2"}
    whole.append(ObservationRejected(observation="o2"))
    assert current(whole) == {"o1"}


def test_an_edit_of_what_is_under_review_supersedes_all_before_it(whole: Memory) -> None:
    talk(whole, 6)
    first = observed("o1", "s0")
    second = observed("o2", "s2", before=first, status="candidate")
    whole.append(first, second, observed("o3", "s4", before=second))
    assert current(whole) == {"o3"}
    assert standing(whole, "o2") == (True, "superseded")


def test_what_was_made_instead_of_a_dead_one_gives_way_when_that_returns(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o1", "s0", "s2"), TurnHidden(turn="s2"), observed("o2", "s0", instead_of="o1"))
    assert current(whole) == {"o2"}
    whole.append(TurnUnhidden(turn="s2"))
    assert current(whole) == {"o1"}
    whole.append(TurnHidden(turn="s2"))
    assert current(whole) == {"o2"}


def test_nothing_is_believed_of_a_turn_that_is_withheld(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o1", "s0"), observed("o2", "s2"), ObservationRetired(observation="o2", by_turn="s0"))
    whole.append(SessionTitled(session="s", sources=("s0",), text="Boats"), TurnWithheld(turn="s0"))
    assert current(whole) == {"o2"}
    assert title(whole) is None
    assert rows(whole, "Turn", ["live"])["s0"] == (True,)
    whole.append(TurnReleased(turn="s0"))
    assert current(whole) == {"o1"}
    assert title(whole) == "Boats"


def test_a_series_is_deleted_with_all_its_revisions_and_nothing_returns(whole: Memory) -> None:
    talk(whole, 4)
    first = observed("o1", "s0")
    second = observed("o2", "s2", before=first)
    whole.append(first, second, observed("o3", "s2", before=first), observed("other", "s0"))
    whole.append(ObservationDeleted(series="o1"))
    assert current(whole) == {"other"}
    assert set(rows(whole, "Observation", ["live", "text"]).values()) == {(False, None), (True, "<s0>")}
    whole.append(TurnHidden(turn="s2"), TurnUnhidden(turn="s2"))
    assert current(whole) == {"other"}


def test_it_was_first_seen_when_the_oldest_source_of_its_first_revision_was_said(whole: Memory) -> None:
    whole.append(SessionStarted(session="s", client="test"))
    whole.append(said("t0", said_at=9_000), said("t1", parent="t0", said_at=5_000), said("t2", parent="t1", said_at=1))
    first = observed("o1", "t0", "t1")
    whole.append(first, observed("o2", "t2", before=first))
    assert rows(whole, "Observation", ["first_seen"]) == {"o1": (5_000,), "o2": (5_000,)}


def test_a_title_falls_back_to_the_one_before_and_returns(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(SessionTitled(session="s", sources=("s0",), text="First"))
    whole.append(SessionTitled(session="s", sources=("s0", "s2"), text="Second"))
    assert title(whole) == "Second"
    whole.append(HeadMoved(session="s", turn="s1"))
    assert title(whole) == "First"
    whole.append(TurnHidden(turn="s0"))
    assert title(whole) is None
    whole.append(HeadMoved(session="s", turn="s3"), TurnUnhidden(turn="s0"))
    assert title(whole) == "Second"


def test_a_core_block_that_lost_its_proof_says_what_it_said_before(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(CoreWritten(block="human", by="user", text="Called Ariadne."))
    whole.append(CoreWritten(block="human", by="agent", sources=("s2",), text="Likes mazes."))
    assert block(whole) == "Likes mazes."
    whole.append(TurnDeleted(turn="s2"))
    assert block(whole) == "Called Ariadne."
    whole.append(CoreWritten(block="human", by="user", text=""))
    assert block(whole) is None


def test_a_block_of_another_world_is_another_block(whole: Memory) -> None:
    talk(whole, 1)
    whole.append(SessionForked(session="w", origin="s", at="s0", world="what-if", client="test"))
    whole.append(CoreWritten(block="human", by="user", text="Here."))
    whole.append(CoreWritten(block="human", world="what-if", by="user", text="There."))
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
    whole.append(ChunkRead(chunk="c", document="d", text="c"), read, observed("o", "s0"))
    items = [Recalled(id="o", kind="observation", score=1, ranks={"observation": 2}), Recalled(id="c", kind="chunk")]
    whole.append(reply("r", parent="s1", recalled=[*items, Recalled(id="human", kind="block")]))
    assert edges(whole, "RECALLED", ", r.strategy, r.rank") == {("r", "o", "observation", 2), ("r", "c", None, None)}


def test_an_entity_keeps_a_name_while_one_that_noted_it_has_its_text(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(EntityNoted(entity="e", category="person", by_turn="s0", text="Theseus"))
    whole.append(EntityNoted(entity="e", category="person", by_turn="s2", text="theseus"))
    assert rows(whole, "Entity", ["name"])["e"] == ("theseus",)
    whole.append(TurnDeleted(turn="s2"))
    assert rows(whole, "Entity", ["name"])["e"] == ("Theseus",)
    whole.append(TurnDeleted(turn="s0"))
    assert rows(whole, "Entity", ["name", "kind"])["e"] == (None, "person")
    assert rows(whole, "Entity", ["name"])["you"] == ("you",)


def test_a_session_moves_from_project_to_project(whole: Memory) -> None:
    whole.append(SessionStarted(session="s", client="test", project="maze"))
    assert edges(whole, "SCOPED_TO") == {("s", "maze")}
    whole.append(ProjectAssigned(session="s", project="ship"))
    assert edges(whole, "SCOPED_TO") == {("s", "ship")}
    whole.append(ProjectAssigned(session="s", project=None))
    assert edges(whole, "SCOPED_TO") == set()
    assert rows(whole, "Session", ["project"])["s"] == (None,)


def test_erased_words_of_an_observation_are_gone_from_the_graph(whole: Memory) -> None:
    talk(whole, 2)
    (made,) = whole.append(observed("o", "s0"))
    whole.append(TextErased(events=(made.seq,)))
    assert rows(whole, "Observation", ["text", "live"])["o"] == (None, True)


def test_a_turn_asks_for_what_hangs_on_it_only_where_something_does(whole: Memory) -> None:
    talk(whole, 30)
    whole.append(observed("o", "s27"))
    asked: list[str] = []

    def watch(store: object, applied: int) -> None:
        execute = whole._graph._store.execute  # type: ignore[union-attr]

        def listening(cypher: str, parameters: dict[str, object] | None = None) -> list[list[object]]:
            if "DERIVED_FROM" in cypher:
                asked.append(str((parameters or {})["id"]))
            return execute(cypher, parameters)

        whole._graph._store.execute = listening  # type: ignore[union-attr, method-assign]

    whole._graph.inspect(watch)
    whole.append(HeadMoved(session="s", turn="s2"))
    assert asked == ["s27"]
