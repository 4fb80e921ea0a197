"""A model writes queries: only one that passed the probe, only what both walls let through, and after any reply."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agent.agent import Agent
from agent.asking import modelled
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
from tests.agent.asking.scripted import RIGHT, Writing
from tests.agent.conftest import MakeAgent, collect, opened
from tests.fakes import FakeGenerator

if TYPE_CHECKING:
    from models.generator import LlamaGenerator

QUIET = Settings(reflect=False)
QUESTION = "Which message has the most letters?"
NO_QUESTION = "Write me a story."
GOOD = "MATCH (t:Turn) WHERE t.live AND t.world = $world RETURN t.text ORDER BY size(t.text) DESC LIMIT 1"
WRONG = {  # and what is told of it
    "MATCH (t:Turn WHERE t.live RETURN t.text": "parser|expected|Invalid|mismatched|close",
    "MATCH (t:Message) WHERE t.live RETURN t.text": "Message",
    "MATCH (t:Turn) RETURN t.text LIMIT 1": "t.live",
    "MATCH (t:Turn) WHERE t.live AND t.world = $world AND t.text CONTAINS 'Kari' RETURN t.text": "'Kari'",
}
HOSTILE = (
    "MATCH (t:Turn) WHERE t.live SET t.text = 'x' RETURN t",
    "MATCH (t:Turn) WHERE t.live DETACH DELETE t",
    "LOAD FROM '/etc/passwd' RETURN *",
    "MATCH (t:Turn) WHERE t.live RETURN t; MATCH (t:Turn) DELETE t",
    "CALL show_functions() RETURN *",
    "COPY (MATCH (t:Turn) RETURN t.text) TO '/tmp/out.csv'",
)


async def ready(make_agent: MakeAgent, model: FakeGenerator, *, trusted: str = "") -> Agent:
    """An agent with this model in use; the model of that name passed the probe before."""
    if trusted:
        Home.resolve().translators.write_text(json.dumps({f"{VERSION}:{trusted}": 1.0}))
    agent = await make_agent(model, QUIET)
    await agent.idle()
    return agent


def probed(model: Writing) -> int:
    """How many of its questions were the probe's."""
    return sum(any(each.startswith(task.question) for task in TASKS) for each in model.asked)


@pytest.mark.process
async def test_a_model_that_passes_the_probe_writes_the_query_and_is_probed_once(
    make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Writing({QUESTION: [GOOD]})
    agent = await ready(make_agent, model)
    model.gate.clear()
    asking = asyncio.create_task(agent.queries.translate(QUESTION))
    await model.waiting.wait()  # the probe's first question is being answered
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await agent.queries.translates_by_model() is None, "nothing is left of what was cancelled"

    with monkeypatch.context() as patch:
        patch.setattr(modelled, "PROBE_TIME_S", 0.05)
        with pytest.raises(NotUnderstood, match="took too long"):
            await agent.queries.translate(QUESTION)
    assert await agent.queries.translates_by_model() is None, "it is not judged by being too slow just now"

    asking = asyncio.create_task(agent.queries.translate(QUESTION))
    await model.waiting.wait()
    replying = asyncio.create_task(collect(agent.send(None, "Hello.")))
    model.gate.set()
    await replying  # for which it steps aside
    found = await asking
    assert (found.cypher, found.parameters, found.how, found.model) == (GOOD, {}, "model", "writing")
    assert (found.question, found.words) == (QUESTION, "What it finds.")
    assert await agent.queries.translates_by_model() is True
    assert probed(model) == len(TASKS)
    assert (await agent.graph.console(found.cypher)).columns == ("t.text",)

    await agent.close()
    again = Writing({QUESTION: [GOOD]})
    agent = await ready(make_agent, again)
    await agent.queries.translate(QUESTION)
    assert (probed(again), len(again.asked)) == (0, 1)


@pytest.mark.process
async def test_another_model_is_probed_and_where_it_fails_never_asked_again(make_agent: MakeAgent) -> None:
    model = Writing({QUESTION: [GOOD]}, wrong=2, name="another")
    agent = await ready(make_agent, model, trusted="writing")
    for _ in range(2):
        with pytest.raises(NotUnderstood, match="The model another was tested"):
            await agent.queries.translate(NO_QUESTION)
    assert (await agent.queries.translate(QUESTION)).how == "nearest"
    assert probed(model) == 2  # the bar was out of reach then
    assert len(model.asked) == 2
    assert await agent.queries.translates_by_model() is False


@pytest.mark.restarts
async def test_a_common_question_and_what_is_no_question_ask_no_model(make_agent: MakeAgent) -> None:
    model = Writing()
    agent = await ready(make_agent, model)
    assert (await agent.queries.translate("Who did I mention most?")).how == "template"
    for question in ("", "  ", "?" * 1000):
        with pytest.raises(NotUnderstood, match="ready queries"):
            await agent.queries.translate(question)
    assert model.asked == []


@pytest.mark.process
async def test_what_is_wrong_is_told_to_the_model_once_and_not_taken_twice(make_agent: MakeAgent) -> None:
    model = Writing()
    agent = await ready(make_agent, model, trusted="writing")
    for wrong, told in WRONG.items():
        model.others = {QUESTION: [wrong, GOOD]}
        assert (await agent.queries.translate(QUESTION)).cypher == GOOD
        assert wrong in model.asked[-1]
        assert re.search(told, model.asked[-1].partition("Because:")[2])
    for wrong in (*WRONG, *HOSTILE):
        model.others = {QUESTION: [wrong, wrong, GOOD]}
        with pytest.raises(NotUnderstood, match=r"could not be used: .*Nothing was run"):
            await agent.queries.translate(QUESTION)
        assert model.others[QUESTION] == [GOOD], wrong
    model.others = {}
    with pytest.raises(NotUnderstood, match="No query was written for this question"):
        await agent.queries.translate(QUESTION)


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


@pytest.mark.restarts
async def test_a_model_that_goes_away_meanwhile_is_told_of(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, Writing(fails=EngineClosed()))
    with pytest.raises(NotUnderstood, match="Ask again"):
        await agent.queries.translate(QUESTION)
    assert await agent.queries.translates_by_model() is None


async def test_without_a_model_the_common_questions_are_what_there_is() -> None:
    def none(name: str, progress: Callable[..., None]) -> FakeGenerator:
        from models.errors import ModelMissing

        raise ModelMissing(Path(name))

    async with opened(QUIET, none, load_model=False) as agent:
        await agent.idle()
        assert (await agent.queries.translate("How many chats are there?")).how == "template"
        assert (await agent.queries.translate(QUESTION)).how == "nearest"
        with pytest.raises(NotUnderstood) as told:
            await agent.queries.translate(NO_QUESTION)
        assert str(told.value) == NOT_RECOGNISED


# -- the probe ------------------------------------------------------------------------------------------------------


@pytest.mark.process
async def test_right_queries_pass_the_probe_one_wrong_is_forgiven_and_none_cost_two_questions() -> None:
    assert await probe(Writing(), Foreground()) == 1
    assert trusted(await probe(Writing(wrong=1), Foreground()))
    mute = Writing(fails=StructuredOutputError("nothing"))
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


@pytest.mark.soak  # half a minute; a model without answers, and one with wrong ones, fail as it does
async def test_the_default_model_fails_the_probe(generator: "LlamaGenerator") -> None:
    """SmolLM2 of 135 million parameters writes no queries: it is asked two questions, and never again."""
    assert not trusted(await probe(generator, Foreground()))


# -- what a query is held to ----------------------------------------------------------------------------------------


def test_texts_are_of_the_question_of_the_schema_or_dates_and_only_what_is_live_is_asked_for() -> None:
    for query in RIGHT:
        hold(query.rstrip(";"), " ".join(task.question for task in TASKS))
    live = "MATCH (t:Turn) WHERE t.live AND t.text CONTAINS {} RETURN t"
    for text in ("'GARDEN'", "'2026-03-01 12:00:00'", "interval('3 days')"):
        hold(live.format(text), "What about my garden?")
    for text in ("'Kari'", "'gardens'", '"Tromsø"'):
        with pytest.raises(Unheld, match="not in the question"):
            hold(live.format(text), "What about my garden?")
    for query in ("MATCH (t:Turn) RETURN t.text", "MATCH (o:`Observation`) RETURN o.text"):
        with pytest.raises(Unheld, match="It does not keep to"):
            hold(query, "?")
    hold("MATCH (d:Document) RETURN d.title", "?")
    with pytest.raises(Refused):
        hold("MATCH (t:Turn) RETURN 'open", "?")


def test_the_schema_in_the_prompt_is_that_of_the_graph() -> None:
    tables = {table.name: set(table.names) for table in NODES}
    nodes = re.findall(r"^(\w+)\(([^)]*)\)", SCHEMA, re.MULTILINE)
    edges = re.findall(r"^\((\w+)\)-\[:`?(\w+)`?\]->\(([\w|]+)\)", SCHEMA, re.MULTILINE)
    assert len(nodes) + len(edges) == len(SCHEMA.strip().splitlines())
    for name, listed in nodes:
        assert set(listed.split(", ")) <= tables[name]
    rels = {rel.name: rel for rel in RELS}
    for start, name, ends in edges:
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
