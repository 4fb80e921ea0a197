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


async def test_an_event_begins_when_its_time_comes_and_an_undo_takes_both_back(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Hm."), PLAIN)
    session = await begun(agent)
    (jonas,) = await named(agent, session, "Jonas")
    texts = {"trigger": "clock: Dusk", "needs": "present: Jonas"}
    await agent.stories.note_plot(session, "The raid", texts=texts)
    await agent.stories.note_plot(session, "The alarm", texts={"trigger": "after: the raid"})
    await agent.stories.place(session, jonas, present=False)

    async def states() -> list[str]:
        return [each.state for each in await agent.stories.plots(session)]

    assert (await agent.stories.skip_plan(session, "dusk")).begins == ()
    await agent.stories.place(session, jonas, present=True)
    assert [each.title for each in (await agent.stories.skip_plan(session, " dusk ")).begins] == ["The raid"]
    await agent.stories.skip(session, "dusk")
    assert await states() == ["active", "planned"]
    (raid, _) = await agent.stories.plots(session)
    (change,) = (await agent.stories.changes(session, f"plot:{raid.id}", "state"))[1:]
    assert (change.line.by, change.line.text) == ("user", "active")
    await agent.history.undo()
    assert await states() == ["planned", "planned"]
    await agent.stories.skip(session, "dusk")
    await agent.stories.move_plot(session, raid.id, "completed")
    assert await states() == ["completed", "active"]


@pytest.mark.parametrize("trigger", ["when it rains", "clock:", "nobody: knows", "present: Nobody", "after: itself"])
async def test_a_trigger_that_never_comes_leaves_its_event_planned(make_agent: MakeAgent, trigger: str) -> None:
    agent = await make_agent(FakeGenerator("Hm."), PLAIN)
    session = await begun(agent)
    await agent.stories.note_plot(session, "The raid", texts={"trigger": trigger})
    await agent.stories.skip(session, "dusk")
    await agent.stories.open_scene(session, "The cellar")
    assert [each.state for each in await agent.stories.plots(session)] == ["planned"]
    assert await agent.stories.due(session) == []


async def test_what_is_kept_of_an_event_is_told_to_whom_it_is_of(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Hm.")
    agent = await make_agent(model, PLAIN)
    session = await begun(agent)
    mara, jonas = await named(agent, session, "Mara", "Jonas")
    picnic = await agent.stories.note_plot(session, "The picnic", texts={"known": "mara, Jonas"})
    await agent.stories.move_plot(session, picnic, "active")
    keep = [(mara, "fact", "Jonas cannot swim"), (f"{mara}>{jonas}", "trust", "-30")]
    await agent.stories.move_plot(session, picnic, "completed", keep=keep)
    await say(agent, session, "Mara?")
    assert "Mara knows: Jonas cannot swim" in shown(model)
    assert "Mara distrusts Jonas." in shown(model)
    await say(agent, session, "Jonas?")
    assert "cannot swim" not in shown(model)
    (fact,) = [each for each in (await agent.stories.overview(session)).lines if each.aspect.startswith("fact:")]
    await agent.stories.put(session, mara, fact.aspect, "")
    assert fact.aspect not in {each.aspect for each in (await agent.stories.overview(session)).lines}


async def test_what_a_plot_has_is_checked(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Hm."), PLAIN)
    session = await begun(agent)
    plot = await agent.stories.note_plot(session, "The raid")
    with pytest.raises(AgentError, match="no significance from 0 to 3"):
        await agent.stories.put(session, f"plot:{plot}", "significance", "9")
    with pytest.raises(AgentError, match="Nobody called “Bob” plays here"):
        await agent.stories.put(session, f"plot:{plot}", "known", "Bob")
    with pytest.raises(AgentError, match="No plot is called"):
        await agent.stories.put(session, "plot:none", "title", "x")
    with pytest.raises(AgentError, match="characters of at most"):
        await agent.stories.put(session, f"plot:{plot}", "props", "x" * 5_000)
    await agent.stories.put(session, f"plot:{plot}", "props", "a rope, a {lamp}")
    assert (await agent.stories.plots(session))[0].props == ("a rope", "a {lamp}")


async def test_the_others_go_on_without_you_and_what_you_write_is_narration(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Quick, hide it.", "Where?", "Good day.")
    agent = await make_agent(model, PLAIN)
    session = await begun(agent)
    you, mara, jonas = await named(agent, session, "Ada", "Mara", "Jonas")
    await agent.stories.meanwhile(session)
    with pytest.raises(AgentError, match="without you already"):
        await agent.stories.meanwhile(session)
    await say(agent, session, "They hear steps.")
    assert "They hear steps." in shown(model)
    assert "Ada: They hear steps." not in shown(model)
    await collect(agent.speak(session, jonas))
    assert "Mara: Quick, hide it." in shown(model)
    assert [turn.text for turn in await agent.stories.seen_by(session, you)] == ["*looks up* You came, Ada."]
    await agent.stories.come_back(session)
    with pytest.raises(AgentError, match="there already"):
        await agent.stories.come_back(session)
    assert {each.name for each in await agent.stories.cast(session) if each.present} == {"Ada", "Mara", "Jonas"}
    await say(agent, session, "Mara, good day.")
    assert "Earlier: Meanwhile." in shown(model)
    kept = [each for each in (await agent.stories.overview(session)).lines if each.aspect.startswith("scene:")]
    assert {each.owner for each in kept} == {mara, jonas}


async def test_nobody_goes_on_without_you_where_one_is_alone(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Hm."), PLAIN)
    session = await begun(agent)
    (jonas,) = await named(agent, session, "Jonas")
    await agent.stories.place(session, jonas, present=False)
    with pytest.raises(AgentError, match="Two others have to be there"):
        await agent.stories.meanwhile(session)


async def test_a_name_with_braces_is_told_as_it_is(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Hm.")
    agent = await make_agent(model, PLAIN)
    session = await agent.stories.begin("S", Card(name="M{0}"), guest=Card(name="J{x}"))
    host, guest = [each.member for each in await agent.stories.cast(session)][1:]
    await agent.stories.put(session, guest, "posture", "sits {y}")
    await agent.stories.put(session, host, "mood", "{z}")
    await agent.stories.learn(session, host, "of {a}")
    await say(agent, session, "Hello.")
    for words in ("J{x} sits {y}.", "M{0} feels {z}.", "M{0} knows: of {a}"):
        assert words in shown(model)
