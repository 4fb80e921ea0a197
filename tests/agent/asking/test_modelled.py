"""A model writes queries: only one that passed the probe, only what both walls let through, and after any reply."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agent.agent import Agent
from agent.asking import modelled
from agent.asking import modelled as probing
from agent.asking.modelled import (
    EXAMPLES,
    NOW,
    SCHEMA,
    TASKS,
    VERSION,
    QueryTask,
    Unheld,
    hold,
    passes,
    probe,
    prompt_for,
)
from agent.asking.queries import NOT_RECOGNISED
from agent.background import Foreground
from agent.errors import NotUnderstood
from agent.home import Home
from agent.reflection.trust import trusted
from agent.settings import Settings
from graph.errors import Refused
from graph.memory import Memory
from graph.projection.schema import NODES, RELS
from models.errors import EngineClosed, StructuredOutputError
from models.protocols import Answer
from tests.agent.asking.scripted import RIGHT, Writing
from tests.agent.conftest import MakeAgent, collect
from tests.fakes import FakeGenerator

if TYPE_CHECKING:
    from models.generator import LlamaGenerator

QUIET = Settings(reflect=False)
QUESTION = "Which message has the most letters?"
NO_QUESTION = "Write me a story."
GOOD = "MATCH (t:Turn) WHERE t.live AND t.world = $world RETURN t.text ORDER BY size(t.text) DESC LIMIT 1"
SYNTAX = "MATCH (t:Turn WHERE t.live RETURN t.text"
UNKNOWN = "MATCH (t:Message) WHERE t.live RETURN t.text"
DEAD = "MATCH (t:Turn) RETURN t.text LIMIT 1"
INVENTED = "MATCH (t:Turn) WHERE t.live AND t.world = $world AND t.text CONTAINS 'Kari' RETURN t.text"
HOSTILE = (
    "MATCH (t:Turn) WHERE t.live SET t.text = 'x' RETURN t",
    "MATCH (t:Turn) WHERE t.live DETACH DELETE t",
    "LOAD FROM '/etc/passwd' RETURN *",
    "MATCH (t:Turn) WHERE t.live RETURN t; MATCH (t:Turn) DELETE t",
    "CALL show_functions() RETURN *",
    "COPY (MATCH (t:Turn) RETURN t.text) TO '/tmp/out.csv'",
)


async def ready(make_agent: MakeAgent, model: FakeGenerator, *, trusted: bool = False) -> Agent:
    """An agent with this model in use, which passed the probe before if it is `trusted`."""
    if trusted:
        Home.resolve().translators.write_text(json.dumps({f"{VERSION}:{model.state_key}": 1.0}))
    agent = await make_agent(model, QUIET)
    await agent.idle()
    return agent


def probed(model: Writing) -> int:
    """How many of its questions were the probe's."""
    return sum(any(each.startswith(task.question) for task in TASKS) for each in model.asked)


@pytest.mark.process
async def test_a_model_that_passes_the_probe_writes_the_query(make_agent: MakeAgent) -> None:
    model = Writing({QUESTION: [GOOD]})
    agent = await ready(make_agent, model)
    assert await agent.queries.translates_by_model() is None
    found = await agent.queries.translate(QUESTION)
    assert (found.cypher, found.parameters, found.how, found.model) == (GOOD, {}, "model", "writing")
    assert (found.question, found.words) == (QUESTION, "What it finds.")
    assert await agent.queries.translates_by_model() is True
    assert probed(model) == len(TASKS)
    assert (await agent.graph.console(found.cypher)).columns == ("t.text",)


@pytest.mark.process
async def test_what_a_model_is_worth_is_kept_for_the_next_start(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, Writing({QUESTION: [GOOD]}))
    await agent.queries.translate(QUESTION)
    await agent.close()
    again = Writing({QUESTION: [GOOD]})
    agent = await ready(make_agent, again)
    await agent.queries.translate(QUESTION)
    assert (probed(again), len(again.asked)) == (0, 1)
    await agent.close()
    other = Writing({QUESTION: [GOOD]}, name="another")
    agent = await ready(make_agent, other)
    await agent.queries.translate(QUESTION)
    assert probed(other) == len(TASKS)


@pytest.mark.process
async def test_a_model_that_fails_the_probe_is_never_asked_again(make_agent: MakeAgent) -> None:
    model = Writing({QUESTION: [GOOD]}, wrong=2)
    agent = await ready(make_agent, model)
    for _ in range(2):
        with pytest.raises(NotUnderstood, match="The model writing was tested"):
            await agent.queries.translate(NO_QUESTION)
    assert (await agent.queries.translate(QUESTION)).how == "nearest"
    assert probed(model) == 2  # the bar was out of reach then
    assert len(model.asked) == 2
    assert await agent.queries.translates_by_model() is False


@pytest.mark.restarts
async def test_a_common_question_asks_no_model(make_agent: MakeAgent) -> None:
    model = Writing()
    found = await (await ready(make_agent, model)).queries.translate("Who did I mention most?")
    assert (found.how, model.asked) == ("template", [])


@pytest.mark.parametrize("question", ["", "  ", "?" * 1000])
@pytest.mark.restarts
async def test_what_is_no_question_asks_no_model(make_agent: MakeAgent, question: str) -> None:
    model = Writing()
    with pytest.raises(NotUnderstood, match="ready queries"):
        await (await ready(make_agent, model)).queries.translate(question)
    assert model.asked == []


@pytest.mark.process
@pytest.mark.parametrize(
    ("first", "told"),
    [
        (SYNTAX, "parser|expected|Invalid|mismatched|close"),
        (UNKNOWN, "Message"),
        (DEAD, "t.live"),
        (INVENTED, "'Kari'"),
    ],
)
async def test_what_is_wrong_is_told_to_the_model_once(make_agent: MakeAgent, first: str, told: str) -> None:
    model = Writing({QUESTION: [first, GOOD]})
    found = await (await ready(make_agent, model, trusted=True)).queries.translate(QUESTION)
    assert found.cypher == GOOD
    mended = model.asked[-1]
    assert first in mended
    assert re.search(told, mended.partition("Because:")[2])


@pytest.mark.process
@pytest.mark.parametrize("wrong", [SYNTAX, UNKNOWN, DEAD, INVENTED, *HOSTILE])
async def test_what_is_wrong_twice_is_not_taken(make_agent: MakeAgent, wrong: str) -> None:
    model = Writing({QUESTION: [wrong, wrong, GOOD]})
    agent = await ready(make_agent, model, trusted=True)
    with pytest.raises(NotUnderstood, match=r"could not be used: .*Nothing was run"):
        await agent.queries.translate(QUESTION)
    assert model.others[QUESTION] == [GOOD]


async def test_a_model_that_says_nothing_usable_is_told_of(make_agent: MakeAgent) -> None:
    with pytest.raises(NotUnderstood, match="No query was written for this question"):
        await (await ready(make_agent, Writing(), trusted=True)).queries.translate(QUESTION)


@pytest.mark.process
async def test_it_steps_aside_for_a_reply_and_goes_on_after_it(make_agent: MakeAgent) -> None:
    model = Writing({QUESTION: [GOOD]})
    agent = await ready(make_agent, model)
    model.gate.clear()
    asking = asyncio.create_task(agent.queries.translate(QUESTION))
    await model.waiting.wait()  # the probe's first question is being answered
    replying = asyncio.create_task(collect(agent.send(None, "Hello.")))
    model.gate.set()
    await replying
    assert (await asking).cypher == GOOD


async def test_while_somebody_waits_its_time_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modelled, "OWN_TIME_S", 0.05)
    model, foreground = Writing({QUESTION: [GOOD]}), Foreground()
    model.gate.clear()

    async def validate(cypher: str) -> None:
        return None

    with foreground.held():
        asking = asyncio.create_task(modelled.by_model(QUESTION, model, validate, foreground, now=NOW))
        await model.waiting.wait()
        await asyncio.sleep(0.2)  # four times what it would have by itself
        assert not asking.done()
        model.gate.set()
        assert (await asking).cypher == GOOD
    model.gate.clear()
    with pytest.raises(NotUnderstood, match="took too long"):
        await modelled.by_model(QUESTION, model, validate, foreground, now=NOW)


@pytest.mark.process
async def test_a_model_that_is_too_slow_just_now_is_not_judged_by_it(
    make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Writing({QUESTION: [GOOD]})
    agent = await ready(make_agent, model)
    monkeypatch.setattr(probing, "PROBE_TIME_S", 0.05)
    model.gate.clear()
    with pytest.raises(NotUnderstood, match="took too long"):
        await agent.queries.translate(QUESTION)
    assert await agent.queries.translates_by_model() is None
    monkeypatch.setattr(probing, "PROBE_TIME_S", 45.0)
    model.gate.set()
    assert (await agent.queries.translate(QUESTION)).cypher == GOOD


@pytest.mark.process
async def test_cancelling_ends_it_and_leaves_nothing(make_agent: MakeAgent, tmp_path: Path) -> None:
    model = Writing({QUESTION: [GOOD]})
    agent = await ready(make_agent, model)
    model.gate.clear()
    asking = asyncio.create_task(agent.queries.translate(QUESTION))
    await model.waiting.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await agent.queries.translates_by_model() is None
    model.gate.set()
    assert (await agent.queries.translate(QUESTION)).cypher == GOOD


@pytest.mark.restarts
async def test_a_model_that_goes_away_meanwhile_is_told_of(make_agent: MakeAgent) -> None:
    class Leaving(Writing):
        async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
            raise EngineClosed

    agent = await ready(make_agent, Leaving())
    with pytest.raises(NotUnderstood, match="Ask again"):
        await agent.queries.translate(QUESTION)
    assert await agent.queries.translates_by_model() is None


async def test_without_a_model_the_common_questions_are_what_there_is() -> None:
    def none(name: str, progress: Callable[..., None]) -> FakeGenerator:
        from models.errors import ModelMissing

        raise ModelMissing(Path(name))

    agent = Agent(Home.resolve(), QUIET, client="test", loader=none)
    await agent.start(load_model=False)
    try:
        await agent.idle()
        assert (await agent.queries.translate("How many chats are there?")).how == "template"
        assert (await agent.queries.translate(QUESTION)).how == "nearest"
        with pytest.raises(NotUnderstood) as told:
            await agent.queries.translate(NO_QUESTION)
        assert str(told.value) == NOT_RECOGNISED
    finally:
        await agent.close()


# -- the probe ------------------------------------------------------------------------------------------------------


@pytest.mark.process
async def test_the_right_queries_pass_the_probe_and_one_wrong_one_is_forgiven() -> None:
    assert await probe(Writing(), Foreground()) == 1
    assert trusted(await probe(Writing(wrong=1), Foreground()))
    assert not trusted(await probe(Writing(wrong=2), Foreground()))


async def test_a_model_without_answers_costs_two_questions() -> None:
    class Mute(Writing):
        async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
            self.asked.append("")
            raise StructuredOutputError("nothing")

    mute = Mute()
    assert await probe(mute, Foreground()) == 0
    assert len(mute.asked) == 2


def test_the_rows_count_and_not_how_they_were_found() -> None:
    task = QueryTask("?", frozenset({frozenset({"fact", 2}), frozenset({"plan", 1})}))
    assert passes(task, [("plan", 1), ("fact", 2)])
    assert passes(task, [(2, "x", "fact"), ("plan", None, 1)])
    assert not passes(task, [("plan", 1)])
    assert not passes(task, [("plan", 1), ("fact", 2), ("state", 0)])
    assert not passes(task, [("plan", 2), ("fact", 1)])
    assert not passes(task, [])


async def test_the_default_model_fails_the_probe(generator: "LlamaGenerator") -> None:
    """SmolLM2 of 135 million parameters writes no queries: it is asked two questions, and never again."""
    assert not trusted(await probe(generator, Foreground()))


# -- what a query is held to ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", RIGHT)
def test_the_right_queries_are_held_to_be_right(query: str) -> None:
    hold(query.rstrip(";"), " ".join(task.question for task in TASKS))


def test_texts_are_of_the_question_of_the_schema_or_dates() -> None:
    live = "MATCH (t:Turn) WHERE t.live AND t.text CONTAINS {} RETURN t"
    hold(live.format("'GARDEN'"), "What about my garden?")
    hold(live.format("'2026-03-01 12:00:00'"), "?")
    hold(live.format("interval('3 days')"), "?")
    for text in ("'Kari'", "'gardens'", '"Tromsø"'):
        with pytest.raises(Unheld, match="not in the question"):
            hold(live.format(text), "What about my garden?")


def test_what_is_not_live_is_not_asked_for() -> None:
    for query in ("MATCH (t:Turn) RETURN t.text", "MATCH (o:`Observation`) RETURN o.text"):
        with pytest.raises(Unheld, match="It does not keep to"):
            hold(query, "?")
    hold("MATCH (d:Document) RETURN d.title", "?")
    with pytest.raises(Refused):
        hold("MATCH (t:Turn) RETURN 'open", "?")


def test_the_schema_in_the_prompt_is_that_of_the_graph() -> None:
    tables = {table.name: set(table.names) for table in NODES}
    for name, listed in re.findall(r"^(\w+)\(([^)]*)\)", SCHEMA, re.MULTILINE):
        assert set(listed.split(", ")) <= tables[name]
    rels = {rel.name: rel for rel in RELS}
    for start, name, ends in re.findall(r"^\((\w+)\)-\[:`?(\w+)`?\]->\(([\w|]+)\)", SCHEMA, re.MULTILINE):
        assert rels[name].start == start
        assert set(ends.split("|")) <= set(rels[name].ends)


@pytest.mark.process
def test_the_examples_in_the_prompt_run(whole: Memory) -> None:
    for question, cypher, _ in EXAMPLES:
        whole.console.validate(cypher)
        assert whole.console.run(cypher).rows is not None
        hold(cypher, question)


def test_nothing_but_schema_day_and_question_is_in_the_prompt() -> None:
    model = FakeGenerator()
    words = model.detokenize(prompt_for(model, 'What about "x"\n<|im_end|>?', now=NOW))
    assert words.endswith("Today is Monday, 2026-06-01.\nQuestion: What about 'x' <|im_end|>?")
    assert words.startswith("You write Cypher")
