"""`/model` with model servers: asked when the list is open, found on this computer only when that is chosen."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from agent.home import Home
from agent.served import FoundServer, Served, ServedModel
from agent.settings import Server, load_settings
from models.servers import discovery
from tests.agent.service.test_model_servers import configured
from tests.models.discovered_server import Discovered, discovered, llama_server, ollama
from tests.tui.acting import paste, perform, press
from tests.tui.conftest import Running, screen_text, status_line, wait_until
from tests.tui.fake_backstage import FakeBackstage
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees
from tui.app import ClewApp
from tui.widgets.model_picker import LOOK, ModelPicker, Newcomer

pytestmark = pytest.mark.ui

FAR = Served("gpu", ("gpu.example:8443",), ("gpu.example:8443",), (ServedModel("qwen3-32b", 32_768),))
FOUND = FoundServer("ollama", "Ollama", "http://127.0.0.1:11434", "127.0.0.1:11434", "openai", (ServedModel("qwen3"),))


@pytest.fixture
def served() -> Iterator[ExitStack]:
    """Servers that listen as long as the test goes on."""
    with ExitStack() as stack:
        yield stack


class Scripted:
    """Servers that answer when they are let."""

    def __init__(self, *served: Served, found: tuple[FoundServer, ...] = ()) -> None:
        self._served = {each.server: each for each in served}
        self._found = found
        self.go = {each.server: asyncio.Event() for each in served}
        self.looked = 0
        self.look = asyncio.Event()

    async def names(self) -> tuple[str, ...]:
        return tuple(self._served)

    async def models_of(self, name: str) -> Served:
        await self.go[name].wait()
        return self._served[name]

    async def found_here(self) -> tuple[FoundServer, ...]:
        self.looked += 1
        await self.look.wait()
        return self._found


async def opened(app: ClewApp, pilot: Pilot[Any], servers: Any, current: str = "smollm2-135m") -> list[Any]:
    """The list over the chat; what was chosen, once it is."""
    assert app.view.backstage is not None
    chosen: list[Any] = []
    app.push_screen(ModelPicker(app.view.backstage.choices(), current, servers=servers), chosen.append)
    await wait_until(pilot, lambda: isinstance(app.screen, ModelPicker))
    return chosen


def marked(app: ClewApp) -> str:
    """The row with the mark."""
    return next((line.strip() for line in screen_text(app).splitlines() if "›" in line), "")


async def marks(app: ClewApp, pilot: Pilot[Any], row: str, *keys: str) -> None:
    """Press keys, and wait until the row with the mark says that."""
    await pilot.press(*keys)
    await wait_until(pilot, lambda: row in marked(app), row)


async def test_servers_are_asked_in_the_background_have_models_or_why_not_typing_finds_them(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        servers = Scripted(FAR, Served("attic", ("localhost:1",), (), error="attic: nobody answers at localhost:1."))
        chosen = await opened(app, pilot, servers)
        await sees(pilot, "asking gpu …")
        assert "asking attic …" in screen_text(app)
        await marks(app, pilot, "qwen3-4b", "down")
        servers.go["attic"].set()
        await sees(pilot, "attic: nobody answers at localhost:1.")
        servers.go["gpu"].set()
        await sees(pilot, "⇅ gpu.example:8443 · context 32,768")
        assert "asking" not in screen_text(app)
        assert "qwen3-4b" in marked(app)
        await marks(app, pilot, "qwen3-32b@gpu", "down")
        await press(pilot, "enter", until=lambda: chosen == ["qwen3-32b@gpu"])
        assert servers.looked == 0

        servers = Scripted(FAR)
        await opened(app, pilot, servers, "qwen3-32b@gpu")
        await marks(app, pilot, "smollm2-135m")
        servers.go["gpu"].set()
        await wait_until(pilot, lambda: "● qwen3-32b@gpu" in marked(app), "the mark at the model in use")
        await pilot.press("escape")

        servers = Scripted(FAR)
        servers.go["gpu"].set()
        chosen = await opened(app, pilot, servers)
        await sees(pilot, "qwen3-32b@gpu")
        await press(pilot, *"@GPU", until=lambda: "qwen3-32b@gpu" in marked(app) and "smollm2" not in screen_text(app))
        assert LOOK not in screen_text(app)
        await press(pilot, "ctrl+u", *"usual", shows="No models match.")
        await pilot.press("ctrl+u")
        await paste(pilot, "/m/own.gguf")
        await sees(pilot, "Press Enter to use this file.")
        await press(pilot, "enter", until=lambda: chosen == ["/m/own.gguf"])

        servers = Scripted(FAR)
        chosen = await opened(app, pilot, servers)
        await sees(pilot, "asking gpu …")
        await press(pilot, "escape", until=lambda: chosen == [None])
        servers.go["gpu"].set()
        await wait_until(pilot, lambda: "● ready" in status_line(app))


async def test_ports_are_asked_when_chosen_a_second_enter_is_nothing_the_mark_stays_in_view(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        servers = Scripted(found=(FOUND,))
        chosen = await opened(app, pilot, servers)
        await wait_until(pilot, lambda: LOOK in screen_text(app))
        assert servers.looked == 0
        await press(pilot, "up", "enter", shows="asking the usual ports …")
        await marks(app, pilot, LOOK, "enter")
        servers.look.set()
        await marks(app, pilot, "qwen3@ollama")
        assert "Ollama at 127.0.0.1:11434, to be added as ollama" in screen_text(app)
        await press(pilot, "enter", until=lambda: chosen == [Newcomer(FOUND, "qwen3")])
        assert servers.looked == 1

        servers = Scripted()
        servers.look.set()
        await opened(app, pilot, servers)
        await wait_until(pilot, lambda: LOOK in screen_text(app))
        await press(pilot, "up", "enter", shows="No other model server answers")
        await marks(app, pilot, LOOK)
        await press(pilot, "enter", until=lambda: servers.looked == 2)
        await wait_until(pilot, lambda: LOOK in marked(app) and "asking the usual" not in screen_text(app))
        await pilot.press("escape")

        many = tuple(ServedModel(f"model-{number:03}") for number in range(200))
        servers = Scripted(Served("many", ("localhost:1",), (), many), FAR)
        servers.go["many"].set()
        await opened(app, pilot, servers)
        await sees(pilot, "model-000@many")
        await marks(app, pilot, "model-198@many", "up", "up", "up")
        line = screen_text(app).splitlines().index(next(x for x in screen_text(app).splitlines() if "›" in x))
        servers.go["gpu"].set()
        rows = app.screen.query_one(OptionList)
        await wait_until(pilot, lambda: rows.option_count == 200 + 2 + 1 + 1)
        await marks(app, pilot, "model-198@many")
        assert "›" in screen_text(app).splitlines()[line]


async def test_without_servers_in_the_settings_nobody_is_asked_and_settings_that_cannot_be_read_are_told(
    chat: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("models.servers.client.ServerClient.ask", lambda *told, **more: asked.append(told))
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        names = agent.watch_calls("models.servers.names")
        app.perform("model")
        await wait_until(pilot, lambda: len(names) == 1 and LOOK in screen_text(app))
        await pilot.press("escape")
        assert asked == []
        Home.resolve().config.write_text("contxt = 5\n")
        await perform(pilot, "model", shows="contxt")
        assert "smollm2-135m" in screen_text(app)


async def test_a_model_of_a_server_is_used_and_kept_as_one_here(chat: Running, served: ExitStack) -> None:
    server = served.enter_context(discovered(llama_server()))
    configured(den=Server(address=server.address), gone=Server(address="http://127.0.0.1:9"))
    agent = ScriptedAgent()
    used = agent.watch_calls("models.use")
    async with chat(agent, size=(120, 40)) as (app, pilot):
        app.perform("model")
        await sees(pilot, "Small-Chat.Q4_1@den", "nobody answers at 127.0.0.1:9")
        await press(pilot, *"@den", "enter", shows="Small-Chat.Q4_1@den answers from now on")
        assert used == [(("Small-Chat.Q4_1@den",), {"session": None})]
        assert isinstance(app.view.backstage, FakeBackstage)
        assert app.view.backstage.kept == {"model": "Small-Chat.Q4_1@den"}


async def test_a_server_that_is_found_is_added_and_its_model_used(
    chat: Running, served: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    server: Discovered = served.enter_context(discovered(ollama()))
    monkeypatch.setattr(discovery, "USUAL_PORTS", {int(server.address.rpartition(":")[2]): "Ollama"})
    monkeypatch.setattr(discovery, "PORT_S", 30.0)
    agent = ScriptedAgent()
    used = agent.watch_calls("models.use")
    async with chat(agent) as (app, pilot):
        app.perform("model")
        await wait_until(pilot, lambda: LOOK in screen_text(app))
        assert server.asked == []
        await press(pilot, "up", "enter", shows="qwen3:8b@local")
        await press(pilot, "down", "enter", shows="qwen3:8b@local answers from now on")
        assert used == [(("qwen3:8b@local",), {"session": None})]
        added = {"local": Server(address=server.address, kind="openai")}
        assert (agent.settings.servers, load_settings(Home.resolve().config).servers) == (added, added)
