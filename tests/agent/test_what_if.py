"""A chat of a what-if: it looks back into its own world, and what it learns and pins stays there."""

from agent.agent import Agent
from agent.events import TurnAccepted
from graph.events import MAIN_WORLD
from graph.values import Wanted
from tests.agent.conftest import MakeAgent
from tests.agent.test_changing_tools import REMEMBER, answering, started
from tests.agent.test_recall import only
from tests.agent.test_tools import SEARCH, ask, with_a_fact


async def test_a_chat_and_the_tools_of_a_what_if_go_by_what_it_left_with_only(make_agent: MakeAgent) -> None:
    agent, model, told = await with_a_fact(make_agent)
    home = (await agent.chats.exchange(told)).turn.session
    fork = await agent.branches.fork(home, what_if=True)
    later, own = "My dog Biscuit has a sister.", "My dog Biscuit can fly."
    await ask(agent, model, later, session=home)
    await ask(agent, model, own, session=fork)
    await ask(agent, model, "which dog is Biscuit?", SEARCH, session=fork)
    found = await given(agent, fork)
    assert {"My dog Biscuit is a brown beagle.", own} <= found
    assert later not in found
    fresh = only(await ask(agent, model, "tell me of my dog Biscuit", SEARCH), TurnAccepted).session  # in main
    found = await given(agent, fresh)
    assert {"My dog Biscuit is a brown beagle.", later} <= found
    assert own not in found

    fork = await agent.branches.fork(home, what_if=True)
    own = only(await ask(agent, model, "Biscuit lives on the moon now.", session=fork), TurnAccepted).turn
    about = {"tool": "about", "name": "Biscuit"}
    await ask(agent, model, "who is that?", about, session=fork)
    there = (await agent.chats.thread(fork))[-2]
    assert there.role == "tool"
    assert {told, own} <= {item.id for item in there.recalled}
    session = only(await ask(agent, model, "who is that?", about), TurnAccepted).session
    here = (await agent.chats.thread(session))[-2]
    assert told in {item.id for item in here.recalled}
    assert own not in {item.id for item in here.recalled}


async def given(agent: Agent, session: str) -> set[str]:
    """The words that the last reply of a chat was given, of turns or of what was learned from them."""
    return {hit.text for hit in await agent.search.context((await agent.chats.thread(session))[-1].id)}


async def test_what_is_stated_corrected_and_pinned_in_a_what_if_stays_there(make_agent: MakeAgent) -> None:
    agent, _, told = await with_a_fact(make_agent)
    home = (await agent.chats.exchange(told)).turn.session
    known = await agent.memories.remember("I live in Bremen.")
    fork = await agent.branches.fork(home, what_if=True)
    await agent.memories.remember("I own a ship.", world=fork)
    moved = await agent.memories.correct(known.id, "I live in Lisbon.", world=fork)
    await agent.memories.pin(moved.id, world=fork)
    await agent.chats.pin(told, world=fork)
    found = {each.text for each in await agent.memories.find(Wanted(world=fork, plain=False))}
    assert found == {"I own a ship.", "I live in Lisbon."}
    assert {each.text for each in await agent.memories.find(Wanted(plain=False))} == {"I live in Bremen."}
    assert [turn.id for turn in await agent.chats.pinned(world=fork)] == [told]
    assert await agent.chats.pinned() == []
    assert await agent.memories.find(Wanted(world=MAIN_WORLD, pinned=True)) == []
    again = await agent.memories.correct(moved.id, "I live in Porto.")  # in the world it is of
    assert (again.world, again.live, again.current) == (fork, True, True)


async def test_a_model_in_a_what_if_changes_that_and_not_main(make_agent: MakeAgent) -> None:
    agent, model = await started(make_agent)
    home = only(await answering(agent, model, "My boat is called Zephyrine.", REMEMBER, allow=True), TurnAccepted)
    fork = await agent.branches.fork(home.session, what_if=True)
    block = {"tool": "write_block", "name": "user", "text": "My name is Xantho."}
    boat = {"tool": "remember", "text": "The user's boat is called Argo."}
    await answering(agent, model, "My name is Xantho.", block, allow=True, session=fork)
    await answering(agent, model, "My boat is called Argo.", boat, allow=True, session=fork)
    assert [each.text for each in await agent.memories.find()] == [REMEMBER["text"]]
    found = {each.text for each in await agent.memories.find(Wanted(world=fork, plain=False))}
    assert found == {REMEMBER["text"], boat["text"]}
    assert await agent.memories.blocks() == []
    assert [each.text for each in await agent.memories.blocks(world=fork)] == [block["text"]]
