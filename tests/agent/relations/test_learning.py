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


async def kinds_of(agent: Agent) -> dict[str, str]:
    """What the entities are."""
    rows = agent._memory.query("MATCH (e:Entity) RETURN e.name AS name, e.kind AS kind")
    return {row["name"]: row["kind"] for row in rows}


async def test_an_exchange_teaches_directed_relationships(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    await say(agent, None, "My sister Ada works with Bob at Siemens. Ada likes Bob but Bob does not trust Ada.")
    found = await edges(agent)
    assert {each[:4] for each in found} == {
        ("you", "sibling_of", "Ada", True),
        ("Ada", "works_with", "Bob", True),
        ("Ada", "works_for", "Siemens", True),
        ("Ada", "likes", "Bob", True),
        ("Bob", "trusts", "Ada", False),
    }
    kinds = await kinds_of(agent)
    assert (kinds["Bob"], kinds["Ada"], kinds["Siemens"]) == ("person", "person", "organisation")
    told = await agent.memories.find(Wanted(related=True))
    assert {each.origin for each in told} == {"verbatim"}
    assert {each.status for each in told} == {"active"}


async def test_a_word_of_relationship_is_who_was_called_so(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    session, _, _ = await say(agent, None, "My sister is called Ada.")
    await say(agent, session, "My sister works for Bosch now.")
    assert ("Ada", "works_for", "Bosch", True, None) in await edges(agent)


async def test_an_end_is_told_and_what_was_is_kept(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    session, _, _ = await say(agent, None, "Ada works for Siemens.")
    await say(agent, session, "Ada left Siemens.")
    ((*ends, until),) = await edges(agent)
    assert ends == ["Ada", "works_for", "Siemens", True]
    assert until is not None


async def test_rewound_hidden_or_deleted_the_words_take_the_relationship_along(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    session, _, _ = await say(agent, None, "Ada works with Bob.")
    turn = (await agent.chats.thread(session))[0].id
    await agent.chats.hide(turn)
    assert await edges(agent) == []
    await agent.chats.unhide(turn)
    assert len(await edges(agent)) == 1


async def test_under_review_nothing_is_an_edge_yet(make_agent: MakeAgent) -> None:
    agent = await started(make_agent, review="ask")
    await say(agent, None, "Ada works with Bob.")
    assert await edges(agent) == []
    (waiting,) = [each for each in await agent.memories.review() if each.relationship is not None]
    await agent.memories.promote(waiting.id)
    assert len(await edges(agent)) == 1


async def test_questions_suppositions_and_quotations_teach_nothing(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    session = None
    for text in (
        "Does Ada work with Bob?",
        "If Ada were married to Bob, would she move to Lisbon?",
        'He wrote: "My sister Ada works with Bob."',
        "> Ada works for Siemens",
    ):
        session, _, _ = await say(agent, session, text)
    assert await edges(agent) == []


async def test_it_does_not_end_before_it_begins(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    session, _, _ = await say(agent, None, "I lived in Rome from 2022 until 2019. My sister Ada is here.")
    await say(agent, session, "Ada has worked at Siemens since 2023.")
    await say(agent, session, "Ada worked at Siemens until 2020.")
    found = {each[:3]: each[4] for each in await edges(agent)}
    assert found.keys() == {("you", "lives_in", "Rome"), ("you", "sibling_of", "Ada"), ("Ada", "works_for", "Siemens")}
    assert "2019" not in str(found["you", "lives_in", "Rome"])


async def test_the_same_pair_twice_from_either_end_is_one_relationship(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    session, _, _ = await say(agent, None, "Ada is Bob's mother. Bob is Ada's son. Bob is married to Eva.")
    await say(agent, session, "Eva is Bob's wife.")
    assert sorted(each[:3] for each in await edges(agent)) == [
        ("Ada", "parent_of", "Bob"),
        ("Bob", "spouse_of", "Eva"),
    ]
    (married,) = [each for each in await agent.memories.find(Wanted(related=True)) if "married" in (each.text or "")]
    assert married.proof_count == 2


async def test_what_a_role_says_is_nobodys_relationship_until_the_play_ends(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    session, _, _ = await say(agent, None, "Let's do a mock interview. I'll be Jane, a nurse from Dublin.")
    await say(agent, session, "My husband Paul works for Siemens.")
    assert not await edges(agent)
    await say(agent, session, "OK, end of the interview. My sister Ada works for Bosch.")
    assert {each[:4] for each in await edges(agent)} == {
        ("you", "sibling_of", "Ada", True),
        ("Ada", "works_for", "Bosch", True),
    }


async def test_what_is_said_beside_a_relationship_does_not_end_with_it(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    session, _, _ = await say(agent, None, "I work for Siemens and play the cello.")
    await say(agent, session, "I don't work for Siemens any more.")
    ((*ends, until),) = await edges(agent)
    assert (ends, until is not None) == (["you", "works_for", "Siemens", True], True)
    assert "I work for Siemens and play the cello." in [each.text for each in await agent.memories.find()]
