"""Plots, skipped times and lore: what voices are told of them, and what stays when they are over."""

import json
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.errors import AgentError
from agent.settings import Settings
from agent.stories import read_book_file
from agent.story.book import Book, Entry
from agent.story.cards import Card
from agent.story.decay import COMPARED, decay
from agent.story.stage import GAP
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_stories import JONAS, begun, say, shown, thread
from tests.fakes import FakeGenerator

PLAIN = Settings(tools="off", kv_mb=1, reflect=False, recall=False)


async def named(agent: Agent, session: str, *names: str) -> list[str]:
    return [await agent.stories.named(session, name) for name in names]


async def test_props_are_told_while_their_event_goes_on_and_leave_no_trace_after_it(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Here is the hamper.", "Lovely.", "It was.", "And now?")
    agent = await make_agent(model, PLAIN)
    session = await begun(agent)
    (mara,) = await named(agent, session, "Mara")
    await agent.stories.open_scene(session, "The meadow")
    picnic = await agent.stories.note_plot(
        session, "The picnic", texts={"props": "wicker hamper, lemonade", "known": mara}
    )
    await say(agent, session, "Mara?")
    assert "picnic" not in shown(model)
    await agent.stories.move_plot(session, picnic, "active")
    await say(agent, session, "Mara, shall we?")
    assert "Going on: The picnic. There: wicker hamper, lemonade." in shown(model)
    await say(agent, session, "Jonas, come!")
    assert "wicker" not in shown(model)
    await agent.stories.move_plot(session, picnic, "completed", keep=[(mara, "inventory", "a silver spoon")])
    await agent.stories.close_scene(session)
    await agent.idle()
    await say(agent, session, "Mara, back home.")
    assert "wicker" not in shown(model)
    assert "hamper" not in shown(model)
    assert "Mara carries a silver spoon." in shown(model)
    with pytest.raises(AgentError, match="is completed and cannot become active"):
        await agent.stories.move_plot(session, picnic, "active")
    assert [(each.title, each.state) for each in await agent.stories.plots(session)] == [("The picnic", "completed")]


async def test_a_thread_is_told_until_it_is_closed_and_goes_back_with_the_head(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Hm.")
    agent = await make_agent(model, PLAIN)
    session = await begun(agent)
    await say(agent, session, "Mara?")
    before = (await thread(agent, session))[-1].id
    await agent.stories.note_plot(session, "Who took the log?", sort="thread")
    await say(agent, session, "Mara!")
    assert "Open: Who took the log?" in shown(model)
    await agent.stories.move_plot(session, "who took", "completed")
    assert [plot.state for plot in await agent.stories.plots(session)] == ["completed"]
    await say(agent, session, "Mara?")
    at = (await thread(agent, session))[-3].id
    await agent.branches.rewind(session, at)
    assert [plot.state for plot in await agent.stories.plots(session)] == ["completed"]
    await agent.branches.rewind(session, (await thread(agent, session))[0].id)
    assert await agent.stories.plots(session) == []
    await agent.branches.rewind(session, before)
    assert [plot.title for plot in await agent.stories.plots(session)] == ["Who took the log?"]
    with pytest.raises(AgentError, match="No plot is called"):
        await agent.stories.move_plot(session, "the dragon", "active")
    with pytest.raises(AgentError, match="A plot has no colour"):
        await agent.stories.note_plot(session, "A", texts={"colour": "red"})


async def test_time_that_is_skipped_closes_the_scene_and_ends_what_was_done(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Hm.")
    agent = await make_agent(model, PLAIN)
    session = await begun(agent)
    mara, jonas = await named(agent, session, "Mara", "Jonas")
    await agent.stories.put(session, mara, "action", "mending a net")
    await agent.stories.open_scene(session, "The lamp room")
    await say(agent, session, "Mara?")
    assert "Mara is mending a net." in shown(model)
    await agent.stories.skip(
        session, "three days later", narration="The storm passed.", gaps={jonas: "He sold the boat."}
    )
    assert [scene.open for scene in await agent.stories.scenes(session)] == [False]
    aspects = {(line.owner, line.aspect.split(":")[0]): line.text for line in await agent.stories.stage(session)}
    assert aspects["world", "clock"] == "three days later"
    assert (mara, "action") not in aspects
    assert aspects[jonas, GAP.rstrip(":")] == "He sold the boat."
    await agent.idle()
    await say(agent, session, "Mara, good morning.")
    assert "The storm passed." in shown(model)
    assert "Time: three days later." in shown(model)
    assert "mending" not in shown(model)
    assert "boat" not in shown(model)
    await say(agent, session, "Jonas?")
    assert "In between: He sold the boat." in shown(model)
    with pytest.raises(AgentError, match="days later already"):
        await agent.stories.skip(session, "Three days later")
    await agent.branches.rewind(session, (await thread(agent, session))[0].id)
    now = {(line.owner, line.aspect): line.text for line in await agent.stories.stage(session)}
    assert ("world", "clock") not in now
    assert now[mara, "action"] == "mending a net"


async def test_lore_is_told_once_to_whoever_saw_what_calls_for_it(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Hm.")
    agent = await make_agent(model, PLAIN)
    session = await begun(agent)
    (mara,) = await named(agent, session, "Mara")
    book = Book(
        (
            Entry(("dragon",), "Dragons sleep under the hill.", name="Dragons"),
            Entry(("key",), "The key is of bone.", secondary=("door",), selective=True),
            Entry((), "The year is 1310.", constant=True),
            Entry(("(a+)+$",), "Never.", use_regex=True, name="Endless"),
        ),
        name="Hills",
    )
    await agent.stories.add_lore(session, book)
    await say(agent, session, "A dragon, Mara!", whisper=mara)
    assert shown(model).count("Dragons sleep under the hill.") == 1
    assert "The year is 1310." in shown(model)
    assert "bone" not in shown(model)
    await say(agent, session, "Jonas, the key?")
    assert "Dragons" not in shown(model)
    assert "bone" not in shown(model)
    await say(agent, session, "Mara, the dragon again, and the key to the door.")
    assert shown(model).count("Dragons sleep under the hill.") == 1
    assert shown(model).count("The key is of bone.") == 1


async def test_lore_that_has_no_room_or_never_ends_is_told_of(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Hm.")
    agent = await make_agent(model, PLAIN)
    session = await begun(agent)
    book = Book(
        (
            Entry(("sea",), "word " * 200, name="The sea"),
            Entry(("sea",), "The sea is deep.", priority=5),
            Entry(("(a|aa)+$",), "Never.", use_regex=True, name="Endless"),
            Entry(("[",), "Never.", use_regex=True, name="None"),
        ),
        token_budget=60,
    )
    await agent.stories.add_lore(session, book)
    events = await collect(agent.send(session, f"Mara, the sea! {'a' * 5000}!"))
    assert "The sea is deep." in shown(model)
    (told,) = [event.left_out for event in events if hasattr(event, "left_out")]
    assert "“The sea” was left out: there was no room." in told
    assert "“None” was left out: its pattern is none." in told
    assert any("Endless" in each and "too long" in each for each in told)


async def test_a_cards_own_book_is_its_characters_alone(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Hm.")
    agent = await make_agent(model, PLAIN)
    card = Card(name="Ida", book=Book((Entry(("tide",), "The tide turns at nine."),)))
    session = await agent.stories.begin("Sea", card, guest=JONAS, you="Ada")
    await say(agent, session, "Jonas, the tide!")
    assert "nine" not in shown(model)
    await say(agent, session, "Ida, the tide!")
    assert "The tide turns at nine." in shown(model)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"entries": 5}', "x" * (3 << 20)])
async def test_what_is_no_lorebook_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "lore.json"
    path.write_text(content)
    with pytest.raises(AgentError, match="Nothing was changed"):
        await read_book_file(path)
    path.write_text(json.dumps({"entries": [{"keys": ["a"], "content": "b"}]}))
    assert (await read_book_file(path)).name == "lore"


def test_replies_that_grow_short_and_say_the_same_are_told() -> None:
    rich = [
        f"The {n} wind goes over {n} hills and {n + 1} valleys, singing of {n * 7} things." for n in range(COMPARED)
    ]
    poor = ["I smile and nod at you." for _ in range(COMPARED)]
    assert decay(rich) is None
    found = decay(rich + poor)
    assert found is not None
    assert [worse.split(":")[0].split(" ")[-1] for worse in found.worse] == ["shorter", "plainer", "before"]
    assert decay(rich + [text.replace("wind", "rain") for text in rich[::-1]]) is not None
