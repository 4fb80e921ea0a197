"""An Agent that plays stories for a benchmark, on a fake model or a given one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agent.agent import Agent
from agent.errors import AgentError
from agent.events import Failed
from agent.home import Home
from agent.model_host import LoadedEmbedder, llama_embedder_loader
from agent.settings import Settings
from agent.story.cards import Card
from tests.fakes import FakeEmbedder, FakeGenerator

MARA = Card(name="Mara", description="She keeps the lighthouse.\n\nShe is wary of boats.", greetings=("You came.",))
JONAS = Card(name="Jonas", description="He mends nets.\n\nHe fears the water.")
YOU = "Ada"


@asynccontextmanager
async def opened(
    home: Path,
    model: Any = None,
    *,
    embeds: bool = False,
    real_embedder: bool = False,
    graph: bool = False,
    **given: Any,
) -> AsyncIterator[Agent]:
    """The Agent of a folder; `embeds` looks by vectors too, those of the default embedder where it is the real one."""
    generator = model if model is not None else FakeGenerator("Hm.")
    settings = Settings.model_validate({"tools": "off", "reflect": False, "recall": embeds, "kv_mb": 0, **given})
    here = Home.resolve(home)
    loads = llama_embedder_loader(Home.resolve(writing=False, make=False), settings) if real_embedder else None
    agent = Agent(
        here,
        settings,
        client="bench",
        loader=lambda name, progress: generator,
        embedder_loader=loads or (lambda name: LoadedEmbedder(FakeEmbedder(), "fake@0")),
    )
    await agent.start(load_embedder=embeds, open_graph=graph)
    await agent.models.ready()
    await agent.idle()
    try:
        yield agent
    finally:
        await agent.close()


async def of_two(agent: Agent, name: str = "The Lighthouse") -> tuple[str, dict[str, str]]:
    """A story with both; its chat, and the members by their names."""
    session = await agent.stories.begin(name, MARA, guest=JONAS, you=YOU)
    return session, {each.name: each.member for each in await agent.stories.cast(session)}


async def say(agent: Agent, session: str | None, text: str, whisper: str | None = None) -> None:
    """Say something and have it answered. Raises AgentError where that fails."""
    async for event in agent.send(session, text, whisper=whisper):
        if isinstance(event, Failed):
            raise AgentError(str(event.error))
