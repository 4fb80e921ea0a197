"""Questions about who stands how to whom, and about what changed about somebody, asked of a real memory."""

import pytest

from agent.agent import Agent
from agent.asking.shelf import ready_queries
from agent.relations.stating import read
from tests.agent.asking.asked import answers, as_told, lines
from tests.agent.conftest import MakeAgent
from tests.agent.relations.test_learning import started
from tests.agent.test_recall import ready, say
from tests.fakes import FakeGenerator
from tui.queries.cells import brief

pytestmark = pytest.mark.process


async def asked(agent: Agent, question: str, world: str = "main") -> list[tuple[object, ...]]:
    """The rows of a question, which has to be understood; paths in words."""
    found = await agent.queries.translate(question, world=world)
    assert found.how == "template", (question, found)
    assert found.question == question
    answer = await agent.graph.console(found.cypher, parameters=found.parameters, world=world)
    return [tuple(brief(each) if isinstance(each, dict) else each for each in row) for row in answer.rows]


async def test_who_stands_how_to_whom_and_what_changed_is_told(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, FakeGenerator())
    for each in lines("stated.txt"):
        await agent.memories.relate(read(each))
    expected = answers("relationships")
    found = {each: [[as_told(value) for value in row] for row in await asked(agent, each)] for each in expected}
    for question in expected:
        if "related" in question:  # longer ways are told after it
            del found[question][len(expected[question]) :]
    assert found == expected
    rows = await asked(agent, "what are the relationships of Ada?")
    assert [row[4] for row in rows] == [None] * 5 + ["2024"], "what is over comes last"
    assert "trusts" not in [row[1] for row in rows]

    made = await agent.memories.remember("Ada is allergic to peanuts")
    await agent.memories.relate(read("Ada works_for Siemens since 2026-10"))
    rows = [row[1:3] for row in await asked(agent, "What changed about Ada?")]
    assert ("Ada worked for Bosch until 2026-10.", "Ada works for Bosch.") in rows
    assert ("Ada works for Siemens since 2026-10.", None) in rows
    assert all("Kim" not in str(row) for row in rows)
    assert made.text is not None
    rejected = await agent.memories.relate(read("Zoe manages Bob"))
    assert [row[0] for row in await asked(agent, "who manages Bob?")] == ["Zoe"]
    await agent.memories.reject(rejected.id)
    assert await asked(agent, "who manages Bob?") == []


async def test_words_of_relationship_are_whom_they_mean(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    await say(agent, None, "My sister is called Ada.")
    await agent.memories.relate(read("Ada works_with Bob"))
    await agent.memories.relate(read("Bob lives_in Porto"))
    assert await asked(agent, "Who works with my sister?") == [("Ada", "works with", "Bob", None, None)]
    assert [row[0] for row in await asked(agent, "How are my sister and Bob related?")] == ["▲ Ada —works with→ ▲ Bob"]
    assert [row[1] for row in await asked(agent, "Who is my sister?")] == ["sibling of"]
    assert (await agent.queries.translate("what changed about my sister?")).parameters == {"what": "Ada"}


def test_every_query_of_relationships_is_of_one_world() -> None:
    for id in ("stands", "related", "known_in", "changed_about"):
        assert "$world" in ready_queries()[id].filled()
