"""Without a model that can be trusted: people's own sentences, word for word, and what they revise."""

from collections.abc import Collection
from dataclasses import replace

import pytest

from agent.reflection.learning import keep_statements
from agent.reflection.likeness import Embed, cosine
from agent.reflection.making import Draft, Review
from agent.reflection.material import Outcome
from graph.events import ObservationMade, ObservationSupported
from graph.values import NearObservation, Observation, Turn

from .told import Shelf, known, material, no_vectors, said

OSLO = known("oslo", "I live in Oslo.")


async def kept(
    *turns: Turn,
    shown: tuple[Observation, ...] = (),
    review: Review = "auto",
    embed: Embed = no_vectors,
    foreign: Collection[str] = (),
) -> Outcome:
    draft = Draft(material(*turns), {}, review=review, origin="verbatim")
    shelf = Shelf(list(shown))

    async def near(text: str) -> list[NearObservation]:
        found = shelf.near(text, vector=None, world="main", project=None, under_review=True)
        here, *others = await embed([text, *(each.observation.text or "" for each in found)])
        pairs = zip(found, others, strict=True)
        return [replace(each, cosine=cosine(here, vector) or 0.0) for each, vector in pairs]

    await keep_statements(draft, near, embed, foreign)
    return draft.outcome


async def test_a_sentence_about_oneself_is_kept_word_for_word() -> None:
    (made,) = (await kept(said("t1", "I live in Oslo. Thanks!"))).events
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


@pytest.mark.model
async def test_words_of_change_near_in_meaning_revise_what_is_known(embed: Embed) -> None:
    outcome = await kept(said("t1", "I don't live in Oslo any more, I moved to Bergen."), shown=(OSLO,), embed=embed)
    (revision,) = outcome.events
    assert isinstance(revision, ObservationMade)
    assert (revision.supersedes, revision.sources) == ("oslo", ("t1",))
    assert outcome.updated == 1


@pytest.mark.model
async def test_what_is_said_earlier_or_of_something_else_revises_nothing(embed: Embed) -> None:
    earlier = said("t1", "I don't live in Oslo any more, I moved to Bergen.", days=-50)
    other = said("t1", "I quit my job at the bakery last week.")
    for turn in (earlier, other):
        made = (await kept(turn, shown=(OSLO,), embed=embed)).events
        assert [each.supersedes for each in made if isinstance(each, ObservationMade)] == [None]


@pytest.mark.model
async def test_a_contradiction_is_never_a_proof(embed: Embed) -> None:
    lisbon = known("lisbon", "I live in Lisbon")
    events = (await kept(said("t1", "I moved to Porto last month"), shown=(lisbon,), embed=embed)).events
    assert not any(isinstance(each, ObservationSupported) for each in events)


async def test_what_one_person_says_revises_nothing_about_another() -> None:
    (made,) = (await kept(said("t1", "I live in Bergen now.", speaker="Ana"), shown=(OSLO,))).events
    assert isinstance(made, ObservationMade)
    assert made.supersedes is None


async def test_all_of_it_waits_for_a_review_where_the_user_wants_that() -> None:
    (made,) = (await kept(said("t1", "I live in Oslo."), review="ask")).events
    assert isinstance(made, ObservationMade)
    assert made.status == "candidate"


async def test_nothing_is_taken_from_who_speaks_as_somebody_else() -> None:
    assert (await kept(said("t1", "I live in Oslo."), foreign={"t1"})).events == []
