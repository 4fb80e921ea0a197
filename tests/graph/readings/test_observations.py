"""What was learned is read with its proof, its trend and its past, and only what stands is in use."""

from datetime import UTC, datetime, timedelta

import pytest

from graph.errors import Ambiguous, NotFound
from graph.events import ObservationKind, ProjectMade
from graph.memory import Memory
from graph.values import Wanted
from graph.visibility import EVERYONE
from tests.graph.deeds import assign, begin, delete, hide, move, pin, rate, unhide, unpin, withhold
from tests.graph.talk import said, talk
from tests.graph.teach import forget, noted, observed, read, reinforce, reject, retire, support

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LIKES = observed("likes", "t0", "t40", category=ObservationKind.PREFERENCE, about=("you", "e1"))


def ms(days_ago: float) -> int:
    return int((NOW - timedelta(days=days_ago)).timestamp() * 1000)


def ids(memory: Memory, **wanted: object) -> list[str]:
    return [each.id for each in memory.readings.memories(Wanted(**wanted), now=NOW)]  # type: ignore[arg-type]


@pytest.fixture
def learned(memory: Memory) -> Memory:
    """Turns t0, t10, … were said so many days ago; of some of them something was learned."""
    talk(memory, 1)
    before = "s0"
    for days in (120, 80, 50, 40, 10, 0):
        memory.append(said(f"t{days}", parent=before, said_at=ms(days)))
        before = f"t{days}"
    memory.append(noted("e1", "Sloops", "t0", category="thing"), *read("d", "c1"), LIKES)
    memory.append(observed("lives", "t120", status="candidate"), observed("works", "t80", "c1"))
    return memory


def test_observations_come_newest_first_with_their_proof_oldest_first(learned: Memory) -> None:
    learned.append(support("likes", "t10", amount=0.2))
    learned.append(reinforce("likes", "t50", 0.05, 0.9, 0.95))
    assert ids(learned) == ["works", "lives", "likes"]
    likes = learned.readings.memories(now=NOW)[2]
    assert (likes.sources, likes.supports, likes.proof_count) == (("t40", "t0"), ("t10",), 3)
    assert [(NOW - time).days for time in likes.times] == [40, 10, 0]
    assert likes.confidence == pytest.approx(0.95)
    assert (likes.reference_count, likes.last_referenced_at) == (1, NOW - timedelta(days=50))
    assert (likes.about, likes.scope, likes.trend) == (("Sloops", "you"), "global", "strengthening")
    assert (NOW - likes.first_seen).days == 40
    assert [each.id for each in learned.readings.memories(now=NOW, limit=1)] == ["works"]
    assert learned.readings.memories(now=NOW, limit=0) == learned.readings.memories(now=NOW, limit=-3) == []


def test_they_are_narrowed_by_all_that_can_be_asked_for(learned: Memory) -> None:
    assert ids(learned, status="candidate") == ["lives"]
    assert ids(learned, status="superseded") == []
    assert ids(learned, kind=ObservationKind.PREFERENCE) == ["likes"]
    assert ids(learned, about=" sLOOPS ") == ids(learned, about="You") == ["likes"]
    assert ids(learned, about="nobody") == ids(learned, about="") == ids(learned, project="") == []
    assert ids(learned, trend="stale") == ["lives"]
    assert ids(learned, trend="new") == []
    assert ids(learned, text="like") == ["likes"]
    assert ids(learned, text='"') == ids(learned, text="\x00") == ids(learned, text="boats") == []
    assert ids(learned, world="elsewhere") == []
    assert ids(learned, pinned=True) == []
    assert ids(learned, pinned=False) == ["works", "lives", "likes"]


def test_what_died_is_shown_only_if_asked_for_and_comes_back(learned: Memory) -> None:
    learned.append(hide("t40"))
    assert ids(learned) == ["works", "lives"]
    assert ids(learned, everything=True) == ["works", "lives"]
    assert ids(learned, dead=True) == ["works", "lives", "likes"]
    assert learned.readings.observations(["likes", "works", "gone"]).keys() == {"works"}
    learned.append(unhide("t40"), withhold("t0"))
    assert ids(learned) == ["works", "lives"]
    (dead,) = (each for each in learned.readings.memories(Wanted(dead=True), now=NOW) if each.id == "likes")
    assert (dead.live, dead.current, dead.sources, dead.proof_count) == (False, False, ("t40",), 1)


def test_a_revision_takes_the_place_of_the_one_before_and_the_journey_can_be_read(learned: Memory) -> None:
    learned.append(observed("likes2", "t10", after=LIKES), reject("lives"))
    assert ids(learned) == ["likes2", "works"]
    assert ids(learned, status="superseded") == ["likes"]
    assert ids(learned, status="invalid") == ["lives"]
    assert ids(learned, everything=True) == ["likes2", "works", "lives", "likes"]
    story = learned.readings.memory("likes2", now=NOW)
    assert [each.id for each in story.revisions] == ["likes", "likes2"]
    assert story.observation.supersedes == "likes"
    assert story.observation.first_seen == story.revisions[0].first_seen
    assert [(proof.id, proof.relation, proof.text) for proof in story.proofs["likes2"]] == [
        ("t40", "DERIVED_FROM", "t40"),
        ("t10", "DERIVED_FROM", "t10"),
        ("t0", "DERIVED_FROM", "t0"),
    ]
    learned.append(hide("t10"))
    assert ids(learned) == ["works", "likes"]
    (hidden,) = (proof for proof in learned.readings.memory("likes2").proofs["likes2"] if proof.id == "t10")
    assert (hidden.live, hidden.text) == (False, None)


def test_a_story_tells_chunks_echoes_and_contradictions_with_where_they_are(learned: Memory) -> None:
    learned.append(retire("works", "t0"))
    proof = learned.readings.memory("works").proofs["works"]
    assert {(each.id, each.kind, each.relation, each.speaker, each.session) for each in proof} == {
        ("t80", "turn", "DERIVED_FROM", "you", "s"),
        ("t0", "turn", "RETIRED_BY", "you", "s"),
        ("c1", "chunk", "DERIVED_FROM", "d", "d"),
    }
    assert ids(learned, status="invalid") == ["works"]
    learned.append(move("s", "t80"))
    assert ids(learned) == ["works", "lives"]  # who contradicted it is off the path


def test_an_id_is_found_by_its_beginning(learned: Memory) -> None:
    first = observed("01KAAAAAAAAAAAAAAAAAAAAAAA", "t0")
    learned.append(first, observed("01KAAAB0000000000000000000", "t0"))
    assert learned.readings.memory("01kaaaa").observation.id == first.observation
    with pytest.raises(Ambiguous):
        learned.readings.memory("01kaaa")
    for unknown in ("", "01k", "likesx", "nothing at all"):
        with pytest.raises(NotFound, match="clew memories"):
            learned.readings.memory(unknown)
    learned.append(forget("likes"))
    with pytest.raises(NotFound, match="forgotten"):
        learned.readings.memory("likes")
    assert "likes" not in ids(learned, everything=True, dead=True)


def test_a_pin_is_of_the_series_and_sleeps_with_it(learned: Memory) -> None:
    learned.append(pin(observation="likes"), observed("likes2", "t10", after=LIKES))
    assert [each.id for each in learned.readings.pinned_observations()] == ["likes2"] == ids(learned, pinned=True)
    assert all(each.pinned for each in learned.readings.memory("likes").revisions)
    assert learned.readings.pinned_observations("elsewhere") == []
    learned.append(hide("t10"))
    assert [each.id for each in learned.readings.pinned_observations()] == ["likes"]
    learned.append(unhide("t10"), unpin(observation="likes2"))
    assert learned.readings.pinned_observations() == [] == ids(learned, pinned=True)


def test_forgetting_names_every_revision_and_what_stands_in_for_a_dead_one(learned: Memory) -> None:
    learned.append(observed("likes2", "t10", after=LIKES), hide("t40"))
    learned.append(observed("again", "t0", instead_of="likes"), observed("third", "t10", instead_of="again"))
    expected = ["likes", "likes2", "again", "third"]
    for id in expected:
        assert [each.id for each in learned.readings.forgetting(id)] == expected
    assert [each.id for each in learned.readings.forgetting("works")] == ["works"]
    learned.append(*(forget(series) for series in ("likes", "again", "third")))
    with pytest.raises(NotFound, match="already"):
        learned.readings.forgetting("again")


def test_what_was_made_again_gives_way_when_the_first_comes_back_and_an_erased_name_is_gone(learned: Memory) -> None:
    learned.append(hide("t40"), observed("again", "t0", instead_of="likes"))
    assert ids(learned, status="active") == ["again", "works"]
    learned.append(unhide("t40"))
    assert ids(learned, status="active") == ["works", "likes"]
    learned.append(observed("big", "t10", about=("e1", "you")), delete("t0"))
    assert learned.readings.memory("big").observation.about == ("you",)


def test_significance_is_counted_over_live_turns_alike_by_memory_and_reader(learned: Memory) -> None:
    rated = (("t120", 3), ("t80", 1), ("t50", 3), ("t40", 0), ("t80", 2), ("t10", 3))
    learned.append(*(rate(turn, rating) for turn, rating in rated))
    learned.append(hide("t50"))
    assert learned.readings.significance() == {0: 1, 1: 0, 2: 1, 3: 2} == learned._reader.significance()
    assert [turn.id for turn in learned.readings.rated(3, 9)] == ["t10", "t120"]
    assert [turn.id for turn in learned.readings.rated(3, 1)] == ["t10"]
    assert learned.readings.rated(7, 5) == learned.readings.rated(3, 0) == []


def test_a_memory_belongs_where_the_words_do_that_it_was_made_from(learned: Memory) -> None:
    learned.append(ProjectMade(project="boats", text="To sea"), begin("b", project="boats"), said("b0", "b"))
    learned.append(begin("c"), said("c0", "c"), observed("one", "b0"), observed("both", "b0", "c0", tags=("sail",)))

    def there() -> tuple[list[str], list[tuple[str, int]]]:
        return ids(learned, project="boats"), [(each.name, each.observations) for each in learned.readings.projects()]

    def of(id: str) -> tuple[str | None, str]:
        found = learned.readings.memory(id).observation
        return found.project, found.scope

    assert there() == (["both", "one"], [("boats", 2)])
    assert (of("one"), of("both"), of("likes")) == (("boats", "boats"), ("boats", "sail"), (None, "global"))
    learned.append(assign("c", "rails"))
    assert of("both") == ("", "sail")  # of several
    seen = {viewer: set(ids(learned, viewer=viewer)) for viewer in ("boats", "rails", None, EVERYONE)}
    assert seen["boats"] == {"one", "likes"}
    assert seen["rails"] == {"likes"}
    assert seen[None] == {"likes", "lives", "works"}
    assert seen[EVERYONE] == {"one", "both", "likes", "lives", "works"}
    learned.append(assign("b", None), assign("c", None))
    assert there() == ([], [("boats", 0)])


def test_every_proof_has_its_own_words(memory: Memory) -> None:
    ids = talk(memory, 120)
    others = [observed(f"m{number}", ids[number]) for number in range(40)]
    supports = [support("m7", turn) for turn in ids[8:]]
    memory.append(*others, *supports, *(hide(turn) for turn in ids[20:60:3]))
    proofs = memory.readings.memory("m7", now=datetime.now(UTC)).proofs["m7"]
    assert sorted(proof.id for proof in proofs) == sorted(ids[7:])
    hidden = set(ids[20:60:3])
    assert {proof.id: proof.text for proof in proofs} == {id: None if id in hidden else id for id in ids[7:]}
