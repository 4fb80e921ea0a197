"""What is known of the servers behind a generator without asking, and what a llama-server adds of its slots."""

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest

from models.errors import ServerUnreachable
from models.protocols import Generator
from models.servers.address import checked_address
from models.servers.chat_completions import ChatServerGenerator
from models.servers.client import ServerClient
from models.servers.llama_generator import LlamaServerGenerator, connect_llama
from models.servers.pool import Member, PoolGenerator
from models.servers.state import ServerState, asked_states, server_states
from tests.fakes import FakeGenerator
from tests.models.chat_server import ChatServer, Scripted, beside, refused
from tests.models.scripted_llama import ScriptedLlama


def slots(*busy: bool) -> Scripted:
    """What a llama-server says of its slots."""
    told = [{"id": place, "is_processing": each} for place, each in enumerate(busy)]
    return Scripted([json.dumps(told).encode()])


def llama(site: ChatServer) -> LlamaServerGenerator:
    address = checked_address("den", site.address.removesuffix("/v1"))
    return connect_llama(ServerClient(address), name="tiny@den", context=4096)


def chat(url: str) -> ChatServerGenerator:
    address = checked_address("den", url, key="k", insecure=True)
    return ChatServerGenerator(ServerClient(address), model="tiny", name="tiny@den", context=4096)


def nobody() -> Generator:
    raise ServerUnreachable("den", "nobody answers there", "Start it.")


async def closed(generators: Sequence[Generator]) -> None:
    for each in generators:
        await each.close()


async def test_a_model_on_this_disk_has_no_server() -> None:
    assert server_states(FakeGenerator()) == ()
    assert await asked_states(FakeGenerator()) == ()


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (slots(True, False, False), (1, 3)),
        (slots(True, True), (2, 2)),
        (refused(501, "start it with --slots"), (None, None)),
        (Scripted([b"[]"]), (None, None)),
        (Scripted([b'{"slots": 3}']), (None, None)),
    ],
)
async def test_a_llama_server_tells_its_busy_slots_or_not(page: Scripted, told: tuple[int | None, int | None]) -> None:
    server = ScriptedLlama()
    with beside(server.answer) as site:
        generator = llama(site)
        host = site.address.removeprefix("http://").removesuffix("/v1")
        assert server_states(generator) == (ServerState(host, away=False, kind="llama"),)
        asked = len(site.requests)
        server.pages["/slots"] = page
        (state,) = await asked_states(generator)
        assert (state.busy, state.slots, state.why) == (*told, "")
        assert state.full is (told == (2, 2))
        assert [each.path for each in site.requests[asked:]] == ["/slots"]
        await generator.close()


async def test_one_that_does_not_answer_says_why() -> None:
    with beside(ScriptedLlama().answer) as site:
        generator = llama(site)
    (state,) = await asked_states(generator)
    assert "nobody answers" in state.why
    await generator.close()


async def test_one_in_openais_manner_is_asked_nothing_and_where_it_is_alone_its_host_is_given() -> None:
    away, here = chat("https://gpu.example:8443/v1"), chat("http://localhost:1/v1")
    assert await asked_states(away) == (ServerState("gpu.example:8443", away=True, kind="openai"),)
    assert await asked_states(here, "localhost:1") == (ServerState("localhost:1", away=False, kind="openai"),)
    await closed((away, here))


async def test_of_a_pool_each_is_told_and_one_that_is_left_alone_is_not_asked() -> None:
    server = ScriptedLlama()
    with beside(server.answer) as site:
        host = site.address.removeprefix("http://").removesuffix("/v1")
        server.pages["/slots"] = slots(True, False)
        well, resting = llama(site), llama(site)
        pool = PoolGenerator(
            [
                Member(host, nobody, well),
                Member("gpu.example:8443", nobody, resting, time.monotonic() + 1000, "it has too much to do"),
                Member("[::1]:9", nobody, why="nobody answers at [::1]:9"),
                Member("10.0.0.9", nobody),
            ]
        )
        asked = len(site.requests)
        states = await asked_states(pool)
        assert states == (
            ServerState(host, away=False, kind="llama", busy=1, slots=2),
            ServerState("gpu.example:8443", away=True, kind="llama", why="it has too much to do"),
            ServerState("[::1]:9", away=False, why="nobody answers at [::1]:9"),
            ServerState("10.0.0.9", away=True, why="it was not needed yet"),
        )
        assert len(site.requests) == asked + 1
        await pool.close()


def test_a_state_crosses_as_values() -> None:
    from pydantic import TypeAdapter

    kept: TypeAdapter[Any] = TypeAdapter(ServerState)
    state = ServerState("den:1", True, "llama", "why", 1, 2)
    assert kept.validate_python(kept.dump_python(state, mode="json")) == state
