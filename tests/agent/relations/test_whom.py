"""Words of relationship are whom they mean, where exactly one is known to be; typed, as a command, and in the page."""

import pytest

from agent.relations.naming import Kin
from agent.relations.whom import called_in, kin_of, kinds_in
from graph.errors import Ambiguous
from graph.values import CalledBy
from tests.agent.conftest import MakeAgent
from tests.agent.relations.test_learning import started
from tests.agent.test_recall import say


def test_a_word_of_relationship_has_an_owner() -> None:
    assert kin_of("my sister") == Kin("you", "sister")
    assert kin_of("Ada's boss") == Kin("Ada", "boss")
    assert kin_of("meine Schwester") == Kin("you", "schwester")
    assert [kin_of(words) for words in ("mother-in-law", "Ada", "my", "")] == [None] * 4


async def test_whom_it_means_is_who_was_called_so(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    session, _, _ = await say(agent, None, "My sister is called Ada.")
    assert await agent.memories.whom("my sister") == "Ada"
    assert await agent.memories.whom("my brother") == "my brother"
    await say(agent, session, "My other sister is called Eva.")
    with pytest.raises(Ambiguous, match="“my sister” may be Ada or Eva"):
        await agent.memories.whom("my sister")


def test_a_question_names_people_by_what_they_are_to_somebody() -> None:
    assert [*called_in("What does my older sister do?")] == [CalledBy("you", "sister", "sibling_of")]
    assert [*called_in("and what of Ada Byron's landlord?")] == [CalledBy("Ada Byron", "landlord", "landlord_of")]
    assert [*called_in("Wo wohnt meine Schwester?")] == [CalledBy("you", "schwester", "sibling_of")]
    assert [[*called_in(text)] for text in ("my shoes and Ada's coat", "sisters", "")] == [[], [], []]


def test_a_question_asks_for_kinds_of_relationship_by_its_verbs() -> None:
    asked = {
        "who works with Ada?": {"works_with"},
        "who does Ada work for": {"works_for"},
        "does Bob trust Ada?": {"trusts"},
        "who am I married to?": {"spouse_of"},
        "wer arbeitet mit Ada?": {"works_with"},
        "How is the weather?": set(),
        "works": {"works_with", "works_for", "manages"},
        "": set(),
    }
    assert {text: kinds_in(text) for text in asked} == asked


async def test_of_a_message_the_relationship_that_is_asked_for_is_recalled(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    text = "My sister Ada works with Bob at Siemens. Ada likes Bob but Bob does not trust Ada."
    await say(agent, None, text)
    for question, answer in (
        ("who works with Ada?", "Ada works with Bob."),
        ("who does Ada work for?", "Ada works for Siemens."),
        ("does Bob trust Ada?", "Bob does not trust Ada."),
    ):
        found = await agent.search.recall(question)
        assert next(hit.text for hit in found if hit.kind == "observation") == answer


async def test_what_is_told_of_my_sister_by_her_name_is_found(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    session, _, _ = await say(agent, None, "My sister is called Ada.")
    for text in ("Nothing new here", "It rains", "It still rains", "The bus was late", "Ada works with Bob."):
        await say(agent, session, text)
    found = await agent.search.recall("What about my sister?")
    assert "you —sibling of→ Ada —works with→ Bob" in {hit.way for hit in found}
