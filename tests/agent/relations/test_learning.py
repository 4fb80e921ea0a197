"""What people say of who stands how to whom is learned after their message, with any model, and ends with its proof."""

from typing import Literal

from agent.agent import Agent
from agent.settings import Settings
from graph.values import Wanted
from tests.agent.conftest import MakeAgent
from tests.agent.relations.test_relating import edges
from tests.agent.test_recall import ready, say
from tests.fakes import FakeGenerator


async def started(make_agent: MakeAgent, review: Literal["auto", "ask"] = "auto") -> Agent:
    return await ready(make_agent, FakeGenerator("I see."), Settings(review=review))


async def learned(make_agent: MakeAgent, *texts: str, review: Literal["auto", "ask"] = "auto") -> Agent:
    """An agent to whom this was said in one chat."""
    agent, session = await started(make_agent, review), None
    for text in texts:
        session, _, _ = await say(agent, session, text)
    return agent


async def test_an_exchange_teaches_directed_relationships(make_agent: MakeAgent) -> None:
    agent = await learned(
        make_agent, "My sister Ada works with Bob at Siemens. Ada likes Bob but Bob does not trust Ada."
    )
    found = await edges(agent)
    assert {each[:4] for each in found} == {
        ("you", "sibling_of", "Ada", True),
        ("Ada", "works_with", "Bob", True),
        ("Ada", "works_for", "Siemens", True),
        ("Ada", "likes", "Bob", True),
        ("Bob", "trusts", "Ada", False),
    }
    rows = agent._memory.query("MATCH (e:Entity) RETURN e.name AS name, e.kind AS kind")
    kinds = {row["name"]: row["kind"] for row in rows}
    assert (kinds["Bob"], kinds["Ada"], kinds["Siemens"]) == ("person", "person", "organisation")
    told = await agent.memories.find(Wanted(related=True))
    assert {(each.origin, each.status) for each in told} == {("verbatim", "active")}


async def test_a_word_of_relationship_is_who_was_called_so_and_what_has_ended_is_kept(make_agent: MakeAgent) -> None:
    agent = await learned(make_agent, "My sister is called Ada.", "My sister works for Siemens.", "Ada left Siemens.")
    ended, sister = await edges(agent)
    assert ended[:4] == ("Ada", "works_for", "Siemens", True)
    assert ended[4] is not None
    assert sister[:3] == ("you", "sibling_of", "Ada")


async def test_hidden_and_shown_again_the_words_take_the_relationship_along(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    session, _, _ = await say(agent, None, "Ada works with Bob.")
    turn = (await agent.chats.thread(session))[0].id
    await agent.chats.hide(turn)
    assert await edges(agent) == []
    await agent.chats.unhide(turn)
    assert len(await edges(agent)) == 1


async def test_under_review_nothing_is_an_edge_yet(make_agent: MakeAgent) -> None:
    agent = await learned(make_agent, "Ada works with Bob.", review="ask")
    assert await edges(agent) == []
    (waiting,) = [each for each in await agent.memories.review() if each.relationship is not None]
    await agent.memories.promote(waiting.id)
    assert len(await edges(agent)) == 1


async def test_questions_suppositions_quotations_and_what_a_role_says_teach_nothing(make_agent: MakeAgent) -> None:
    agent = await learned(
        make_agent,
        "Does Ada work with Bob?",
        "If Ada were married to Bob, would she move to Lisbon?",
        'He wrote: "My sister Ada works with Bob."',
        "> Ada works for Siemens",
        "Let's do a mock interview. I'll be Jane, a nurse from Dublin.",
        "My husband Paul works for Siemens.",
    )
    assert await edges(agent) == []
    session = await agent.chats.last()
    await say(agent, session, "OK, end of the interview. My sister Ada works for Bosch.")
    assert {each[:3] for each in await edges(agent)} == {("you", "sibling_of", "Ada"), ("Ada", "works_for", "Bosch")}


async def test_it_does_not_end_before_it_begins(make_agent: MakeAgent) -> None:
    agent = await learned(
        make_agent,
        "I lived in Rome from 2022 until 2019. My sister Ada is here.",
        "Ada has worked at Siemens since 2023.",
        "Ada worked at Siemens until 2020.",
    )
    found = {each[:3]: each[4] for each in await edges(agent)}
    assert found.keys() == {("you", "lives_in", "Rome"), ("you", "sibling_of", "Ada"), ("Ada", "works_for", "Siemens")}
    assert "2019" not in str(found["you", "lives_in", "Rome"])


async def test_the_same_pair_twice_is_one_and_what_is_beside_one_does_not_end_with_it(make_agent: MakeAgent) -> None:
    agent = await learned(
        make_agent,
        "Ada is Bob's mother. Bob is Ada's son. Bob is married to Eva.",
        "Eva is Bob's wife.",
        "I work for Siemens and play the cello.",
        "I don't work for Siemens any more.",
    )
    found = {each[:3]: each[4] for each in await edges(agent)}
    works = ("you", "works_for", "Siemens")
    assert found.keys() == {("Ada", "parent_of", "Bob"), ("Bob", "spouse_of", "Eva"), works}
    assert len(await edges(agent)) == 3
    assert found[works] is not None
    (married,) = [each for each in await agent.memories.find(Wanted(related=True)) if "married" in (each.text or "")]
    assert married.proof_count == 2
    assert "I work for Siemens and play the cello." in [each.text for each in await agent.memories.find()]
