"""Plots, skipped times and lore: what voices are told of them, and what stays when they are over."""

import json
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.errors import AgentError
from agent.recall import Bounds, RecallRequest
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


@dataclass
class Played:
    """A story that is played, and the model that speaks in it."""

    agent: Agent
    model: FakeGenerator
    session: str

    async def named(self, *names: str) -> list[str]:
        return [await self.agent.stories.named(self.session, name) for name in names]

    async def say(self, text: str, whisper: str | None = None) -> str:
        """Say something; what the voice that answers was shown."""
        await say(self.agent, self.session, text, whisper)
        return shown(self.model)

    async def states(self) -> list[str]:
        """How far its plots are."""
        return [each.state for each in await self.agent.stories.plots(self.session)]

    async def rewind_to_the_first(self) -> None:
        await self.agent.branches.rewind(self.session, (await thread(self.agent, self.session))[0].id)


@pytest.fixture
async def played(make_agent: MakeAgent) -> Played:
    model = FakeGenerator("Hm.")
    agent = await make_agent(model, PLAIN)
    return Played(agent, model, await begun(agent))


async def refused(what: Awaitable[object], why: str) -> None:
    with pytest.raises(AgentError, match=why):
        await what


async def test_props_are_told_while_their_event_goes_on_and_leave_no_trace_after_it(played: Played) -> None:
    stories, session = played.agent.stories, played.session
    played.model.replies = ("Here is the hamper.", "Lovely.", "It was.", "And now?")
    (mara,) = await played.named("Mara")
    await stories.open_scene(session, "The meadow")
    texts = {"props": "wicker hamper, lemonade", "known": mara}
    picnic = await stories.note_plot(session, "The picnic", texts=texts)
    assert "picnic" not in await played.say("Mara?")
    await stories.move_plot(session, picnic, "active")
    assert "Going on: The picnic. There: wicker hamper, lemonade." in await played.say("Mara, shall we?")
    assert "wicker" not in await played.say("Jonas, come!")
    await stories.move_plot(session, picnic, "completed", keep=[(mara, "inventory", "a silver spoon")])
    await stories.close_scene(session)
    await played.agent.idle()
    told = await played.say("Mara, back home.")
    assert "wicker" not in told
    assert "hamper" not in told
    assert "Mara carries a silver spoon." in told
    await refused(stories.move_plot(session, picnic, "active"), "is completed and cannot become active")
    assert [(each.title, each.state) for each in await stories.plots(session)] == [("The picnic", "completed")]


async def test_props_of_an_event_that_is_over_are_recalled_no_more_but_what_somebody_keeps(
    make_agent: MakeAgent,
) -> None:
    agent = await make_agent(FakeGenerator("Hm."), PLAIN.model_copy(update={"recall": True}))
    await agent.idle()
    session = await begun(agent)
    played = Played(agent, FakeGenerator(), session)
    mara, _ = await played.named("Mara", "Jonas")
    props = "red blanket, silver spoon, old Schlüssel, a letter from Jonas"
    picnic = await agent.stories.note_plot(session, "The picnic", texts={"props": props})
    await agent.stories.move_plot(session, picnic, "active")
    await say(agent, session, "Mara, the red blanket lies on the grass.")
    await say(agent, session, "Mara, the silver spoon lies beside it.")
    await say(agent, session, "Mara, the Schlüssel is here.")
    await say(agent, session, "Mara, I came from Lisbon with Jonas by boat.")
    for _ in range(3):
        await say(agent, session, "Mara, how warm it is.")

    async def found(word: str) -> list[str]:
        request = RecallRequest(f"Mara, where is the {word}?", session, frozenset(), None, mara)
        looked = await agent._recaller.look(request, FakeGenerator(), Bounds(5, 500))
        return [hit.text for hit in looked.hits if word in hit.text]

    assert await found("blanket") == ["Mara, the red blanket lies on the grass."]
    await agent.stories.move_plot(session, picnic, "completed", keep=[(mara, "inventory", "silver spoon")])
    assert await found("blanket") == await found("Schlüssel") == []
    assert await found("boat") == ["Mara, I came from Lisbon with Jonas by boat."]
    assert await found("spoon") == ["Mara, the silver spoon lies beside it."]


async def test_a_thread_is_told_until_it_is_closed_and_goes_back_with_the_head(played: Played) -> None:
    stories, session = played.agent.stories, played.session
    await played.say("Mara?")
    before = (await thread(played.agent, session))[-1].id
    await stories.note_plot(session, "Who took the log?", sort="thread")
    assert "Open: Who took the log?" in await played.say("Mara!")
    await stories.move_plot(session, "who took", "completed")
    assert await played.states() == ["completed"]
    await played.say("Mara?")
    await played.agent.branches.rewind(session, (await thread(played.agent, session))[-3].id)
    assert await played.states() == ["completed"]
    await played.rewind_to_the_first()
    assert await stories.plots(session) == []
    await played.agent.branches.rewind(session, before)
    assert [plot.title for plot in await stories.plots(session)] == ["Who took the log?"]
    await refused(stories.move_plot(session, "the dragon", "active"), "No plot is called")
    await refused(stories.note_plot(session, "A", texts={"colour": "red"}), "A plot has no colour")
    plot = f"plot:{(await stories.plots(session))[0].id}"
    await refused(stories.put(session, plot, "significance", "9"), "no significance from 0 to 3")
    await refused(stories.put(session, plot, "known", "Bob"), "Nobody called “Bob” plays here")
    await refused(stories.put(session, "plot:none", "title", "x"), "No plot is called")
    await refused(stories.put(session, plot, "props", "x" * 5_000), "characters of at most")
    await stories.put(session, plot, "props", "a rope, a {lamp}")
    assert (await stories.plots(session))[0].props == ("a rope", "a {lamp}")


async def test_time_that_is_skipped_closes_the_scene_and_ends_what_was_done(played: Played) -> None:
    stories, session = played.agent.stories, played.session
    mara, jonas = await played.named("Mara", "Jonas")
    await stories.put(session, mara, "action", "mending a net")
    await stories.open_scene(session, "The lamp room")
    assert "Mara is mending a net." in await played.say("Mara?")
    gaps = {jonas: "He sold the boat."}
    await stories.skip(session, "three days later", narration="The storm passed.", gaps=gaps)
    assert [scene.open for scene in await stories.scenes(session)] == [False]
    aspects = {(line.owner, line.aspect.split(":")[0]): line.text for line in await stories.stage(session)}
    assert aspects["world", "clock"] == "three days later"
    assert (mara, "action") not in aspects
    assert aspects[jonas, GAP.rstrip(":")] == "He sold the boat."
    await played.agent.idle()
    told = await played.say("Mara, good morning.")
    assert "The storm passed." in told
    assert "Time: three days later." in told
    assert "mending" not in told
    assert "boat" not in told
    assert "In between: He sold the boat." in await played.say("Jonas?")
    await refused(stories.skip(session, "Three days later"), "days later already")
    await played.rewind_to_the_first()
    now = {(line.owner, line.aspect): line.text for line in await stories.stage(session)}
    assert ("world", "clock") not in now
    assert now[mara, "action"] == "mending a net"


async def test_lore_is_told_once_to_whoever_saw_what_calls_for_it(played: Played) -> None:
    (mara,) = await played.named("Mara")
    book = Book(
        (
            Entry(("dragon",), "Dragons sleep under the hill.", name="Dragons"),
            Entry(("key",), "The key is of bone.", secondary=("door",), selective=True),
            Entry((), "The year is 1310.", constant=True),
            Entry(("(a+)+$",), "Never.", use_regex=True, name="Endless"),
        ),
        name="Hills",
    )
    await played.agent.stories.add_lore(played.session, book)
    told = await played.say("A dragon, Mara!", whisper=mara)
    assert told.count("Dragons sleep under the hill.") == 1
    assert "The year is 1310." in told
    assert "bone" not in told
    told = await played.say("Jonas, the key?")
    assert "Dragons" not in told
    assert "bone" not in told
    told = await played.say("Mara, the dragon again, and the key to the door.")
    assert told.count("Dragons sleep under the hill.") == 1
    assert told.count("The key is of bone.") == 1


async def test_lore_that_has_no_room_or_never_ends_is_told_of(played: Played) -> None:
    book = Book(
        (
            Entry(("sea",), "word " * 200, name="The sea"),
            Entry(("sea",), "The sea is deep.", priority=5),
            Entry(("(a|aa)+$",), "Never.", use_regex=True, name="Endless"),
            Entry(("[",), "Never.", use_regex=True, name="None"),
            Entry((f"/{'(?:' * 8}a?b{'){9}' * 8}/i",), "Never.", use_regex=True, name="Huge"),  # 4 GB compiled
            Entry(("(?:(?:a{300}(?#()){300}(?#()){300}",), "Never.", use_regex=True, name="Hidden"),  # 5 GB
            Entry(("(?:a{1000}[[:alpha:](]){1000}",), "Never.", use_regex=True, name="Posix"),
            Entry((r"/m{1,3}ara|\{1000}[{99}]/i",), "Usual.", use_regex=True, priority=9),
        ),
        token_budget=60,
    )
    await played.agent.stories.add_lore(played.session, book)
    events = await collect(played.agent.send(played.session, f"Mara, the sea! {'a' * 5000}!"))
    assert "The sea is deep." in shown(played.model)
    (told,) = [event.left_out for event in events if hasattr(event, "left_out")]
    assert "“The sea” was left out: there was no room." in told
    assert "“None” was left out: its pattern is none." in told
    assert "Usual." in shown(played.model)
    for name in ("Endless", "Huge", "Hidden", "Posix"):
        assert any(name in each and "too long" in each for each in told)


async def test_a_cards_own_book_is_its_characters_alone_and_braces_are_told_as_they_are(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Hm.")
    agent = await make_agent(model, PLAIN)
    card = Card(name="Ida", book=Book((Entry(("tide",), "The tide turns at nine."),)))
    sea = Played(agent, model, await agent.stories.begin("Sea", card, guest=JONAS, you="Ada"))
    assert "nine" not in await sea.say("Jonas, the tide!")
    assert "The tide turns at nine." in await sea.say("Ida, the tide!")

    braces = Played(agent, model, await agent.stories.begin("S", Card(name="M{0}"), guest=Card(name="J{x}")))
    host, guest = [each.member for each in await agent.stories.cast(braces.session)][1:]
    await agent.stories.put(braces.session, guest, "posture", "sits {y}")
    await agent.stories.put(braces.session, host, "mood", "{z}")
    await agent.stories.learn(braces.session, host, "of {a}")
    told = await braces.say("Hello.")
    for words in ("J{x} sits {y}.", "M{0} feels {z}.", "M{0} knows: of {a}"):
        assert words in told


async def test_what_is_no_lorebook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lore.json"
    for content in ("", "[]", "{", '{"entries": 5}', "x" * (3 << 20)):
        path.write_text(content)
        await refused(read_book_file(path), "Nothing was changed")
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


async def test_an_event_begins_when_its_time_comes_and_an_undo_takes_both_back(played: Played) -> None:
    stories, session = played.agent.stories, played.session
    (jonas,) = await played.named("Jonas")
    await stories.note_plot(session, "The raid", texts={"trigger": "clock: Dusk", "needs": "present: Jonas"})
    await stories.note_plot(session, "The alarm", texts={"trigger": "after: the raid"})
    await stories.place(session, jonas, present=False)
    assert (await stories.skip_plan(session, "dusk")).begins == ()
    await stories.place(session, jonas, present=True)
    assert [each.title for each in (await stories.skip_plan(session, " dusk ")).begins] == ["The raid"]
    await stories.skip(session, "dusk")
    assert await played.states() == ["active", "planned"]
    (raid, _) = await stories.plots(session)
    (change,) = (await stories.changes(session, f"plot:{raid.id}", "state"))[1:]
    assert (change.line.by, change.line.text) == ("user", "active")
    await played.agent.history.undo()
    assert await played.states() == ["planned", "planned"]
    await stories.skip(session, "dusk")
    await stories.move_plot(session, raid.id, "completed")
    assert await played.states() == ["completed", "active"]


async def test_a_trigger_that_never_comes_leaves_its_event_planned(played: Played) -> None:
    stories, session = played.agent.stories, played.session
    triggers = ("when it rains", "clock:", "nobody: knows", "present: Nobody", "after: itself")
    for number, trigger in enumerate(triggers):
        await stories.note_plot(session, f"Raid {number}", texts={"trigger": trigger})
    await stories.skip(session, "dusk")
    await stories.open_scene(session, "The cellar")
    assert await played.states() == ["planned"] * len(triggers)
    assert await stories.due(session) == []


async def test_what_is_kept_of_an_event_is_told_to_whom_it_is_of(played: Played) -> None:
    stories, session = played.agent.stories, played.session
    mara, jonas = await played.named("Mara", "Jonas")
    picnic = await stories.note_plot(session, "The picnic", texts={"known": "mara, Jonas"})
    await stories.move_plot(session, picnic, "active")
    keep = [(mara, "fact", "Jonas cannot swim"), (f"{mara}>{jonas}", "trust", "-30")]
    await stories.move_plot(session, picnic, "completed", keep=keep)
    told = await played.say("Mara?")
    assert "Mara knows: Jonas cannot swim" in told
    assert "Mara distrusts Jonas." in told
    assert "cannot swim" not in await played.say("Jonas?")
    (fact,) = [each for each in (await stories.overview(session)).lines if each.aspect.startswith("fact:")]
    await stories.put(session, mara, fact.aspect, "")
    assert fact.aspect not in {each.aspect for each in (await stories.overview(session)).lines}


async def test_the_others_go_on_without_you_and_what_you_write_is_narration(played: Played) -> None:
    stories, session = played.agent.stories, played.session
    played.model.replies = ("Quick, hide it.", "Where?", "Good day.")
    you, mara, jonas = await played.named("Ada", "Mara", "Jonas")
    await stories.meanwhile(session)
    await refused(stories.meanwhile(session), "without you already")
    told = await played.say("They hear steps.")
    assert "They hear steps." in told
    assert "Ada: They hear steps." not in told
    await collect(played.agent.speak(session, jonas))
    assert "Mara: Quick, hide it." in shown(played.model)
    assert [turn.text for turn in await stories.seen_by(session, you)] == ["*looks up* You came, Ada."]
    await stories.come_back(session)
    await refused(stories.come_back(session), "there already")
    assert {each.name for each in await stories.cast(session) if each.present} == {"Ada", "Mara", "Jonas"}
    assert "Earlier: Meanwhile." in await played.say("Mara, good day.")
    kept = [each for each in (await stories.overview(session)).lines if each.aspect.startswith("scene:")]
    assert {each.owner for each in kept} == {mara, jonas}
    await stories.place(session, jonas, present=False)
    await refused(stories.meanwhile(session), "Two others have to be there")
