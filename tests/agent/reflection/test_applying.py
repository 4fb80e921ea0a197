"""What of a model's proposals becomes events: nothing on trust."""

from collections.abc import Callable, Sequence

import pytest

from agent.reflection.applying import Applier, newer, sentence
from agent.reflection.consolidation import Action, Create, Delete, Update
from agent.reflection.likeness import Embed
from agent.reflection.making import Draft, Review
from agent.reflection.material import Material, Outcome
from graph.events import ObservationKind, ObservationMade, ObservationRetired, ObservationSupported
from graph.values import NearObservation, Observation, Turn

from .told import Shelf, known, material, no_vectors, said

BOAT = said("t1", "I bought a red boat called Minna in Bergen last week.")
OSLO = known("oslo", "The user lives in Oslo.")


def create(text: str, *, confidence: float = 0.9, sources: Sequence[int] = (1,)) -> Create:
    return Create(text=text, category=ObservationKind.FACT, confidence=confidence, sources=list(sources))


def update(text: str, *, memory: int = 1, confidence: float = 0.9) -> Update:
    return Update(memory=memory, text=text, confidence=confidence, sources=[1])


async def applied(
    about: Material,
    *actions: Action,
    shown: Sequence[Observation] = (),
    review: Review = "auto",
    embed: Embed = no_vectors,
) -> Outcome:
    draft = Draft(about, {}, review=review, origin="model")
    shelf = Shelf(list(shown))

    async def near(text: str) -> list[NearObservation]:
        return shelf.near(text, vector=None, world="main", project=None, under_review=True)

    await Applier(draft, list(shown), near=near, embed=embed).apply(actions)
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


async def test_an_update_that_its_turn_bears_out_acts_whatever_its_words() -> None:
    moved = material(said("t1", "boxes unpacked! Bergen is so much wetter, and a whole house to myself"))
    outcome = await applied(moved, update("The user lives in a house in Bergen."), shown=[OSLO])
    (revision,) = made(outcome)
    assert (revision.supersedes, revision.series, revision.status) == ("oslo", "oslo", "active")
    assert revision.sources == ("t1", "old")
    assert outcome.updated == 1


async def test_an_update_that_is_not_grounded_is_a_candidate_of_just_that_and_no_twin() -> None:
    outcome = await applied(material(BOAT), update("The user lives alone by the sea in a wooden house."), shown=[OSLO])
    assert [(each.supersedes, each.status) for each in made(outcome)] == [("oslo", "candidate")]


async def test_a_change_that_is_only_supposed_waits_for_a_review() -> None:
    cello = known("cello", "The user plays the cello.")
    plays = material(said("t1", "If I could afford one, I'd play the piano, not the cello."))
    outcome = await applied(plays, update("The user plays the piano."), shown=[cello])
    assert {each.status for each in made(outcome)} <= {"candidate"}


MOVED = "I moved, I live in Bergen now, no longer in Oslo."
RETIRES = Delete(memory=1, sources=[1])
IDLE = {
    "nothing new": (said("t1", "ok thanks!"), update("The user lives in Oslo.")),
    "what was said earlier": (said("t1", MOVED, days=-100), update("The user lives in Bergen."), RETIRES),
    "other people": (said("t1", MOVED, speaker="Ana"), RETIRES, update("Ana lives in Bergen now.")),
}


@pytest.mark.parametrize(("turn", "actions"), [(turn, actions) for turn, *actions in IDLE.values()], ids=IDLE)
async def test_what_is_known_of_the_user_is_neither_revised_nor_retired(turn: Turn, actions: list[Action]) -> None:
    assert (await applied(material(turn), *actions, shown=[OSLO])).events == []


@pytest.mark.model
async def test_it_is_retired_only_where_the_users_own_words_end_it(embed: Embed) -> None:
    car = known("car", "I drive an old Skoda to work")
    ended = material(said("t1", "I sold the Skoda, I don't drive to work any more"))
    events = (await applied(ended, Delete(memory=1, sources=[1]), shown=[car], embed=embed)).events
    assert [type(each) for each in events] == [ObservationRetired]
    tyres = material(said("t1", "got new winter tyres for the Skoda yesterday, 400 euros, ouch"))
    (doubt,) = made(await applied(tyres, Delete(memory=1, sources=[1]), shown=[car], embed=embed))
    assert (doubt.status, doubt.supersedes) == ("candidate", "car")


async def test_a_deletion_on_other_words_is_only_reviewed_where_they_are_about_it() -> None:
    about = await applied(material(said("t1", "Oslo is nice to live in.")), Delete(memory=1, sources=[1]), shown=[OSLO])
    (doubt,) = made(about)
    assert (doubt.status, doubt.supersedes) == ("candidate", "oslo")
    other = await applied(material(said("t1", "ok thanks!")), Delete(memory=1, sources=[1]), shown=[OSLO])
    assert other.events == []


async def test_nothing_is_taken_from_who_speaks_as_somebody_else() -> None:
    draft = Draft(material(BOAT), {}, review="auto", origin="model")

    async def near(text: str) -> list[NearObservation]:
        return []

    await Applier(draft, [], near=near, embed=no_vectors, foreign={"t1"}).apply([create("The user bought a red boat.")])
    assert (draft.outcome.events, draft.outcome.skipped) == ([], 1)


def test_a_sentence_is_one_line() -> None:
    assert sentence(" - The user\nsails. ") == "The user sails."
    assert sentence("word " * 31) == ""


def test_newer_looks_at_the_latest_proof() -> None:
    assert newer([said("t", "x", days=0)], OSLO)
    assert not newer([said("t", "x", days=-1)], OSLO)
