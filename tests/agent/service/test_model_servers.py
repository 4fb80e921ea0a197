"""Model servers behind the socket: what they have, that one is added, how they are, and where words go."""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.events import ModelReady, Notice, WordsLeave
from agent.home import Home
from agent.served import FoundServer, ServedModel
from agent.service.client import AgentClient
from agent.settings import Server, Settings, load_settings, write_server
from models.errors import AddressRefused, ServerUnreachable
from models.protocols import Generator, ModelInfo
from models.servers import discovery
from models.servers.state import ServerState
from tests.agent.service.behind import Behind
from tests.fakes import FakeGenerator
from tests.models.discovered_server import discovered, llama_server, ollama

FAR = Server(address="https://gpu.example:8443")


@pytest.fixture
def served() -> Iterator[ExitStack]:
    """Servers that listen as long as the test goes on."""
    with ExitStack() as stack:
        yield stack


class Away(FakeGenerator):
    """A model on another machine."""

    def __init__(self, name: str, host: str) -> None:
        super().__init__("Far.", name=name)
        self._info = ModelInfo(name, Path(name), "fake", 0, 8192, "fake", away=host)


@asynccontextmanager
async def running(settings: Settings, models: dict[str, Generator] | None = None) -> AsyncIterator[Behind]:
    """A service with real settings, whose models are those by their names, and else one here."""

    def load(name: str, progress: object) -> Generator:
        model = (models or {}).get(name) or FakeGenerator("Here.", name=name)
        if name.startswith("gone@"):
            raise ServerUnreachable("den", "nobody answers there", "Start it.")
        return model

    home = Home.resolve()
    service = Behind(home, Agent(home, settings, client="test", loader=load))
    await service.start()
    try:
        yield service
    finally:
        await service.end()


def configured(**servers: Server) -> Settings:
    """The settings of this test's home with these servers."""
    home = Home.resolve()
    load_settings(home.config)
    for name, server in servers.items():
        write_server(home.config, name, server)
    return load_settings(home.config)


async def test_the_models_of_a_server_come_as_it_tells_them_and_a_failure_is_one_sentence(served: ExitStack) -> None:
    here, attic = served.enter_context(discovered(llama_server())), served.enter_context(discovered(ollama()))
    settings = configured(
        den=Server(address=here.address),
        attic=Server(address=f"{attic.address}/v1"),
        gone=Server(address="http://127.0.0.1:9"),
        closed=FAR,
    )
    async with running(settings) as service:
        client = await service.client()
        servers = client.models.servers
        assert await servers.names() == ("den", "attic", "gone", "closed")
        den, several, gone, closed = [await servers.models_of(each) for each in ("den", "attic", "gone", "closed")]
        assert den.models == (ServedModel("Small-Chat.Q4_1", 4096),)
        assert (den.away, den.error) == ((), "")
        assert [each.name for each in several.models] == ["nomic-embed-text:latest", "qwen3:8b"]
        assert (gone.models, "nobody answers at 127.0.0.1:9" in gone.error) == ((), True)
        assert (closed.hosts, closed.away) == (("gpu.example:8443",), ("gpu.example:8443",))
        assert "there is no key for it" in closed.error
        assert (await servers.models_of("unheard-of")).error


async def test_of_a_pool_the_first_that_answers_says_what_it_has(served: ExitStack) -> None:
    here = served.enter_context(discovered(llama_server()))
    settings = configured(den=Server(address=["http://127.0.0.1:9", here.address]))
    async with running(settings) as service:
        told = await (await service.client()).models.servers.models_of("den")
        assert told.hosts == ("127.0.0.1:9", here.address.removeprefix("http://"))
        assert told.models
        assert not told.error


async def test_a_server_that_was_added_elsewhere_since_is_known_to_all_faces(served: ExitStack) -> None:
    async with running(configured()) as service:
        one, other = await service.client(), await service.client()
        assert await one.models.servers.names() == ()
        configured(den=FAR)
        assert await one.models.servers.names() == ("den",)
        await other.models.ready()
        assert other.settings.servers == {"den": FAR}


async def test_what_runs_here_is_found_when_asked_for_once(served: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    server = served.enter_context(discovered(ollama()))
    port = int(server.address.rpartition(":")[2])
    monkeypatch.setattr(discovery, "USUAL_PORTS", {port: "Ollama"})
    monkeypatch.setattr(discovery, "PORT_S", 30.0)
    async with running(configured()) as service:
        client = await service.client()
        servers = client.models.servers
        assert await servers.names() == ()
        assert server.asked == []
        (found,) = await servers.found_here()
        assert found == FoundServer(
            "local",
            "Ollama",
            server.address,
            f"127.0.0.1:{port}",
            "openai",
            (ServedModel("nomic-embed-text:latest"), ServedModel("qwen3:8b")),
        )
        assert await servers.add(found.address, kind=found.kind) == "local"
        added = {"local": Server(address=server.address, kind="openai")}
        assert client.settings.servers == added
        assert load_settings(Home.resolve().config).servers == added
        assert await servers.found_here() == ()
        assert await servers.add(f"http://localhost:{port}/v1/") == "local"
        assert client.settings.servers == added


async def test_only_what_is_here_is_added_without_a_key() -> None:
    async with running(configured()) as service:
        client = await service.client()
        with pytest.raises(AddressRefused, match="another machine"):
            await client.models.servers.add("http://gpu.example:8080")
        assert load_settings(Home.resolve().config).servers == {}


async def test_where_the_model_is_crosses_with_the_status_and_with_the_health() -> None:
    settings = configured(den=FAR).model_copy(update={"model": "big@den"})
    async with running(settings, {"big@den": _chat("big@den")}) as service:
        client = await service.client()
        await client.models.ready()
        status = await client.status()
        assert (status.server, status.away) == (await client.models.servers.in_use(), ("gpu.example:8443",))
        assert status.server is not None
        assert status.server.name == "den"
        assert status.server.states == (ServerState("gpu.example:8443", away=True, kind="openai"),)
        health = await service.service._hall.health()
        assert (health["server"]["name"], health["away"]) == ("den", ["gpu.example:8443"])


async def test_a_model_here_has_no_server() -> None:
    async with running(configured()) as service:
        client = await service.client()
        await client.models.ready()
        status = await client.status()
        assert (status.server, status.away, await client.models.servers.in_use()) == (None, (), None)


async def told(client: AgentClient, kind: type[Notice]) -> Notice:
    """The next notice of a kind."""
    async for notice in client.notices():
        if isinstance(notice, kind):
            return notice
    raise AssertionError("it ended")


async def test_whoever_comes_later_is_told_that_words_leave_and_that_they_do_no_more() -> None:
    settings = configured(den=FAR).model_copy(update={"model": "big@den"})
    async with running(settings, {"big@den": Away("big@den", "gpu.example:8443")}) as service:
        first = await service.client()
        await first.models.ready()
        later = AgentClient(service.connect, Settings(), name="later")
        heard = later.notices()
        await later.start()
        standing = []
        async for notice in heard:
            standing.append(notice)
            if len([each for each in standing if isinstance(each, ModelReady | WordsLeave)]) == 2:
                break
        assert WordsLeave(("gpu.example:8443",)) in standing
        again = later.notices()
        await first.models.use("small")
        async for notice in again:
            if isinstance(notice, WordsLeave):
                assert notice.hosts == ()
                break
        await later.close()


async def test_a_judge_and_an_embedder_elsewhere_count_until_they_are_no_more_in_use() -> None:
    settings = configured(den=FAR, attic=Server(address=["http://localhost:1", "https://attic.example"]))
    async with running(settings.model_copy(update={"reflect": False})) as service:
        client = await service.client()
        await client.models.ready()
        away = [(await client.status()).away]
        for changed in ({"judge": "big@den"}, {"judge": "big@attic"}, {"judge": "small"}, {"fallback_model": "x@den"}):
            await client.use_settings(client.settings.model_copy(update=changed))
            away.append((await client.status()).away)
        assert away == [(), ("gpu.example:8443",), ("attic.example",), (), ("gpu.example:8443",)]


async def test_a_judge_that_cannot_be_used_gets_no_words() -> None:
    settings = configured(den=FAR).model_copy(update={"judge": "gone@den", "reflect": False})
    async with running(settings) as service:
        client = await service.client()
        await client.models.ready()
        assert (await client.status()).away == ("gpu.example:8443",)
        assert await service.agent.models.judge() is None
        assert (await client.status()).away == ()


def _chat(name: str) -> Generator:
    from models.servers.address import checked_address
    from models.servers.chat_completions import ChatServerGenerator
    from models.servers.client import ServerClient

    address = checked_address("den", "https://gpu.example:8443/v1", key="k")
    return ChatServerGenerator(ServerClient(address), model="big", name=name, context=8192)
