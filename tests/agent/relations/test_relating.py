"""Relationships that are stated by hand: what they make and end, and that what changes their proof changes them."""

import pytest

from agent.agent import Agent
from agent.errors import AgentError
from agent.events import TurnAccepted
from agent.relations.stating import read
from graph.events.codec import SELECT_EVENT
from graph.values import Observation, Wanted
from tests.agent.conftest import MakeAgent
from tests.agent.test_recall import only
from tests.agent.test_tools import ask, with_a_fact

EDGES = """
MATCH (a:Entity)-[r:RELATES]->(b:Entity) WHERE r.world = $world
RETURN a.name AS a, r.kind AS kind, b.name AS b, r.polarity AS holds, r.until AS until ORDER BY a.name, r.kind, b.name
"""


async def relate(agent: Agent, text: str, **scope: str) -> Observation:
    return await agent.memories.relate(read(text), **scope)


async def edges(agent: Agent, world: str = "main") -> list[tuple[object, ...]]:
    """The edges of the graph itself: who, how, whom, whether it holds, until when."""
    return [tuple(row.values()) for row in agent._memory.query(EDGES, {"world": world})]


async def test_what_is_stated_is_an_edge_with_its_proof(agent: Agent) -> None:
    made = await relate(agent, "Ada works_with Bob since 2024")
    assert (made.text, made.status, made.proof_count) == ("Ada works with Bob since 2024.", "active", 1)
    told = made.relationship
    assert told is not None
    assert (told.subject.name, told.kind, told.object.name, told.since) == ("Ada", "works_with", "Bob", "2024")
    assert await edges(agent) == [("Ada", "works_with", "Bob", True, None)]
    assert await agent.memories.find(Wanted(related=True, about="Bob")) == [made]


async def test_said_again_it_is_proof_whichever_way_round_where_that_is_the_same(agent: Agent) -> None:
    made = await relate(agent, "Ada works_with Bob since 2024")
    again = await relate(agent, "bob works with ADA")
    assert (again.id, again.proof_count) == (made.id, 2)
    await relate(agent, "Bob trusts Ada")
    await relate(agent, "Ada trusts Bob")
    assert len(await edges(agent)) == 3


async def test_one_at_a_time_a_new_one_ends_the_one_before_and_nothing_is_lost(agent: Agent) -> None:
    await relate(agent, "Ada works_for Siemens since 2020")
    await relate(agent, "Ada works_for Bosch since 2023-05")
    found = await edges(agent)
    assert found == [("Ada", "works_for", "Bosch", True, None), ("Ada", "works_for", "Siemens", True, "2023-05")]
    await relate(agent, "Ada works_for Zeiss since 2015 until 2020")  # told later, and over
    assert [until for *_, until in await edges(agent)] == [None, "2023-05", "2020"]
    await relate(agent, "Bob is married to Eva")
    await relate(agent, "Carl is married to Eva")
    assert [each[0] for each in await edges(agent) if each[1] == "spouse_of" and each[4] is None] == ["Carl"]


async def test_the_contrary_and_an_end_are_revisions_and_undone_it_holds_again(agent: Agent) -> None:
    trusted = await relate(agent, "Bob trusts Ada")
    doubted = await relate(agent, "Bob not trusts Ada")
    assert (doubted.series, doubted.text) == (trusted.series, "Bob does not trust Ada.")
    assert await edges(agent) == [("Bob", "trusts", "Ada", False, None)]
    await relate(agent, "Ada lives_with Bob since 2019")
    over = await relate(agent, "Ada lives_with Bob until 2026-10")
    assert over.text == "Ada lived with Bob since 2019 until 2026-10."
    assert (await edges(agent))[0] == ("Ada", "lives_with", "Bob", True, "2026-10")
    await agent.history.undo()
    assert (await edges(agent))[0] == ("Ada", "lives_with", "Bob", True, None)


async def test_who_is_me_is_the_one_who_speaks(agent: Agent) -> None:
    made = await relate(agent, "me is a sibling of Ada")
    assert made.text == "I am a sibling of Ada."
    assert await edges(agent) == [("you", "sibling_of", "Ada", True, None)]
    assert (await relate(agent, "Tom is the landlord of me")).text == "Tom is the landlord of me."
    assert (await relate(agent, "me rents from Tom")).text == "Tom is the landlord of me."


@pytest.mark.restarts
async def test_forgotten_nothing_in_the_log_says_how_they_stood(agent: Agent) -> None:
    made = await relate(agent, "Ada is married to Bob")
    await agent.memories.forget(made.id)
    assert await edges(agent) == []
    with agent._memory.readings.snapshot() as db:
        rows = db.execute(f"{SELECT_EVENT} ORDER BY seq").fetchall()
    assert [row[-1] for row in rows if row[3] == "relation.noted"] == [None]
    assert not [row for row in rows if "spouse_of" in f"{row[5]} {row[6]}"]


async def test_in_a_what_if_it_stays_there(make_agent: MakeAgent) -> None:
    agent, model, told = await with_a_fact(make_agent)
    await relate(agent, "Ada works_with Bob")
    home = (await agent.chats.exchange(told)).turn.session
    fork = await agent.branches.fork(home, what_if=True)
    await relate(agent, "Ada is married to Bob", world=fork)
    await relate(agent, "Ada works_with Bob until 2026", world=fork)
    assert [each for each in await edges(agent) if each[0] == "Ada"] == [("Ada", "works_with", "Bob", True, None)]
    there = await agent.memories.find(Wanted(world=fork, related=True, about="Ada"))
    assert {each.text for each in there} == {"Ada is married to Bob.", "Ada worked with Bob until 2026."}
    only(await ask(agent, model, "and now?", session=fork), TurnAccepted)


def test_what_is_no_relationship_is_refused_with_what_to_do() -> None:
    for text, why in (
        ("Ada foo Bob", "no kind of relationship"),
        ("Ada works_with", "no kind of relationship"),
        ("Ada works_with ada", "Both ends are"),
        ("Ada works_with Bob since 2024 until 2019", "cannot end"),
        ("Ada works_with Bob since 2024-13", "no day"),
        ("", "no kind of relationship"),
    ):
        with pytest.raises(AgentError, match=rf"{why}.*Nothing was stored"):
            read(text)


def test_a_kind_can_be_written_from_either_end() -> None:
    for text, *ends in (
        ("Ada Lovelace works with Charles Babbage", "Ada Lovelace", "works_with", "Charles Babbage"),
        ("Siemens employs Ada", "Ada", "works_for", "Siemens"),
        ("Ada is managed by Carla", "Carla", "manages", "Ada"),
        ("Tom is a child of Ada", "Ada", "parent_of", "Tom"),
        ("me lives in Lisbon", "you", "lives_in", "Lisbon"),
        ("東京太郎 knows Jürgen", "東京太郎", "knows", "Jürgen"),
    ):
        stated = read(text)
        assert [stated.subject, stated.kind, stated.object] == ends


async def test_what_has_not_ended_yet_is_not_over(agent: Agent) -> None:
    with pytest.raises(AgentError, match=r"2199 has not come\. Nothing was stored\. Say so when it is over\."):
        await relate(agent, "Ada works_for Siemens until 2199")
    assert await edges(agent) == []
