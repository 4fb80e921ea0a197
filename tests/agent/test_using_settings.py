"""Settings changed while clew runs: the next message goes by them; models that they load otherwise are loaded anew."""

from collections.abc import Callable

import pytest

from agent.agent import Agent
from agent.events import ModelProgress, Reflecting, ReplyEnded
from agent.home import Home
from agent.model_host import LoadedEmbedder
from agent.settings import Settings
from graph.events import Sampling
from models.errors import NotGguf
from models.protocols import Generator
from tests.agent.conftest import MakeAgent, collect
from tests.fakes import FakeEmbedder, FakeGenerator

PLAIN = Settings(recall=False, tools="off", reflect=False, kv_mb=0)


def other(before: Settings, **changes: object) -> Settings:
    return before.model_copy(update=changes)


async def talk(agent: Agent, text: str, session: str | None = None) -> ReplyEnded:
    ended = (await collect(agent.send(session, text)))[-1]
    assert isinstance(ended, ReplyEnded)
    return ended


async def test_the_next_message_goes_by_the_new_settings(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Well.")
    agent = await make_agent(model, PLAIN)
    session = (await talk(agent, "hello")).session
    private = await agent.private.begin()
    own = await agent.chats.configure(None, system_prompt="Only rhymes.")
    new = other(PLAIN, system_prompt="Like a pirate.", sampling=Sampling(max_tokens=1), low_water=700, high_water=800)
    await agent.use_settings(new)
    for each, words in ((session, "pirate"), (private, "pirate"), (own, "rhymes")):
        ended = await talk(agent, "and now?", each)
        assert (ended.completion_tokens, ended.stop_reason) == (1, "length")
        assert words in model.detokenize(model.prompts[-1])
    limits = agent._conversation.limits(model)
    assert (limits.low_water, limits.high_water) == (700, 800)
    await agent.use_settings(other(new, kv_mb=1))
    assert agent._states.limit == 1 << 20


async def test_reflection_begins_and_ends_with_its_setting(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("I see."), PLAIN)
    for reflect in (True, False, True):
        await agent.use_settings(other(PLAIN, reflect=reflect))
        await talk(agent, "I live in Oslo.")
        await agent.idle()
        assert (await agent.reflection.unreflected() == 0) is reflect


async def test_what_is_not_reflected_on_any_more_is_told_to_be_none(make_agent: MakeAgent) -> None:
    model = FakeGenerator("I see.")
    agent = await make_agent(model, PLAIN)
    heard = agent.notices()
    await talk(agent, "What lives in tide pools?")
    model.gate.clear()
    await agent.use_settings(other(PLAIN, reflect=True))
    assert (await anext(each async for each in heard if isinstance(each, Reflecting))).left == 1
    await model.waiting.wait()
    await agent.use_settings(PLAIN)
    assert (await anext(each async for each in heard if isinstance(each, Reflecting))).left == 0
    model.gate.set()


class Loads:
    """Loads a fake by the settings in force, and fails for a context that is too large."""

    def __init__(self) -> None:
        self.agent: Agent
        self.made: list[FakeGenerator] = []
        self.embedders: list[FakeEmbedder] = []

    def __call__(self, name: str, progress: Callable[[ModelProgress], None]) -> Generator:
        if self.agent.settings.context > 100_000:
            raise NotGguf(Home.resolve().models, "it is too large")
        self.made.append(FakeGenerator(name, context=self.agent.settings.context))
        return self.made[-1]

    def embedder(self, name: str) -> LoadedEmbedder:
        self.embedders.append(FakeEmbedder())
        return LoadedEmbedder(self.embedders[-1], name)


async def test_what_says_how_models_are_loaded_loads_those_anew_that_are_loaded() -> None:
    loads = Loads()
    loads.agent = agent = Agent(Home.resolve(), PLAIN, client="test", loader=loads, embedder_loader=loads.embedder)
    await agent.start()
    await agent.models.use("small")
    await agent.idle()
    assert await agent.models.embedder_ready()
    before = loads.made[-1]
    await agent.use_settings(other(PLAIN, context=16384, theme="light"))
    assert (before.closed, loads.made[-1].info.context, len(loads.embedders)) == (True, 16384, 1)
    assert agent.settings.model == "small", "which model answers is not one of them"
    assert (await talk(agent, "hello")).text == "small"
    with pytest.raises(NotGguf):
        await agent.use_settings(other(agent.settings, context=200_000, theme="nord"))
    assert (agent.settings.context, agent.settings.theme, loads.made[-1].closed) == (16384, "light", False)
    made = len(loads.made)
    await agent.use_settings(other(agent.settings, gpu_layers=0))
    assert (len(loads.made), len(loads.embedders)) == (made + 1, 2)
    await agent.close()
