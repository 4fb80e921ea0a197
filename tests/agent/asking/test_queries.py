"""The Agent keeps queries: told of damage once, none of a private chat, none with words of what was deleted."""

import asyncio
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from agent.agent import Agent
from agent.asking.shelf import Ran
from agent.errors import NotUnderstood
from agent.home import Home
from tests.agent.asking.told import noted, tell
from tests.agent.conftest import MakeAgent, opened
from tests.agent.test_purging import QUIET, SECRET, delete, holding, say, warnings_of
from tests.fakes import FakeGenerator
from tests.graph.talk import said

AT = datetime(2026, 11, 22, 2, 30, tzinfo=UTC)


@pytest.mark.restarts
async def test_what_was_run_and_saved_is_there_after_another_start(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator(), QUIET)
    assert await agent.queries.keep(Ran("RETURN 1", AT, {"a": 1}, 1, 2.5))
    await agent.queries.save("one", "RETURN $n", {"n": 1})
    await agent.close()
    again = await make_agent(FakeGenerator(), QUIET)
    assert await again.queries.history() == [Ran("RETURN 1", AT, {"a": 1}, 1, 2.5)]
    assert [(each.name, each.cypher, each.parameters) for each in await again.queries.saved()] == [
        ("one", "RETURN $n", {"n": 1})
    ]
    assert await again.queries.remove("ONE")
    assert await again.queries.saved() == []


async def test_a_query_of_a_private_chat_leaves_nothing_and_damage_is_told_once(agent: Agent) -> None:
    assert await agent.queries.keep(Ran(f"RETURN '{SECRET}'", AT), private=True)
    assert await agent.queries.history() == []
    assert not Home.resolve().queries.exists()
    async with warnings_of(agent) as told:
        await agent.queries.keep(Ran("RETURN 1", AT))
        path = Home.resolve().queries / "history.jsonl"
        path.write_bytes(b"no json\n\xff\n" + path.read_bytes())
        for _ in range(2):
            assert [each.cypher for each in await agent.queries.history()] == ["RETURN 1"]
    assert [each for each in told if "damaged" in each] == [
        "In the history of queries 2 lines are damaged and left out. The rest is fine."
    ]


@pytest.mark.restarts
async def test_queries_with_words_of_what_was_deleted_go_with_it(agent: Agent) -> None:
    async with warnings_of(agent) as told:
        session, _ = await say(agent, "We begin with a harmless remark.")
        _, turn = await say(agent, f"My neighbour is a {SECRET}.", session)
        await agent.queries.keep(Ran(f"MATCH (t:Turn) WHERE t.text CONTAINS '{SECRET}' RETURN t", AT))
        by_value = {"what": SECRET.lower()}
        await agent.queries.keep(Ran("MATCH (t:Turn) WHERE t.text CONTAINS $what RETURN t", AT, by_value))
        await agent.queries.keep(Ran("RETURN 'harmless'", AT))
        await agent.queries.save(f"The {SECRET}", "RETURN 1")
        await agent.queries.save("harmless", "RETURN 2")
        (Home.resolve().queries / "history.jsonl.part").write_text(SECRET)  # as a kill leaves it
        await delete(agent, turn)
        done = await agent.erasure.finished()
        assert (done.leftovers, done.pending) == ((), None)
        assert holding() == set()
        assert [each.cypher for each in await agent.queries.history()] == ["RETURN 'harmless'"]
        assert [each.name for each in await agent.queries.saved()] == ["harmless"]
    assert "Deleted words were also in a saved query, which was deleted too." in told


@pytest.mark.restarts
async def test_a_query_with_words_that_were_said_again_stays(agent: Agent) -> None:
    session, turn = await say(agent, f"My neighbour is a {SECRET}.")
    await say(agent, f"Did I say {SECRET}?", session)
    await agent.queries.save(f"The {SECRET}", "RETURN 1")
    await delete(agent, turn)
    assert (await agent.erasure.finished()).leftovers == ()
    assert [each.name for each in await agent.queries.saved()] == [f"The {SECRET}"]


@pytest.mark.usefixtures("home")
def test_the_search_for_words_looks_into_the_queries() -> None:
    from agent.asking.store import QueryStore
    from tui.commands import app

    home = Home.resolve()
    QueryStore(home.queries).keep(Ran(f"RETURN '{SECRET}'", AT))
    done = CliRunner().invoke(app, ["doctor", "--deep", "--absent", "-"], input=SECRET.upper(), obj=None)
    assert done.exit_code == 1
    assert "history.jsonl" in done.stdout


@pytest.mark.process
async def test_names_are_those_of_live_messages_of_the_world_that_is_asked_of(agent: Agent) -> None:
    await agent.idle()
    await asyncio.to_thread(tell, agent._memory)
    await asyncio.to_thread(
        agent._memory.append,
        *noted("cyd", "Cyd Hidden", "b4"),
        said("a5", "spring", parent="a4", text="I sailed before.", speaker="Dora"),
    )
    found = await agent.queries.translate("What is the path between ANNA and ben?")
    assert found.parameters == {"one": "Anna Berg", "other": "Ben"}
    answer = await agent.graph.console(found.cypher, parameters=found.parameters)
    assert [row[answer.columns.index("steps")] for row in answer.rows] == [2]
    hidden = await agent.queries.translate("path between Cyd and Ben")
    assert hidden.parameters["one"] == "Cyd"  # named only where it is hidden
    assert (await agent.queries.translate("What did dora say about sailing?")).parameters["who"] == "Dora"
    with pytest.raises(NotUnderstood, match="ready queries"):
        await agent.queries.translate("What did Ben say about sailing?")
    elsewhere = await agent.queries.translate("path between anna and ben", world="whatif")
    assert elsewhere.parameters["one"] == "Anna Berg"


async def test_a_question_is_translated_while_the_graph_is_still_being_opened() -> None:
    async with opened(QUIET, load_model=False, load_embedder=False, open_graph=False) as agent:
        assert (await agent.queries.translate("How often did I mention Anna?")).parameters == {"what": "Anna"}
