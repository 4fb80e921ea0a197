"""Chats that refer to what a server here serves, and what stands of it in prompts and in files."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from agent.agent import Agent
from agent.events import Notice, ReplyEnded, Warned
from agent.home import Home
from agent.references import reader
from agent.references.extraction import Page, read
from agent.settings import as_given
from tests.agent.conftest import MakeAgent, collect
from tests.agent.references.web import Web
from tests.agent.test_recall import only, spelled
from tests.fakes import FakeGenerator

NONCE = "xylopomp"
THREAD = "/xrpc/app.bsky.feed.getPostThread"


def own(web: Web) -> str:
    """How the server here stands in the setting `hosts`."""
    return f"own:127.0.0.1:{web.port}"


def at(key: object = "3k") -> str:
    """The address of a post, whose thread is what is served at THREAD."""
    return f"at://ada.example/app.bsky.feed.post/{key}"


class Chat:
    """A chat with a model that says the same each time, unless another is given."""

    def __init__(self, agent: Agent, model: FakeGenerator) -> None:
        self.agent, self.model = agent, model
        self.session: str | None = None
        self.told: list[str] = []  # on a line, from the beginning on
        self._listening = asyncio.create_task(self._listen(agent.notices()))

    async def say(self, text: str, *references: str, session: str | None = None) -> ReplyEnded:
        """Send a message to this chat, or to the one that is named, and wait until nothing is done any more."""
        events = await collect(self.agent.send(session or self.session, text, references=references))
        await self.agent.idle()
        ended = only(events, ReplyEnded)
        self.session = ended.session
        return ended

    async def begin(self, text: str, *references: str) -> ReplyEnded:
        """The same in another chat."""
        self.session = None
        return await self.say(text, *references)

    async def _listen(self, notices: AsyncIterator[Notice]) -> None:
        async for notice in notices:
            if isinstance(notice, Warned):
                self.told.append(notice.message)

    @property
    def shown(self) -> str:
        """The last prompt."""
        return spelled(self.model, self.model.prompts[-1])

    async def refers(self) -> list[str]:
        """The addresses that it refers to."""
        return [each.reference.address for each in await self.agent.references.all(self.session or "")]


Begin = Callable[..., Awaitable[Chat]]


async def chat_of(make_agent: MakeAgent, web: Web, model: FakeGenerator | None = None, **settings: Any) -> Chat:
    """A chat of an agent that may ask the server here, and nobody else."""
    model = model or FakeGenerator("Well.")
    given = {"tools": "off", "kv_mb": 0, "reflect": False, "hosts": own(web), "threads_from": web.url("")}
    agent = await make_agent(model, as_given(given | settings))
    await agent.idle()
    return Chat(agent, model)


def files_with(word: str) -> list[str]:
    """The files of the home that hold a word, in whichever of the ways that text is stored."""
    forms = [word.encode(form) for form in ("utf-8", "utf-16-le")]
    files = [path for path in Home.resolve().root.rglob("*") if path.is_file()]
    return [str(path) for path in files if any(form in path.read_bytes() for form in forms)]


def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on pages are read in this process, which costs no start of another."""

    async def here(body: bytes, kind: str, charset: str) -> Page:
        return await asyncio.to_thread(read, body, kind, charset)

    monkeypatch.setattr(reader, "read_apart", here)
