"""Questions about who stands how to whom, and about what changed about somebody, asked of a real memory."""

import pytest

from agent.agent import Agent
from agent.asking.shelf import ready_queries
from agent.relations.stating import read
from tests.agent.conftest import MakeAgent
from tests.agent.relations.test_learning import started
from tests.agent.test_recall import ready, say
from tests.fakes import FakeGenerator
from tui.queries.cells import brief

pytestmark = pytest.mark.process
STATED = """
Ada works_with Bob since 2026-05
Ada works_for Bosch
Tom works_with Ada until 2024
Eve manages Ada
Ada lives_in Lisbon since 2024
Mia lives_in Lisbon
Kim lives_in Porto
me sibling_of Ada
Bob landlord_of Kim
Eve trusts Bob
Ada not trusts Bob
""".strip().splitlines()


@pytest.fixture
async def agent(make_agent: MakeAgent) -> Agent:
    found = await ready(make_agent, FakeGenerator())
    for each in STATED:
        await found.memories.relate(read(each))
    return found


async def asked(agent: Agent, question: str, world: str = "main") -> list[tuple[object, ...]]:
    """The rows of a question, which has to be understood; paths in words."""
    found = await agent.queries.translate(question, world=world)
    assert found.how == "template", (question, found)
    assert found.question == question
    answer = await agent.graph.console(found.cypher, parameters=found.parameters, world=world)
    return [tuple(brief(each) if isinstance(each, dict) else each for each in row) for row in answer.rows]


ANSWERS: dict[str, list[tuple[object, ...]]] = {
    "Who works with Ada?": [("Ada", "works with", "Bob", "2026-05", None)],
    "who does Ada work with": [("Ada", "works with", "Bob", "2026-05", None)],
    "Who used to work with Ada?": [("Tom", "works with", "Ada", None, "2024")],
    "who manages Ada?": [("Eve", "manages", "Ada", None, None)],
    "who is Ada's boss?": [("Eve", "manages", "Ada", None, None)],
    "whom does Eve manage?": [("Eve", "manages", "Ada", None, None)],
    "who does Ada manage?": [],
    "who trusts Bob?": [("Eve", "trusts", "Bob", None, None)],
    "where does Ada live?": [("Ada", "lives in", "Lisbon", "2024", None)],
    "who is my sister?": [("you", "sibling of", "Ada", None, None)],
    "Who do I know in Lisbon?": [
        ("Ada", "lives in", "Lisbon", "2024", ["sibling of"]),
        ("Mia", "lives in", "Lisbon", None, []),
    ],
    "who do I know at Bosch?": [("Ada", "works for", "Bosch", None, ["sibling of"])],
    "How are Ada and Bob related?": [
        ("▲ Ada —works with→ ▲ Bob", 1),
        ("▲ Ada ←manages— ▲ Eve —trusts→ ▲ Bob", 2),
    ],
    "how is Kim related to Ada?": [
        ("▲ Kim ←is the landlord of— ▲ Bob ←works with— ▲ Ada", 2),
        ("▲ Kim ←is the landlord of— ▲ Bob ←trusts— ▲ Eve —manages→ ▲ Ada", 3),
    ],
    "how am I related to Kim?": [
        ("▲ Kim ←is the landlord of— ▲ Bob ←works with— ▲ Ada ←is a sibling of— ▲ you", 3),
    ],
}


@pytest.mark.parametrize("question", ANSWERS)
async def test_who_stands_how_to_whom(agent: Agent, question: str) -> None:
    rows = await asked(agent, question)
    assert rows[: len(ANSWERS[question])] == ANSWERS[question]
    assert len(rows) == len(ANSWERS[question]) or "related" in question  # longer ways are told after it


async def test_all_relationships_of_somebody_have_what_is_over_last(agent: Agent) -> None:
    rows = await asked(agent, "what are the relationships of Ada?")
    assert [row[4] for row in rows] == [None] * 5 + ["2024"]
    assert "trusts" not in [row[1] for row in rows]


async def test_what_changed_about_somebody_is_told_with_what_it_was(agent: Agent) -> None:
    made = await agent.memories.remember("Ada is allergic to peanuts")
    await agent.memories.relate(read("Ada works_for Siemens since 2026-10"))
    rows = [row[1:3] for row in await asked(agent, "What changed about Ada?")]
    assert ("Ada worked for Bosch until 2026-10.", "Ada works for Bosch.") in rows
    assert ("Ada works for Siemens since 2026-10.", None) in rows
    assert all("Kim" not in str(row) for row in rows)
    assert made.text is not None


async def test_words_of_relationship_are_whom_they_mean(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    await say(agent, None, "My sister is called Ada.")
    await agent.memories.relate(read("Ada works_with Bob"))
    await agent.memories.relate(read("Bob lives_in Porto"))
    assert await asked(agent, "Who works with my sister?") == [("Ada", "works with", "Bob", None, None)]
    assert [row[0] for row in await asked(agent, "How are my sister and Bob related?")] == ["▲ Ada —works with→ ▲ Bob"]
    assert [row[1] for row in await asked(agent, "Who is my sister?")] == ["sibling of"]
    assert (await agent.queries.translate("what changed about my sister?")).parameters == {"what": "Ada"}


async def test_what_is_rejected_answers_nothing(agent: Agent) -> None:
    found = await agent.memories.relate(read("Zoe manages Bob"))
    assert [row[0] for row in await asked(agent, "who manages Bob?")] == ["Zoe"]
    await agent.memories.reject(found.id)
    assert await asked(agent, "who manages Bob?") == []


def test_every_query_of_relationships_is_of_one_world() -> None:
    for id in ("stands", "related", "known_in", "changed_about"):
        assert "$world" in ready_queries()[id].filled()
