"""Stories through the Agent: who answers, what each voice is given, and what goes back with the head."""

import asyncio

import pytest

from agent.agent import Agent
from agent.errors import AgentError
from agent.settings import Settings
from agent.story.cards import Card, read_card
from graph.values import Turn
from tests.agent.conftest import MakeAgent, collect
from tests.fakes import FakeGenerator

PLAIN = Settings(tools="off", kv_mb=1, reflect=False, recall=False)
MARA = Card(
    name="Mara",
    description="A keeper of the lighthouse.\n\nShe hid the key.",
    greetings=("*looks up* You came, {{user}}.", "Who is there?"),
    scenario="A storm at {{char}}'s tower.",
)
JONAS = Card(name="Jonas", description="A smuggler.\n\nHe fears water.")


async def begun(agent: Agent) -> str:
    return await agent.stories.begin("The Lighthouse", MARA, guest=JONAS, you="Ada")


async def staged(make_agent: MakeAgent, *replies: str) -> tuple[Agent, FakeGenerator, str]:
    """An agent on whose stage that story begins, and its model."""
    model = FakeGenerator(*replies)
    agent = await make_agent(model, PLAIN)
    return agent, model, await begun(agent)


async def thread(agent: Agent, session: str) -> list[Turn]:
    return await agent.chats.thread(session)


async def say(agent: Agent, session: str, text: str, whisper: str | None = None) -> None:
    await collect(agent.send(session, text, whisper=whisper))


def shown(model: FakeGenerator, at: int = -1) -> str:
    return model.detokenize(model.prompts[at])


async def test_a_story_begins_with_its_greeting_and_the_alternatives(make_agent: MakeAgent) -> None:
    agent, _, session = await staged(make_agent, "Yes.")
    (first,) = await thread(agent, session)
    assert (first.speaker, first.role, first.text) == ("Mara", "assistant", "*looks up* You came, Ada.")
    standing = await agent.branches.alternatives(session, [first.id])
    assert len(standing[first.id].turns) == 2
    found = [(each.name, each.seat, each.present) for each in await agent.stories.cast(session)]
    assert found == [("Ada", "you", True), ("Mara", "host", True), ("Jonas", "guest", True)]


async def test_whoever_is_named_answers_in_their_own_name_and_prompt(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "Fine.", "Ask her.\nMara: I know nothing.")
    await say(agent, session, "Mara, how are you?")
    assert shown(model).endswith("Mara:")
    assert "Mara: *looks up* You came, Ada." in shown(model)
    assert "Ada: Mara, how are you?" in shown(model)
    assert "She hid the key." in shown(model)
    assert "He fears water." not in shown(model)
    assert "A smuggler." not in shown(model), "of others the name alone"
    assert "Ada, Jonas" in shown(model)
    assert "A storm at Mara's tower." in shown(model)
    await say(agent, session, "And you, Jonas?")
    assert shown(model).endswith("Jonas:")
    assert "Mara: Fine." in shown(model)
    assert "She hid the key." not in shown(model)
    assert "He fears water." in shown(model)
    assert [(turn.speaker, turn.text) for turn in await thread(agent, session)][1:] == [
        ("Ada", "Mara, how are you?"),
        ("Mara", "Fine."),
        ("Ada", "And you, Jonas?"),
        ("Jonas", "Ask her."),  # what he said for her is cut off
    ]


async def test_each_prompt_of_a_voice_begins_with_the_one_before_and_its_reply(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "One.", "Two.", "Three.", "Four.", "Five.")
    for text in ("Mara?", "Jonas?", "Mara?", "Jonas?", "Mara?"):
        await say(agent, session, text)
    for first, second in ((0, 2), (2, 4), (1, 3)):
        assert model.prompts[second][: len(model.prompts[first])] == model.prompts[first]
    assert agent.rewrites == {}


async def test_a_reply_without_words_is_told_to_no_voice(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "", "\nAda: I know.", "Two.", "Three.")
    for text in ("Mara?", "And, Mara?", "Jonas?", "Mara!"):
        await say(agent, session, text)
    found = [turn.text for turn in await thread(agent, session) if turn.role == "assistant"][1:]
    assert found == ["", "", "Two.", "Three."]
    told = shown(model)
    assert told.count("Mara:") == 2  # her greeting, and where she is to speak
    assert shown(model, -2).count("Mara:") == 1
    assert agent.rewrites == {}


@pytest.mark.restarts
async def test_after_a_restart_a_voice_is_told_what_it_was_told_before(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Fine.")
    agent = await make_agent(model, PLAIN.model_copy(update={"kv_mb": 0}))
    session = await begun(agent)
    await say(agent, session, "Mara, how are you?")
    await agent.close()
    again = FakeGenerator("Still fine.")
    agent = await make_agent(again, PLAIN.model_copy(update={"kv_mb": 0}))
    await say(agent, session, "And now, Mara?")
    assert shown(again).startswith(shown(model))
    assert "Mara: *looks up* You came, Ada." in shown(again)


async def test_who_is_away_apart_whispered_past_reset_or_no_witness_is_given_nothing(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "Ssh.")
    mara = await agent.stories.named(session, "Mara")
    await say(agent, session, "He must not know of the gold.", whisper=mara)
    await say(agent, session, "Jonas, good evening.")
    assert "gold" not in shown(model)
    assert "Ssh" not in shown(model)
    await say(agent, session, "Mara?")
    assert "gold" in shown(model)

    session = await begun(agent)
    jonas = await agent.stories.named(session, "jonas")
    await agent.stories.place(session, jonas, present=False)
    await say(agent, session, "The treasure is under the stairs.")
    await agent.stories.place(session, jonas, present=True)
    await say(agent, session, "Jonas, what do you know?")
    assert "treasure" not in shown(model)
    assert "what do you know" in shown(model)
    await say(agent, session, "Mara, and you?")
    assert "treasure" in shown(model)
    seen = await agent.stories.seen_by(session, jonas)
    assert all("treasure" not in (turn.text or "") for turn in seen)

    session = await begun(agent)
    ids = {name: await agent.stories.named(session, name) for name in ("Ada", "Mara", "Jonas")}
    for name, place in (("Ada", "lamp room"), ("Mara", "Lamp room"), ("Jonas", "cellar")):
        await agent.stories.put(session, ids[name], "place", place)
    await say(agent, session, "Mara, he hid the gold.")
    await say(agent, session, "Jonas!")
    assert "gold" not in shown(model)
    await agent.stories.put(session, "place:lamp room", "audible", "stairs, cellar")
    await say(agent, session, "Jonas, the silver too!")
    assert "silver" in shown(model)
    assert "gold" not in shown(model)

    session = await begun(agent)
    await say(agent, session, "The treasure is under the stairs.")
    mara = await agent.stories.named(session, "Mara")
    reset = await agent.stories.reset(session, mara)
    await say(agent, session, "Mara, where is it?")
    assert "treasure" not in shown(model)
    await agent.history.undo(reset.seq)
    await say(agent, session, "Mara, where is it?")
    assert "treasure" in shown(model)

    session = await begun(agent)
    await say(agent, session, "The treasure is under the stairs.")
    said = (await thread(agent, session))[1]
    mara = await agent.stories.named(session, "Mara")
    await say(agent, session, "Mara, where is it?")
    assert "treasure" in shown(model)
    await agent.stories.witnessed(said.id, [each for each in said.witnesses or () if each != mara])
    await say(agent, session, "Mara, where is it?")
    assert "treasure" not in shown(model)


async def test_what_is_said_out_of_character_reaches_nobody(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "Hm.")
    await say(agent, session, "Good evening. ((she should be angry))")
    assert "angry" not in shown(model)
    found = [(turn.role, turn.text) for turn in await thread(agent, session)][1:]
    assert found == [("note", "she should be angry"), ("user", "Good evening."), ("assistant", "Hm.")]
    await say(agent, session, "((nobody hears this))")
    assert len(model.prompts) == 1
    assert (await thread(agent, session))[-1].text == "nobody hears this"


async def test_a_reply_made_anew_is_by_the_same_voice_also_one_that_nobody_asked_for(make_agent: MakeAgent) -> None:
    agent, _, session = await staged(make_agent, "First.", "Second.", "Third.", "Fourth.")
    await say(agent, session, "Mara?")
    await collect(agent.speak(session, await agent.stories.named(session, "Jonas")))
    await collect(agent.regenerate(session))
    found = [(turn.speaker, turn.text) for turn in await thread(agent, session)][1:]
    assert found == [("Ada", "Mara?"), ("Mara", "First."), ("Jonas", "Third.")]
    first = (await thread(agent, session))[2]
    await collect(agent.regenerate(session, first.id))
    assert [(turn.speaker, turn.text) for turn in await thread(agent, session)][2:] == [("Mara", "Fourth.")]


async def test_a_guest_is_gone_before_it_joined_and_who_was_away_is_back(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Hm."), PLAIN)
    session = await agent.stories.begin("The Lighthouse", MARA, you="Ada")
    await say(agent, session, "Hello.")
    before = (await thread(agent, session))[-1].id
    await agent.stories.join(session, JONAS)
    await agent.stories.place(session, await agent.stories.named(session, "Mara"), present=False)
    await say(agent, session, "Jonas!")
    assert [each.present for each in await agent.stories.cast(session)] == [True, False, True]
    await agent.branches.rewind(session, (await thread(agent, session))[0].id)
    assert [(each.name, each.present) for each in await agent.stories.cast(session)] == [("Ada", True), ("Mara", True)]
    await agent.branches.rewind(session, before)
    assert [each.present for each in await agent.stories.cast(session)] == [True, False, True]


async def test_two_of_one_name_no_answer_what_cannot_be_set_and_a_closed_scene_are_told(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Hm."), PLAIN)
    for name in ("Mara", "mara", "You"):
        with pytest.raises(AgentError, match="Nothing was begun"):
            await agent.stories.begin("Twins", MARA, guest=Card(name=name))
    assert await agent.stories.all() == []

    session = await agent.stories.begin("The Lighthouse", MARA)
    await agent.stories.place(session, await agent.stories.named(session, "Mara"), present=False)
    events = await collect(agent.send(session, "Hello?"))
    assert "Nobody who could answer" in str(events[0])
    assert len(await thread(agent, session)) == 1

    session = await begun(agent)
    for owner, aspect, text in (("world", "mood", "x"), ("nobody", "mood", "x"), ("world", "clock", "x" * 700)):
        with pytest.raises(AgentError, match="Nothing was changed"):
            await agent.stories.put(session, owner, aspect, text)
    assert [line.aspect for line in await agent.stories.stage(session)] == ["scenario"]

    session = await begun(agent)
    await agent.stories.open_scene(session, "The cellar")
    await agent.stories.close_scene(session)
    with pytest.raises(AgentError, match="No scene is open"):
        await agent.stories.close_scene(session)
    await agent.stories.skip(session, "dusk")
    with pytest.raises(AgentError, match="It is Dusk already"):
        await agent.stories.skip(session, "Dusk")
    await agent.history.undo()
    assert "clock" not in {line.aspect for line in await agent.stories.stage(session)}


async def test_a_message_that_waits_comes_with_its_note_which_alone_nobody_answers(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "One.", "Two.", "Three.", "Four.")

    async def waiting(text: str) -> bool:
        """Send something while Mara answers; whether it waited."""
        model.gate.clear()
        model.waiting.clear()
        first = asyncio.create_task(say(agent, session, "Mara?"))
        await model.waiting.wait()
        second = agent.send(session, text)
        taken = await anext(second)
        model.gate.set()
        await first
        await collect(second)
        return bool(getattr(taken, "queued", False))

    assert await waiting("Jonas? ((be rude))")
    assert [(turn.role, turn.speaker, turn.text) for turn in await thread(agent, session)][1:] == [
        ("user", "Ada", "Mara?"),
        ("assistant", "Mara", "One."),
        ("note", "Ada", "be rude"),
        ("user", "Ada", "Jonas?"),
        ("assistant", "Jonas", "Two."),
    ]
    await waiting("((be rude))")
    assert await agent.chats.waiting(session) == []
    found = [(turn.role, turn.text) for turn in await thread(agent, session)][6:]
    assert found == [("user", "Mara?"), ("assistant", "Three."), ("note", "be rude")]
    await say(agent, session, "Jonas?")
    assert (await thread(agent, session))[-1].text == "Four."


async def test_role_play_teaches_nothing_about_the_user(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Hail."), Settings(tools="off", kv_mb=1))
    session = await begun(agent)
    await say(agent, session, "I am a knight and my sister Ida lives in Graz.")
    await agent.idle()
    assert await agent.reflection.waiting() == 0
    assert await agent.memories.find() == []
    assert await agent.search.recall("knight sister Graz") == []


async def test_a_voice_is_told_of_the_stage_when_it_changes(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "Hm.")
    mara, jonas = [await agent.stories.named(session, name) for name in ("Mara", "Jonas")]
    await agent.stories.put(session, "world", "weather", "a storm from the west")
    await agent.stories.put(session, mara, "mood", "wary")
    await agent.stories.put(session, jonas, "holding", "a lantern")
    await say(agent, session, "Mara?")
    assert "Weather: a storm from the west." in shown(model)
    assert "Mara feels wary." in shown(model)
    assert "Jonas holds a lantern." in shown(model)
    await say(agent, session, "Jonas?")
    assert "wary" not in shown(model)
    first = model.prompts[0]
    await agent.stories.put(session, mara, "mood", "glad")
    await say(agent, session, "Mara?")
    assert model.prompts[-1][: len(first)] == first
    assert shown(model).index("Mara feels wary.") < shown(model).index("Mara feels glad.")
    assert shown(model).count("a storm from the west") == 1
    await agent.branches.rewind(session, (await thread(agent, session))[2].id)
    await say(agent, session, "Mara, once more?")
    assert "glad" not in shown(model)


async def test_a_scene_that_closes_is_kept_by_each_as_they_saw_it(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "I see.", "So be it.", "The end of that.", "A new day.", "Yes.")
    mara, jonas = [await agent.stories.named(session, name) for name in ("Mara", "Jonas")]
    await agent.stories.open_scene(session, "The lamp room")
    await say(agent, session, "Mara, the wind is rising.")
    await agent.stories.place(session, jonas, present=False)
    await say(agent, session, "Mara, the gold is in the well.")
    await agent.stories.place(session, jonas, present=True)
    await say(agent, session, "Jonas, there you are.")
    closed = await agent.stories.close_scene(session)
    assert (closed.title, [each.open for each in await agent.stories.scenes(session)]) == ("The lamp room", [False])
    kept = {
        line.owner: line.text or "" for line in await agent.stories.stage(session) if line.aspect.startswith("scene:")
    }
    assert kept.keys() == {mara, jonas}
    assert "the gold is in the well" in kept[mara]
    assert "gold" not in kept[jonas]
    assert "there you are" in kept[jonas]
    with pytest.raises(AgentError, match="No scene is open"):
        await agent.stories.close_scene(session)
    await agent.idle()
    await say(agent, session, "Mara, good morning.")
    assert "Earlier: The lamp room." in shown(model)
    assert shown(model).count("I see.") == shown(model).count("So be it.") == 1  # in what is left of the scene
    await agent.branches.rewind(session, (await thread(agent, session))[2].id)
    assert [each.open for each in await agent.stories.scenes(session)] == [True]
    await say(agent, session, "Mara, still here?")
    assert "Earlier" not in shown(model)
    assert "Mara: I see." in shown(model)


async def test_how_one_stands_to_another_is_a_fold_that_goes_back_with_the_head(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "Hm.")
    ids = {name: await agent.stories.named(session, name) for name in ("Ada", "Mara", "Jonas")}

    async def stands(one: str, other: str) -> tuple[int, int]:
        ties = await agent.stories.ties(session)
        assert len(ties) == 6
        (tie,) = [tie for tie in ties if (tie.owner.id, tie.target.id) == (ids[one], ids[other])]
        return tie.affinity, tie.trust

    await say(agent, session, "Mara?")
    here = (await thread(agent, session))[-1].id
    await agent.stories.put(session, f"{ids['Mara']}>{ids['Ada']}", "trust", "30")
    await agent.stories.put(session, f"{ids['Mara']}>{ids['Ada']}", "summary", "owes me the truth")
    await say(agent, session, "Mara!")
    assert "Mara trusts Ada; about Ada: owes me the truth." in shown(model)
    set_ = await agent.stories.put(session, f"{ids['Mara']}>{ids['Ada']}", "trust", "-70")
    assert await stands("Mara", "Ada") == (0, -70)
    assert await stands("Ada", "Mara") == (0, 0)
    await agent.history.undo(set_.seq)
    assert await stands("Mara", "Ada") == (0, 30)
    await agent.branches.rewind(session, (await thread(agent, session))[0].id)
    assert await stands("Mara", "Ada") == (0, 0)
    await agent.branches.rewind(session, here)
    assert await stands("Mara", "Ada") == (0, 30)
    with pytest.raises(AgentError, match="no number from -100 to 100"):
        await agent.stories.put(session, f"{ids['Mara']}>{ids['Ada']}", "trust", "101")


async def test_who_was_away_goes_by_what_it_heard_last_and_who_was_asked_knows_nothing(make_agent: MakeAgent) -> None:
    agent, _, session = await staged(make_agent, "Hm.")
    mara, jonas = [await agent.stories.named(session, name) for name in ("Mara", "Jonas")]
    await say(agent, session, "Mara, the marble is in the basket.")
    await agent.stories.place(session, jonas, present=False)
    await say(agent, session, "Mara, now the marble is in the box.")
    await agent.stories.place(session, jonas, present=True)

    async def believes(member: str) -> tuple[str, str]:
        found = (await agent.stories.knows(session, member, "Where is the marble?")).believed
        assert found is not None
        return found.text, found.mark

    assert await believes(mara) == ("Mara, now the marble is in the box.", "knows")
    assert await believes(jonas) == ("Mara, the marble is in the basket.", "outdated")
    marks = [each.mark for each in (await agent.stories.knows(session, jonas, "Where is the marble?")).every]
    assert marks == ["does not know", "outdated"]
    await say(agent, session, "Jonas, the marble is in the box.")
    assert await believes(jonas) == ("Jonas, the marble is in the box.", "knows")
    assert (await agent.stories.knows(session, jonas, "dragons")).believed is None

    session = await begun(agent)
    mara, jonas = [await agent.stories.named(session, name) for name in ("Mara", "Jonas")]
    await agent.stories.place(session, jonas, present=False)
    await say(agent, session, "Mara, where is the marble?")
    asked, away = [await agent.stories.knows(session, each, "the marble") for each in (mara, jonas)]
    assert [each.mark for each in asked.every] == ["knows"]
    assert asked.ignorance == "was only asked about it, and knows nothing of it"
    assert away.ignorance == "knows nothing of it"


async def test_other_marks_can_stand_around_what_is_said_out_of_character(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Hm.")
    agent = await make_agent(model, PLAIN.model_copy(update={"out_of_character": "[[ ]]"}))
    session = await begun(agent)
    await say(agent, session, "Good evening. [[be angry]] ((she said))")
    assert "angry" not in shown(model)
    assert "((she said))" in shown(model)


async def test_a_story_keeps_no_notes_and_the_plan_of_its_last_chat_says_that_it_goes(make_agent: MakeAgent) -> None:
    agent, _, session = await staged(make_agent, "Hm.")
    world = (await agent.chats.get(session)).world
    with pytest.raises(AgentError, match="what was played"):
        await agent.memories.remember("Mara hid the key.", world=world)
    await agent.idle()
    plan = await agent.plans.delete_session(session)
    assert any("last chat of the story “The Lighthouse”" in note for note in plan.notes)
    await agent.plans.carry_out(plan)
    assert await agent.stories.all() == []


@pytest.mark.restarts
async def test_what_was_set_at_a_message_that_is_deleted_goes_on_with_the_chat(make_agent: MakeAgent) -> None:
    agent, _, session = await staged(make_agent, "Hm.")
    jonas = await agent.stories.named(session, "Jonas")
    await say(agent, session, "Mara, hello.")
    last = (await thread(agent, session))[-1].id
    await agent.stories.place(session, jonas, present=False)
    await agent.plans.carry_out(await agent.plans.delete(last))
    for number in range(3):
        await say(agent, session, f"Mara, secret {number}.")
        assert [each.present for each in await agent.stories.cast(session)] == [True, True, False]
    assert not any("secret" in (turn.text or "") for turn in await agent.stories.seen_by(session, jonas))
    await agent.stories.place(session, jonas, present=True)
    assert [each.present for each in await agent.stories.cast(session)] == [True, True, True]


async def test_what_lies_between_two_is_told_private_moments_and_when_they_last_spoke(make_agent: MakeAgent) -> None:
    agent, _, session = await staged(make_agent, "I know.", "Yes.", "Who?")
    ada, mara, jonas = (each.member for each in await agent.stories.cast(session))
    await say(agent, session, "Mara, the log is in the cellar.", whisper=mara)
    await say(agent, session, "Jonas, good evening.")
    both, other, apart = (await agent.stories.overview(session)).between
    assert (both.one, both.other, both.count) == (ada, mara, 2)
    assert [each.said for each in both.private] == ["Mara, the log is in the cellar.", "I know."]
    assert both.last is not None
    assert both.last.said == "Jonas, good evening."  # Mara heard it too
    assert (other.one, other.other, other.count, other.private) == (ada, jonas, 0, ())
    assert other.last is not None
    assert other.last.said == "Yes."
    assert (apart.one, apart.other, apart.count) == (mara, jonas, 0)
    await agent.branches.rewind(session, None)
    assert all((each.count, each.last) == (0, None) for each in (await agent.stories.overview(session)).between)


async def test_what_everybody_does_is_told_anew_after_some_messages_and_when_asked_for(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "Yes.")
    _, mara, jonas = (each.member for each in await agent.stories.cast(session))
    await agent.stories.put(session, jonas, "action", "mending a net")
    await agent.stories.put(session, mara, "mood", "wary")
    told = []
    for number in range(1, 10):
        await say(agent, session, f"Mara, number {number}?")
        told.append(shown(model).count("Jonas is mending a net."))
    assert told == [1] * 7 + [2] * 2
    assert shown(model).count("Mara feels wary.") == 1
    await agent.stories.restate(session)
    await say(agent, session, "Mara, and now?")
    assert shown(model).count("Jonas is mending a net.") == 3
    assert shown(model).count("Mara feels wary.") == 1
    await say(agent, session, "Jonas, and you?")
    assert shown(model).count("Jonas is mending a net.") == 1
    assert (await agent.status()).rewrites == {}


async def test_what_a_message_interrupts_of_a_scenes_end_is_gone_on_with_after_its_reply(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "A blue kettle.", "Yes.", "Now.", "So it is.")
    await agent.stories.open_scene(session, "The kitchen")
    for text in ("Mara, what is that?", "Mara, is it hot?", "Mara, when?"):
        await say(agent, session, text)
    await agent.idle()
    model.gate.clear()
    model.waiting.clear()
    await agent.stories.close_scene(session)
    await model.waiting.wait()  # it is being evaluated
    sent = asyncio.create_task(say(agent, session, "Mara, at last."))
    await agent._prompts.settled()  # the message put it off
    model.gate.set()
    await sent
    assert "Mara:A blue kettle." in shown(model)  # the one message is answered on what is there
    await agent.idle()
    await say(agent, session, "Mara, and now?")
    assert "Mara:A blue kettle." not in shown(model)
    assert "Mara: So it is." in shown(model)


async def test_a_card_that_leaves_a_prompt_no_room_is_told_when_read_and_begins_nothing(make_agent: MakeAgent) -> None:
    large = read_card(b'{"name": "Mara", "description": "%s"}' % (b"She counts the waves. " * 400), "mara")
    (note,) = large.notes
    assert note.startswith("About 2,200 tokens of the card stand in every prompt, more than 60% of the 3,000")
    assert read_card(b'{"name": "Mara", "description": "%s"}' % (b"She counts. " * 500), "mara").notes == ()
    agent = await make_agent(FakeGenerator("Yes."), PLAIN)
    session = await agent.stories.begin("The Lighthouse", large, you="Ada")
    whole = Card(name="Jonas", description="He mends nets. " * 2_000)
    with pytest.raises(AgentError, match=r"Jonas's card takes about 7,500 tokens of every prompt, .* have 8,192"):
        await agent.stories.begin("The Harbour", whole, you="Ada")
    with pytest.raises(AgentError, match="Nothing was changed"):
        await agent.stories.join(session, whole)
    assert len(await agent.stories.all()) == 1


async def test_the_prompt_of_somebody_who_left_the_cast_is_made_no_more(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "Yes.")
    await say(agent, session, "Jonas?")
    await agent.idle()
    jonas = await agent.stories.named(session, "Jonas")
    await agent.stories.leave(session, jonas)
    before = len(model.prefills)
    await agent.stories.open_scene(session, "The lamp room")
    await agent.idle()
    assert all("You write one character" in model.detokenize(prompt) for prompt in model.prefills[before:])
    assert not any("smuggler" in model.detokenize(prompt) for prompt in model.prefills[before:])


async def test_strangers_are_told_of_each_other_once_they_met_and_not_after_going_back(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Yes.")
    agent = await make_agent(model, PLAIN)
    session = await agent.stories.begin("The Lighthouse", MARA, guest=JONAS, you="Ada", strangers=True)
    jonas = await agent.stories.named(session, "Jonas")
    mara = await agent.stories.named(session, "Mara")
    await agent.stories.put(session, jonas, "posture", "sits on the quay")
    await agent.stories.put(session, f"{mara}>{jonas}", "summary", "heard of a smuggler")
    await say(agent, session, "Mara, good evening.")
    assert "Jonas" not in shown(model)
    assert "smuggler" not in shown(model)
    before = (await thread(agent, session))[0].id
    await agent.stories.place(session, jonas, present=True)
    await say(agent, session, "Mara, this is a friend.")
    assert "Mara has met Jonas." in shown(model)
    assert "A smuggler" not in shown(model)
    assert "Jonas sits on the quay." in shown(model)
    assert "fears water" not in shown(model)
    await say(agent, session, "Jonas, and you?")
    assert "Jonas has met Mara." in shown(model)
    await agent.stories.put(session, jonas, "public", "a smuggler with one eye")
    await say(agent, session, "Mara, well?")
    assert shown(model).count("Mara has met Jonas") == 1
    assert "Jonas is known to all: a smuggler with one eye." in shown(model)
    assert (await agent.status()).rewrites == {}
    await agent.branches.rewind(session, before)
    await say(agent, session, "Mara, alone again?")
    assert "Jonas" not in shown(model)


async def test_a_guest_who_leaves_in_mid_reply_has_said_it_and_the_story_goes_on(make_agent: MakeAgent) -> None:
    agent, model, session = await staged(make_agent, "I was never here, and you know it well.", "He is gone.")
    jonas = await agent.stories.named(session, "Jonas")
    model.gate.clear()
    sent = asyncio.create_task(say(agent, session, "Jonas, where were you?"))
    await model.waiting.wait()
    await agent.stories.leave(session, jonas)
    model.gate.set()
    await sent
    said = (await thread(agent, session))[-1]
    assert (said.speaker, said.text, said.stop_reason) == ("Jonas", "I was never here, and you know it well.", "end")
    await say(agent, session, "Jonas?")
    assert [(turn.speaker, turn.text) for turn in await thread(agent, session)][-1] == ("Mara", "He is gone.")
    assert [each.name for each in await agent.stories.cast(session)] == ["Ada", "Mara"]
    with pytest.raises(AgentError, match="There is nobody like that"):
        await agent.stories.place(session, jonas, present=True)
