"""Scripts of keys around private chats, and the search for what was typed in one: after every key, in every file.

A nonce is typed in private chats only, letter by letter, so that its beginnings count, too. Looked through are all
files of the home (the tokens of KV states as words), the composer of every chat that is not private, its history, and
the word "private" on the screen.
"""

import json
import os
import random
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from agent.agent import Agent
from agent.home import Home
from models.states import KVStates
from tests.fakes import FakeGenerator
from tests.tui.conftest import wait_until
from tests.tui.test_recall_for_real import running
from tui.app import ClewApp
from tui.widgets.banner import Banner
from tui.widgets.search import SearchScreen
from tui.widgets.status import StatusBar, Title

NONCE = "qzvxkwjy"
SEEN = 5  # letters of it that are not met by chance
SETTINGS: dict[str, Any] = {"tools": "off", "reflect": False, "bell_after_s": 0}

Step = str | list[str]  # the name of a key, or a text typed key by key; several in one burst

# What is done in a private chat, to leave it, and outside of one; {} is the nonce with a number.
INSIDE, LEAVING, OUTSIDE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).values()
KEYS = frozenset(("enter", "up", "down", "left", "right", "escape", "tab", "f2", "f3", "f5", "f7"))


def told(app: ClewApp) -> tuple[bool, bool]:
    """Whether the title, and the status, say that the chat on the screen is private."""
    chat = app.screen_stack[0]
    title, status = str(chat.query_one(Title).content), str(chat.query_one(StatusBar).content)
    return "Private chat: nothing is saved" in title, status.startswith("private")


class Leak(AssertionError):
    """Words of a private chat stand where they may not."""


def script(seed: int) -> list[Step]:
    """The keys and texts of one script."""
    chance = random.Random(seed)
    steps: list[Step] = ["Good morning", "enter"]
    number = 0
    for _ in range(chance.randint(2, 3)):
        steps += ["ctrl+a", "ctrl+k", "/private", chance.choice(("enter", ["enter", f"{NONCE} typed on", "enter"]))]
        for _ in range(chance.randint(1, 3)):
            number += 1
            steps += [_with(step, f"{NONCE}{number}") for step in chance.choice(INSIDE)]
        steps += chance.choice(LEAVING)
        for _ in range(chance.randint(1, 2)):
            steps += chance.choice(OUTSIDE)
    return steps


def _with(step: Step, nonce: str) -> Step:
    if isinstance(step, str):
        return step.replace("{}", nonce)
    return [each.replace("{}", nonce) for each in step]


class Life:
    """One run of the app on the real agent, log and graph in `home`; only the models are fakes."""

    def __init__(self, app: ClewApp, pilot: Pilot[int], agent: Agent, model: FakeGenerator, home: Path) -> None:
        self.app, self.pilot, self.agent, self.model, self.home = app, pilot, agent, model, home
        self.done: list[str] = []
        self._known: dict[Path, tuple[int, int]] = {}

    async def live(self, steps: list[Step]) -> None:
        """Press all keys, and look after each; the nonce is typed in private chats only. Raises Leak."""
        for step in steps:
            begins = self.app.view.composer.text == "/private" or str(step).startswith("/private")
            if NONCE in str(step) and not self.app.parts.composer.private and not begins:
                continue  # a key before this one led out of the private chat
            for burst in _bursts(step):
                self.done.append("+".join(burst))
                await self.pilot.press(*burst)
                self.look()
            await wait_until(self.pilot, self.quiet, f"quiet after {self.done}")
            self.app.parts.composer.keep()  # what its timer would do soon
            self.look()

    def quiet(self) -> bool:
        """No reply is being written, and no private chat is being begun."""
        return (
            self.agent.answering is None
            and not self.app.view.state.waiting
            and not self.app.parts.composer.private_comes
        )

    def look(self) -> None:
        """Raises Leak where a nonce stands in a place that outlives the private chat, or the screen tells no truth."""
        self.search(self.files())
        self.search(self.shown())
        private = self.app.view.session in self.app.view.state.private
        if told(self.app) != (private, private):
            raise Leak(f"title and status say {told(self.app)}, private is {private}, after {self.done}")

    def search(self, places: Iterator[tuple[str, str]]) -> None:
        """Raises Leak where one of them has a nonce among its words."""
        for place, words in places:
            if NONCE[:SEEN] in words:
                raise Leak(f"{place} after {self.done}")

    def files(self) -> Iterator[tuple[str, str]]:
        """All files of the home that changed, each with its words in small letters."""
        for folder, _, names in os.walk(self.home):  # which minds nothing that goes meanwhile
            for path in (Path(folder, name) for name in names):
                if (words := self._changed(path)) is not None:
                    yield str(path), words
        for kept in KVStates(self.agent._home.states, limit=0).kept():
            yield f"tokens of {kept.path}", self.model.detokenize(kept.header.tokens).lower()

    def shown(self) -> Iterator[tuple[str, str]]:
        """What comes on the screen of chats that are not private."""
        app = self.app
        yield "the history", json.dumps(app.view.composer.sent).lower()
        if not app.parts.composer.private and not app.view.composer.text.startswith("/private"):
            yield "the composer", app.view.composer.text.lower()
            yield "what is kept beside the text", app.view.composer._kept.lower()
            yield "the history on the screen", json.dumps(app.view.composer.apart).lower()
            said = app.screen_stack[0].query_one(Banner).said.lower()
            yield "the banner", said.replace("a private chat: nothing of it is kept", NONCE)
            yield "the search", app.view.sought.lower()
            yield "the search of titles", app.view.sessions.query_one(Input).value.lower()
            if isinstance(app.screen, SearchScreen):
                yield "the search screen", app.screen.text.lower()

    def _changed(self, path: Path) -> str | None:
        """The words of a file, unless it is as it was when it was looked through last."""
        try:
            about = path.stat()
            if self._known.get(path) == (about.st_mtime_ns, about.st_size):
                return None
            words = path.read_bytes().lower().decode("latin-1")
        except OSError:
            return None  # gone meanwhile
        self._known[path] = about.st_mtime_ns, about.st_size
        return words


def _bursts(step: Step) -> list[list[str]]:
    """Keys that come together: those of a burst, and of a text all up to where its nonce could be known."""
    if not isinstance(step, str):
        return [[key for each in step for key in _keys(each)]]
    keys = _keys(step)
    seen = step.find(NONCE) + SEEN if NONCE in step else len(keys)
    return [keys[:seen], *([key] for key in keys[seen:])]


def _keys(words: str) -> list[str]:
    return [words] if words in KEYS or words.startswith(("ctrl+", "alt+")) else list(words)


@asynccontextmanager
async def life(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Life]:
    """A running app; what lives in RAM is in a folder below `folder`. Raises Leak if something stays there."""
    ram = folder / "ram"
    ram.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(ram))
    model = FakeGenerator(_reply)
    async with running(folder, model, size=(100, 30), **SETTINGS) as (app, pilot, agent):
        one = Life(app, pilot, agent, model, Home.resolve().root)
        yield one
    one.search(one.files())
    if list(ram.iterdir()):
        raise Leak(f"left in RAM after {one.done}")


def _reply(prompt: str) -> str:
    """A reply that says the last nonce again, as models do."""
    said = [word for word in prompt.split() if NONCE[:SEEN] in word.lower()]
    return f"I see, {said[-1]}." if said else "I see."
