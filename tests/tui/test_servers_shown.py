"""Where words go is on the screen whenever they leave this computer; how servers are is on the page of /status."""

from itertools import product
from pathlib import Path
from typing import Any, cast

import pytest

from agent.events import ModelFailed, ModelProgress, ModelReady, WordsLeave
from agent.home import Home
from agent.served import ModelServer, ModelServers
from agent.service.client import AgentClient
from agent.settings import Server, Settings
from models.servers.state import ServerState
from tests.agent.service.behind import Behind, agent_of
from tests.agent.service.test_model_servers import Away
from tests.fakes import FakeGenerator
from tests.tui.acting import perform
from tests.tui.conftest import Running, make_app, screen_text, status_line, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees
from tui.commands.serve import _lines
from tui.fold import fold
from tui.servers import server_rows
from tui.state import State
from tui.widgets.message import AssistantMessage
from tui.widgets.status import KEYS_ALWAYS, compose_line

GPU = "gpu.example:8443"
POOL = ModelServer(
    "gpu",
    (
        ServerState("one:1", away=True, kind="llama", busy=1, slots=4),
        ServerState("two:2", away=True, kind="llama", busy=2, slots=2),
        ServerState("localhost:3", away=False, kind="openai"),
        ServerState("four:4", away=True, why="gpu: nobody answers at four:4."),
    ),
)


def test_the_host_is_on_the_line_however_narrow_it_is_and_whatever_else_is_shown() -> None:
    state = fold(fold(State(), ModelReady("big@gpu", 8192)), WordsLeave((GPU,)))
    fetching = fold(state, ModelProgress("fetching", "qwen3-4b", 1, 2))
    failed = fold(state, ModelFailed("other", "No."))
    for width, keys in product((20, 40, 80, 200), ((), KEYS_ALWAYS)):
        for each in (state, fetching, failed):
            assert f"⇅ {GPU}" in compose_line(each, None, width, 0, keys).plain
        assert "⇅" not in compose_line(fold(state, WordsLeave(())), None, width, 0, keys).plain
    several = fold(State(), WordsLeave(("one:1", "two:2", "three:3")))
    assert "⇅ one:1 +2" in compose_line(several, None, 80, 0).plain
    assert "\x1b" not in compose_line(fold(State(), WordsLeave(("o\x1b[31mne",))), None, 80, 0).plain


def test_each_server_of_a_pool_has_a_row_and_one_alone_has_its_own() -> None:
    assert server_rows(POOL) == [
        ("model servers", "gpu: 4 servers with this model"),
        ("  ⇅ one:1", "ready · 1 of 4 slots in use · llama-server"),
        ("  ⇅ two:2", "full · 2 of 2 slots in use · llama-server"),
        ("  localhost:3", "ready · OpenAI-compatible"),
        ("  ⇅ four:4", "left alone: gpu: nobody answers at four:4."),
    ]
    alone = ModelServer("gpu", POOL.states[:1])
    assert server_rows(alone) == [("model server", "gpu: ⇅ one:1 · llama-server · ready · 1 of 4 slots in use")]
    assert server_rows(ModelServer("gpu", POOL.states[2:3])) == [
        ("model server", "gpu: localhost:3 · OpenAI-compatible")
    ]


def test_the_status_of_a_service_says_where_the_model_is_also_of_one_that_does_not_know() -> None:
    health: dict[str, Any] = {
        "version": "1", "protocol": 1, "pid": 2, "uptime_s": 3.0, "starts": 4, "clients": [], "log_head": 5,
        "graph": "ready", "model": "big@gpu", "unanswered": 0,
    }  # fmt: skip
    assert len(_lines(health)) == 5
    server = {"name": "gpu", "states": [{"host": "one:1", "away": True}, {"host": "two:2", "away": True, "why": "no"}]}
    *_, at, away = _lines(health | {"server": server, "away": ["one:1", "two:2"]})
    assert at == "server    gpu: ⇅ one:1 ready; ⇅ two:2 left alone: no"
    assert away == "away      words go to ⇅ one:1, two:2"


@pytest.mark.ui
async def test_the_page_asks_the_servers_of_the_model_once(chat: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    async def in_use(servers: ModelServers) -> ModelServer:
        asked.append(servers)
        return POOL

    monkeypatch.setattr(ModelServers, "in_use", in_use)
    monkeypatch.setattr(ModelServers, "known", POOL)
    async with chat(ScriptedAgent()) as (app, pilot):
        app.perform("status")
        for size in ((80, 24), (120, 40)):
            await pilot.resize_terminal(*size)
            await sees(pilot, "full · 2 of 2 slots in use")
            assert "model file" not in screen_text(app)
        assert len(asked) == 1


@pytest.mark.ui
async def test_the_first_words_on_the_screen_are_true_and_the_page_of_a_model_here_asks_nobody(chat: Running) -> None:
    agent = ScriptedAgent(model=Away("big@gpu", GPU))
    async with chat(agent) as (app, pilot):
        await wait_until(pilot, lambda: f"⇅ {GPU} · ● ready" in status_line(app))
        assert "Everything stays on this computer." not in screen_text(app)
        await wait_until(pilot, lambda: f"goes to ⇅ {GPU}." in screen_text(app))
        await perform(pilot, "model", "small", until=lambda: "⇅" not in screen_text(app))
        assert "Everything stays on this computer." in screen_text(app)
        asked = agent.watch_calls("models.servers.in_use")
        await perform(pilot, "status", shows="model file")
        assert (asked, "model server" in screen_text(app)) == ([], False)


@pytest.mark.ui
@pytest.mark.process
async def test_a_second_terminal_shows_it_and_no_more_after_a_change_to_a_model_here(tmp_path: Path) -> None:
    home = Home.resolve()
    settings = Settings(model="big@gpu", servers={"gpu": Server(address=f"https://{GPU}")}, reflect=False, recall=False)
    service = Behind(home, agent_of(home, Away("big@gpu", GPU), settings))
    await service.start()
    first = await service.client()
    await first.models.ready()
    app = make_app(cast(Any, AgentClient(service.connect, settings, name="chat")), tmp_path)
    async with app.run_test() as pilot:
        await wait_until(pilot, lambda: f"⇅ {GPU} · ● ready" in status_line(app))
        await pilot.press(*"hello", "enter")
        await wait_until(pilot, lambda: any("Far." in each.text for each in app.query(AssistantMessage)))
        app.query(AssistantMessage).last().focus()
        await wait_until(pilot, lambda: "back" in status_line(app))
        assert f"⇅ {GPU}" in status_line(app)
        service.agent._loader = lambda name, progress: FakeGenerator("Here.", name=name)
        service.agent._host._loader = service.agent._loader
        await first.models.use("small")
        await wait_until(pilot, lambda: "⇅" not in status_line(app))
        await first.use_settings(first.settings.model_copy(update={"judge": "big@gpu"}))
        await wait_until(pilot, lambda: f"⇅ {GPU}" in status_line(app))
        await first.use_settings(first.settings.model_copy(update={"judge": ""}))
        await wait_until(pilot, lambda: "⇅" not in status_line(app))
        await app.leave()
    await service.end()
