"""What of a model's proposals becomes events: nothing on trust."""

from collections.abc import Callable, Sequence

import pytest

from agent.reflection.applying import Applier, newer, sentence, with_journey
from agent.reflection.consolidation import Action, Create, Delete, Update
from agent.reflection.making import Draft, Review
from agent.reflection.material import Material, Outcome
from graph.events import ObservationKind, ObservationMade, ObservationRetired, ObservationSupported
from graph.values import NearObservation, Observation

from .told import Shelf, known, material, no_vectors, said

BOAT = said("t1", "I bought a red boat called Minna in Bergen last week.")
OSLO = known("oslo", "The user lives in Oslo.")


def create(text: str, *, confidence: float = 0.9, sources: Sequence[int] = (1,)) -> Create:
    return Create(text=text, category=ObservationKind.FACT, confidence=confidence, sources=list(sources))


def update(text: str, *, memory: int = 1, confidence: float = 0.9) -> Update:
    return Update(memory=memory, text=text, confidence=confidence, sources=[1])


async def applied(
    about: Material, *actions: Action, shown: Sequence[Observation] = (), review: Review = "auto"
) -> Outcome:
    draft = Draft(about, {}, review=review, origin="model")
    shelf = Shelf(list(shown))

    async def near(text: str) -> list[NearObservation]:
        return shelf.near(text, vector=None, world="main", project=None)

    await Applier(draft, list(shown), near=near, embed=no_vectors).apply(actions)
    return draft.outcome


def made(outcome: Outcome) -> list[ObservationMade]:
    return [each for each in outcome.events if isinstance(each, ObservationMade)]


async def test_a_sentence_that_its_turn_bears_out_is_in_use_at_once() -> None:
    outcome = await applied(material(BOAT), create("The user bought a red boat called Minna in Bergen."))
    (boat,) = made(outcome)
    assert (boat.status, boat.grounded, boat.sources, boat.about) == ("active", True, ("t1",), ("you",))
    assert (outcome.created, outcome.skipped) == (1, 0)


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("The user bought a red boat called Minna in Bergen.", 0.4),  # not sure enough to keep
        ("The user bought a red boat called Olga in Bergen.", 1),  # a name nobody said
        ("The user bought 17 red boats in Bergen.", 1),  # a number nobody said
        ("The user adores parachutes and gherkins beyond measure.", 1),  # nothing of it was said
        ("red boat " * 20, 1),  # a page
        ("…", 1),
        ("12", 1),
    ],
)
async def test_what_is_invented_empty_or_unsure_is_nothing(text: str, confidence: float) -> None:
    outcome = await applied(material(BOAT), create(text, confidence=confidence))
    assert (outcome.events, outcome.skipped) == ([], 1)


async def test_what_is_not_sure_waits_for_a_review() -> None:
    unsure = create("The user bought a red boat called Minna in Bergen.", confidence=0.75)
    (boat,) = made(await applied(material(BOAT), unsure))
    assert boat.status == "candidate"


async def test_everything_waits_where_the_user_wants_to_be_asked() -> None:
    (boat,) = made(await applied(material(BOAT), create("The user bought a red boat in Bergen."), review="ask"))
    assert boat.status == "candidate"


async def test_turns_and_observations_that_do_not_exist_are_left_out_and_the_rest_is_taken() -> None:
    outcome = await applied(
        material(BOAT),
        create("The user bought a red boat in Bergen.", sources=(9, 1, 1)),
        create("The user bought a boat.", sources=(7,)),
        update("The user lives in Bergen.", memory=5),
        Delete(memory=3, sources=[1]),
    )
    assert [each.sources for each in made(outcome)] == [("t1",)]
    assert outcome.skipped == 3


async def test_the_same_sentence_twice_in_an_answer_is_one_observation() -> None:
    outcome = await applied(material(BOAT), *[create("The user bought a red boat in Bergen.")] * 3)
    assert len(made(outcome)) == 1


async def test_what_is_known_gains_a_proof_and_no_twin() -> None:
    boat = known("boat", "The user bought a red boat in Bergen.")
    outcome = await applied(material(BOAT), create("The user bought a red boat in Bergen!"), shown=[boat])
    (support,) = outcome.events
    assert isinstance(support, ObservationSupported)
    assert (support.observation, support.source) == ("boat", "t1")


@pytest.mark.parametrize("change", [create, update])
@pytest.mark.parametrize(
    ("confidence", "source", "kind"),
    [(0.9, "old", ObservationMade), (0.7, "old", ObservationSupported), (0.9, "t1", None)],
)
async def test_what_is_sure_by_new_proof_is_in_use_beside_what_waits_with_the_same_words(
    change: Callable[..., Action], confidence: float, source: str, kind: type | None
) -> None:
    waits = known("boat", "The user bought a red boat in Bergen.", status="candidate", sources=(source,))
    said_again = change("The user bought a red boat in Bergen.", confidence=confidence)
    outcome = await applied(material(BOAT), said_again, shown=[waits])
    assert [type(each) for each in outcome.events] == ([kind] if kind else [])
    for boat in made(outcome):
        assert (boat.status, boat.supersedes) == ("active", None)


async def test_the_turn_it_was_made_from_does_not_support_it() -> None:
    boat = known("boat", "The user bought a red boat in Bergen.", sources=("t1",))
    outcome = await applied(material(BOAT), create("The user bought a red boat in Bergen."), shown=[boat])
    assert outcome.events == []


async def test_a_change_of_state_is_a_revision_that_keeps_the_way_there() -> None:
    moved = material(said("t1", "We moved: I live in Bergen now."))
    outcome = await applied(moved, update("The user lives in Bergen now."), shown=[OSLO])
    (revision,) = made(outcome)
    assert (revision.supersedes, revision.series, revision.status) == ("oslo", "oslo", "active")
    assert revision.sources == ("t1", "old")
    assert "Oslo" in (revision.text or "")
    assert outcome.updated == 1


async def test_an_update_that_is_about_something_else_leaves_the_old_one_alone() -> None:
    outcome = await applied(material(BOAT), update("The user bought a red boat called Minna."), shown=[OSLO])
    (boat,) = made(outcome)
    assert boat.supersedes is None


async def test_a_change_the_words_do_not_make_waits_for_a_review() -> None:
    cello = known("cello", "The user plays the cello.")
    plays = material(said("t1", "If I could afford one, I'd play the piano, not the cello."))
    assert all(
        each.status == "candidate"
        for each in made(await applied(plays, update("The user plays the piano."), shown=[cello]))
    )


async def test_what_the_words_bear_out_stands_beside_what_they_do_not_take_back() -> None:
    cello = known("cello", "The user plays the cello.")
    plays = material(said("t1", "I play the piano every day."))
    (piano,) = made(await applied(plays, update("The user plays the piano every day."), shown=[cello]))
    assert (piano.status, piano.supersedes) == ("active", None)


async def test_an_update_that_says_nothing_new_changes_nothing() -> None:
    chat = material(said("t1", "ok thanks!"))
    outcome = await applied(chat, update("The user lives in Oslo."), shown=[OSLO])
    assert outcome.events == []


async def test_what_was_said_earlier_never_revises_or_retires_what_was_said_later() -> None:
    before = material(said("t1", "I moved, I live in Bergen now, no longer in Oslo.", days=-100))
    outcome = await applied(before, update("The user lives in Bergen."), Delete(memory=1, sources=[1]), shown=[OSLO])
    assert outcome.events == []


async def test_it_is_retired_only_where_the_users_own_words_correct_it() -> None:
    corrected = material(said("t1", "No, that is not true: I do not live in Oslo."))
    (retired,) = (await applied(corrected, Delete(memory=1, sources=[1]), shown=[OSLO])).events
    assert isinstance(retired, ObservationRetired)
    assert (retired.observation, retired.by_turn) == ("oslo", "t1")


async def test_a_deletion_on_other_words_is_never_done_and_only_reviewed_where_they_are_about_it() -> None:
    about = await applied(material(said("t1", "Oslo is nice to live in.")), Delete(memory=1, sources=[1]), shown=[OSLO])
    (doubt,) = made(about)
    assert (doubt.status, doubt.supersedes) == ("candidate", "oslo")
    other = await applied(material(said("t1", "ok thanks!")), Delete(memory=1, sources=[1]), shown=[OSLO])
    assert other.events == []


async def test_other_people_do_not_change_what_is_known_of_the_user() -> None:
    ana = material(said("t1", "I moved, I live in Bergen now, no longer in Oslo.", speaker="Ana"))
    outcome = await applied(ana, Delete(memory=1, sources=[1]), update("Ana lives in Bergen now."), shown=[OSLO])
    (bergen,) = made(outcome)
    assert (bergen.supersedes, bergen.about) == (None, ("Ana",))


def test_a_sentence_is_one_line() -> None:
    assert sentence(" - The user\nsails. ") == "The user sails."
    assert sentence("word " * 31) == ""


def test_the_way_there_is_added_where_it_is_missing_and_there_is_room() -> None:
    old = "The user lives in Oslo."
    assert with_journey("The user used to live in Oslo and now lives in Bergen.", old).endswith("in Bergen.")
    assert with_journey("The user lives in Bergen.", old) == "The user lives in Bergen; before: The user lives in Oslo."
    long = " ".join(["word"] * 29)
    assert with_journey(long, old) == long


def test_newer_looks_at_the_latest_proof() -> None:
    assert newer([said("t", "x", days=0)], OSLO)
    assert not newer([said("t", "x", days=-1)], OSLO)
