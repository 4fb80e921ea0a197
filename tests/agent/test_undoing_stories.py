"""What is changed of a story is told in words when it is undone, and goes back to a mark with the rest."""

from collections.abc import Awaitable, Callable

from agent.agent import Agent
from agent.story.plots import ACTIVE
from tests.agent.conftest import MakeAgent
from tests.agent.test_stories import say, staged

Deed = Callable[[Agent, str], Awaitable[object]]


async def _named(agent: Agent, session: str) -> tuple[str, str]:
    return await agent.stories.named(session, "Mara"), await agent.stories.named(session, "Jonas")


async def away(agent: Agent, session: str) -> None:
    await agent.stories.place(session, (await _named(agent, session))[1], present=False)


async def mood(agent: Agent, session: str) -> None:
    await agent.stories.put(session, (await _named(agent, session))[0], "mood", "wary")


async def tie(agent: Agent, session: str) -> None:
    await agent.stories.put(session, ">".join(await _named(agent, session)), "trust", "30")


async def weather(agent: Agent, session: str) -> None:
    await agent.stories.put(session, "world", "weather", "fog")
    await agent.stories.put(session, "world", "weather", "")


async def scene(agent: Agent, session: str) -> None:
    await agent.stories.open_scene(session, "Supper")


async def plot(agent: Agent, session: str) -> None:
    await agent.stories.move_plot(session, await agent.stories.note_plot(session, "The picnic"), ACTIVE)


async def skip(agent: Agent, session: str) -> None:
    mara, _ = await _named(agent, session)
    await agent.stories.skip(session, "a week later", gaps={mara: "She mended nets."})


async def forget(agent: Agent, session: str) -> None:
    await agent.stories.reset(session, (await _named(agent, session))[0])


async def saw(agent: Agent, session: str) -> None:
    first = (await agent.chats.thread(session))[0]
    await agent.stories.witnessed(first.id, [])


async def leaves(agent: Agent, session: str) -> None:
    await agent.stories.leave(session, (await _named(agent, session))[1])


async def learns(agent: Agent, session: str) -> None:
    await agent.stories.learn(session, (await _named(agent, session))[0], "The key is lost.")


DEEDS: list[tuple[Deed, str]] = [
    (away, "took Jonas off the scene"),
    (mood, "set the mood of Mara to “wary”"),
    (tie, "set the trust of Mara towards Jonas to 30"),
    (weather, "cleared the weather of the story"),
    (scene, "began a scene"),
    (plot, "changed the plan of a story"),
    (skip, "let time pass in a story"),
    (forget, "had Mara forget what they saw"),
    (saw, "changed who saw the reply “*looks up* You came, Ada.”"),
    (leaves, "took Jonas out of a story"),
    (learns, "said what Mara knows"),
]


async def stands(agent: Agent, session: str) -> object:
    """The cast with what each saw, and the stage."""
    cast = await agent.stories.cast(session)
    lines = {(line.owner, line.aspect): line.text for line in await agent.stories.stage(session)}
    return cast, [[turn.id for turn in await agent.stories.seen_by(session, each.member)] for each in cast], lines


async def test_a_change_of_a_story_is_told_in_words_and_the_story_goes_back_to_a_mark(make_agent: MakeAgent) -> None:
    agent, _, session = await staged(make_agent, "Hm.")
    for deed, told in DEEDS:
        await deed(agent, session)
        assert (await agent.history.undo()).what == told
    await say(agent, session, "Good evening.")
    before = await stands(agent, session)
    mark = await agent.history.marks.add("evening")
    for deed in (away, mood, tie, forget, saw, leaves):
        await deed(agent, session)
    assert await stands(agent, session) != before
    plan = await agent.history.plan_restore(mark.id)
    assert "character knows again what it knew" in " ".join(plan.notes)
    await agent.plans.carry_out(plan)
    assert await stands(agent, session) == before
