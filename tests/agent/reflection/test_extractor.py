"""Without a model that can be trusted: people's own sentences, word for word, and what they revise."""

from agent.reflection.learning import keep_statements
from agent.reflection.making import Draft, Review
from agent.reflection.material import Outcome
from graph.events import ObservationMade, ObservationRetired, ObservationSupported
from graph.values import NearObservation, Observation, Turn

from .told import Shelf, known, material, said

OSLO = known("oslo", "I live in Oslo.")


async def kept(*turns: Turn, shown: tuple[Observation, ...] = (), review: Review = "auto") -> Outcome:
    draft = Draft(material(*turns), {}, review=review, origin="verbatim")
    shelf = Shelf(list(shown))

    async def near(text: str) -> list[NearObservation]:
        return shelf.near(text, vector=None, world="main", project=None)

    await keep_statements(draft, near)
    return draft.outcome


async def test_a_sentence_about_oneself_is_kept_word_for_word() -> None:
    (made,) = (await kept(said("t1", "Can you help me? I live in Oslo. Thanks!"))).events
    assert isinstance(made, ObservationMade)
    assert (made.text, made.origin, made.status, made.sources) == ("I live in Oslo.", "verbatim", "active", ("t1",))


async def test_chit_chat_questions_and_what_ifs_leave_nothing() -> None:
    for text in (
        "ok thanks!",
        "How tall is the moon?",
        "If I lived in Oslo I would ski.",
        "",
        "```\nI live in Oslo.\n```",
    ):
        assert (await kept(said("t1", text))).events == []


async def test_other_people_are_named() -> None:
    (made,) = (await kept(said("t1", "I live in Oslo.", speaker="Ana"))).events
    assert isinstance(made, ObservationMade)
    assert (made.text, made.about) == ("Ana: I live in Oslo.", ("Ana",))


async def test_what_is_said_again_is_a_proof_of_what_is_known() -> None:
    outcome = await kept(said("t1", "I live in Oslo."), shown=(OSLO,))
    (support,) = outcome.events
    assert isinstance(support, ObservationSupported)
    assert outcome.created == 0


async def test_a_later_value_revises_the_earlier_one() -> None:
    outcome = await kept(said("t1", "I live in Bergen now."), shown=(OSLO,))
    (revision,) = outcome.events
    assert isinstance(revision, ObservationMade)
    assert (revision.supersedes, revision.sources) == ("oslo", ("t1", "old"))
    assert outcome.updated == 1


async def test_a_correction_retires_what_it_corrects_as_well() -> None:
    outcome = await kept(said("t1", "Actually, I made a mistake: I live in Bergen, not in Oslo."), shown=(OSLO,))
    assert [type(each) for each in outcome.events] == [ObservationRetired, ObservationMade]


async def test_an_earlier_value_that_is_read_later_revises_nothing() -> None:
    outcome = await kept(said("t1", "I live in Bergen now.", days=-50), shown=(OSLO,))
    assert (outcome.events, outcome.skipped) == ([], 1)


async def test_what_one_person_says_revises_nothing_about_another() -> None:
    (made,) = (await kept(said("t1", "I live in Bergen now.", speaker="Ana"), shown=(OSLO,))).events
    assert isinstance(made, ObservationMade)
    assert made.supersedes is None


async def test_all_of_it_waits_for_a_review_where_the_user_wants_that() -> None:
    (made,) = (await kept(said("t1", "I live in Oslo."), review="ask")).events
    assert isinstance(made, ObservationMade)
    assert made.status == "candidate"


async def test_what_is_said_again_within_other_words_is_a_proof_too() -> None:
    outcome = await kept(said("t1", "As I said I live in Oslo so winters are dark. Anything else?"), shown=(OSLO,))
    assert [type(each) for each in outcome.events] == [ObservationSupported]


async def test_a_repeat_is_a_proof_though_something_else_is_denied_beside_it() -> None:
    marathon = known("run", "I'm training for the Valencia marathon.")
    outcome = await kept(
        said("t1", "im training for the valencia marathon and dont want to lose fitness"), shown=(marathon,)
    )
    assert [type(each) for each in outcome.events] == [ObservationSupported]


async def test_a_sentence_is_kept_up_to_where_it_goes_on_to_something_else() -> None:
    (made,) = (
        await kept(said("t1", "I work nights at the Royal Infirmary so my meals are all over the place."))
    ).events
    assert isinstance(made, ObservationMade)
    assert made.text == "I work nights at the Royal Infirmary."


async def test_nothing_is_taken_from_a_story_or_from_before_the_joke_ends() -> None:
    story = "for a short story: one morning i wake up. my wife is a fishmonger. write the first paragraph"
    assert (await kept(said("t1", story))).events == []
    (made,) = (await kept(said("t1", "I live in the fridge. seriously though, I live in Seville."))).events
    assert isinstance(made, ObservationMade)
    assert "Seville" in (made.text or "")


async def test_two_things_told_in_one_sentence_are_kept_apart() -> None:
    events = (await kept(said("t1", "My name is Wilma and I live in Delft."))).events
    assert [each.text for each in events if isinstance(each, ObservationMade)] == [
        "My name is Wilma.",
        "I live in Delft.",
    ]
