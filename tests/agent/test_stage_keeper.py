"""A trusted model chooses what an exchange changed on a story's stage; another one is asked nothing."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from agent.agent import Agent
from agent.home import Home
from agent.settings import Settings
from agent.story.cards import Card
from agent.story.judging import MOST_LINES, VERSION, changes_of, numbered, schema_of
from agent.story.probing import ADA, MARA, TASKS, passes, probe
from agent.story.ties import Tie
from graph.reader import LogReader
from models.protocols import Answer
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_stories import JONAS, say, thread
from tests.agent.test_stories import MARA as CARD
from tests.fakes import FakeGenerator

SETTINGS = Settings(tools="off", kv_mb=1, reflect=False, recall=False)
SAME = {"mood": "same", "posture": "same", "learned": 0}
NONE = {"affinity_1": 0, "trust_1": 0, "affinity_2": 0, "trust_2": 0, **SAME}  # of two others


class Judge(FakeGenerator):
    """Remembers what it was asked to choose."""

    def __init__(self, *replies: str, answers: Sequence[Any] = ()) -> None:
        super().__init__(*replies, answers=answers)
        self.asked: list[str] = []

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        self.asked.append(self.detokenize(prompt))
        return await super().structured(prompt, schema, max_tokens=max_tokens)


def steps(affinity: int = 0, trust: int = 0, **others: Any) -> dict[str, Any]:
    return {"affinity_1": affinity, "trust_1": trust, **SAME, **others}


def trust(model: FakeGenerator, score: float = 1.0) -> None:
    Home.resolve().keepers.parent.mkdir(parents=True, exist_ok=True)
    Home.resolve().keepers.write_text(json.dumps({f"{VERSION}:{model.state_key}": score}))


async def keeping(
    make_agent: MakeAgent, model: FakeGenerator, *, guest: Card | None = None, score: float = 1.0
) -> tuple[Agent, str]:
    """An agent with a model that passed its probe with that score, and a story."""
    trust(model, score)
    agent = await make_agent(model, SETTINGS)
    return agent, await agent.stories.begin("The Lighthouse", CARD, guest=guest, you="Ada")


async def said(agent: Agent, session: str, text: str, **more: Any) -> None:
    """Say it, and wait for what is judged of it."""
    await say(agent, session, text, **more)
    await agent.idle()


def kept(kind: str | None = None) -> list[Any]:
    """The events of the log, of a kind or all."""
    log = LogReader.open(Home.resolve().memory)
    events = [stored.event for stored in log.events(limit=1000) if kind is None or stored.event.kind == kind]
    log.close()
    return events


async def tie(agent: Agent, session: str) -> Tie:
    return next(each for each in await agent.stories.ties(session) if each.owner.name == "Mara")


async def test_what_a_trusted_model_chooses_is_on_the_stage_with_its_cause(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Thank you!", answers=[steps(2, 1, mood="happy", learned=1)])
    agent, session = await keeping(make_agent, model)
    await said(agent, session, "I carved this for you, Mara.")
    now = await tie(agent, session)
    assert (now.affinity, now.trust) == (4, 2)
    reply = (await thread(agent, session))[-1].id
    assert {line.after for line in now.changes} == {reply}
    stage = {line.aspect.split(":")[0]: line.text for line in await agent.stories.stage(session)}
    assert stage["mood"] == "happy"
    await agent.branches.rewind(session, (await thread(agent, session))[0].id)
    assert (await tie(agent, session)).affinity == 0
    assert "mood" not in {line.aspect for line in await agent.stories.stage(session)}


async def test_a_reply_made_anew_takes_back_what_the_other_one_changed(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Thank you!", "Take it away.", answers=[steps(2), steps(-1)])
    agent, session = await keeping(make_agent, model)
    await said(agent, session, "I carved this for you, Mara.")
    first = (await thread(agent, session))[-1].id
    await collect(agent.regenerate(session))
    await agent.idle()
    assert (await tie(agent, session)).affinity == -2
    await agent.branches.switch(session, first)
    assert (await tie(agent, session)).affinity == 4


async def test_each_who_heard_it_is_judged_by_what_they_saw(make_agent: MakeAgent) -> None:
    model = Judge("Ssh.", "Yes?", answers=[NONE, {"speaks": False}, NONE, NONE])
    agent, session = await keeping(make_agent, model, guest=JONAS)
    mara = await agent.stories.named(session, "Mara")
    await said(agent, session, "The gold is in the well.", whisper=mara)
    await said(agent, session, "Jonas?")
    assert len(model.asked) == 4  # Mara alone of the whisper; then whether she speaks up, and both
    assert all("gold" not in text for text in model.asked if "What Jonas saw" in text)
    assert any("gold" in text for text in model.asked if "What Mara saw" in text)


@pytest.mark.parametrize("score", [0.0, 0.84])
async def test_a_model_below_the_mark_is_asked_nothing(make_agent: MakeAgent, score: float) -> None:
    model = Judge("Hm.", answers=[steps(2)])
    agent, session = await keeping(make_agent, model, score=score)
    await said(agent, session, "Good evening.")
    assert model.asked == []
    assert (await tie(agent, session)).changes == ()


async def test_an_answer_that_is_no_use_changes_nothing_and_is_recorded(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Hm.")
    agent, session = await keeping(make_agent, model)
    await said(agent, session, "Good evening.")
    assert (await tie(agent, session)).changes == ()
    assert [event.kind for event in kept()[-2:]] == ["reflection.failed", "reflection.done"]


async def test_the_probe_is_passed_by_who_answers_right_and_ends_early_for_others() -> None:
    right = [steps(**{name: sorted(values, key=str)[0] for name, values in task.right.items()}) for task in TASKS]
    assert await probe(FakeGenerator(answers=right)) == 1
    wrong = Judge(answers=[steps(2, 2, mood="happy", posture="walking", learned=1)] * 12)
    assert await probe(wrong) < 0.85
    assert len(wrong.asked) < len(TASKS)
    assert len(TASKS) == 12
    assert not passes(TASKS[0], None)


def test_an_answer_chooses_among_what_is_given() -> None:
    lines = numbered([])
    schema = schema_of([ADA], lines)
    with pytest.raises(ValueError, match="learned"):
        schema.model_validate(steps(learned=1))
    with pytest.raises(ValueError, match="affinity_1"):
        schema.model_validate(steps(3))
    assert changes_of(steps(), MARA, [ADA], lines) == []
    assert MOST_LINES == 12


async def test_who_cannot_leave_it_unsaid_speaks_up_where_a_trusted_model_says_so(make_agent: MakeAgent) -> None:
    answers = [{"speaks": True}, *[NONE] * 4, {"speaks": False}, *[NONE] * 4]
    model = Judge("The storm took it.", "That is a lie!", "Silence.", answers=answers)
    agent, session = await keeping(make_agent, model, guest=JONAS)
    await said(agent, session, "Mara, where is the boat?")
    found = [(turn.speaker, turn.text) for turn in await thread(agent, session)][2:]
    assert found == [("Mara", "The storm took it."), ("Jonas", "That is a lie!")]
    first = (await thread(agent, session))[2].id
    await collect(agent.regenerate(session, first))
    await agent.idle()
    assert [(turn.speaker, turn.text) for turn in await thread(agent, session)][2:] == [("Mara", "Silence.")]


async def test_nobody_speaks_up_where_no_trusted_model_says_so(make_agent: MakeAgent) -> None:
    model = Judge("The storm took it.", answers=[{"speaks": True}])
    agent = await make_agent(model, SETTINGS)
    session = await agent.stories.begin("The Lighthouse", CARD, guest=JONAS, you="Ada")
    await say(agent, session, "Mara, where is the boat?")
    assert [turn.speaker for turn in await thread(agent, session)][2:] == ["Mara"]


async def test_a_trusted_model_moves_plots_that_all_there_know_and_says_how_far(make_agent: MakeAgent) -> None:
    model = Judge("At last!", "Hm.", "So it was.", answers=[NONE, NONE, {"plot_1": "start", "significance": 2}])
    agent, session = await keeping(make_agent, model, guest=JONAS)
    mara = await agent.stories.named(session, "Mara")
    await agent.stories.note_plot(session, "The regatta")
    await agent.stories.note_plot(session, "The theft", texts={"known": mara})
    model.answers.insert(0, {"speaks": False})
    await said(agent, session, "Mara, the regatta begins!")
    (asked,) = [text for text in model.asked if "What everybody there saw" in text]
    assert "The regatta" in asked
    assert "The theft" not in asked
    states = {plot.title: plot.state for plot in await agent.stories.plots(session)}
    assert states == {"The regatta": "active", "The theft": "planned"}
    change = (await agent.stories.changes(session, f"plot:{(await agent.stories.plots(session))[0].id}", "state"))[-1]
    assert (change.line.by, change.said) == ("model", "At last!")
    assert [(each.significance, each.by) for each in kept("turn.rated")] == [(2, "model")] * 2
    model.answers += [{"speaks": False}, NONE, NONE]  # and nothing of use of the stage
    await said(agent, session, "Mara, it is over.")
    assert {plot.title: plot.state for plot in await agent.stories.plots(session)} == states
    await agent.branches.rewind(session, (await thread(agent, session))[0].id)
    assert [plot.state for plot in await agent.stories.plots(session)] == ["planned", "planned"]


async def test_what_one_alone_heard_moves_no_plot(make_agent: MakeAgent) -> None:
    model = Judge("Ssh.", answers=[NONE])
    agent, session = await keeping(make_agent, model, guest=JONAS)
    mara = await agent.stories.named(session, "Mara")
    await agent.stories.note_plot(session, "The regatta")
    await said(agent, session, "The regatta is off.", whisper=mara)
    assert not any("everybody there" in text for text in model.asked)
    assert [plot.state for plot in await agent.stories.plots(session)] == ["planned"]
