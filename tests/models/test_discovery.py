"""What a server is and can do, by scripted servers of each kind, and by such as answer nonsense."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import Any

import pytest

from models.errors import ServerBusy, ServerError, ServerLost, ServerRefused, ServerUnreachable
from models.servers import discovery
from models.servers.address import checked_address
from models.servers.client import ServerClient
from models.servers.discovery import ServedModel, ServerReport, found_at, model_name, usual_ports
from models.servers.trial import Findings
from models.servers.trial import tested as findings_of
from tests.models.discovered_server import Discovered, discovered, listing, llama_server, lm_studio, ollama

KEY = "sk-very-secret"
Serve = Callable[[Discovered], Discovered]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Have a server listen for as long as the test goes on."""
    with ExitStack() as stack:
        yield lambda server: stack.enter_context(discovered(server))


def asking(url: str, *, key: str = "") -> ServerReport:
    """What is found at an address."""
    client = ServerClient(checked_address("den", url, key=key), answer_s=5)
    try:
        return found_at(client)
    finally:
        asyncio.run(client.close())


def trying(url: str, report: ServerReport | None = None) -> Findings:
    """What works with the first model of a server, which is found unless it was reported."""

    async def ask() -> Findings:
        client = ServerClient(checked_address("den", url), answer_s=5)
        try:
            found = report or await asyncio.to_thread(found_at, client)
            assert found is not None
            return await findings_of(client, found, found.models[0].name)
        finally:
            await client.close()

    return asyncio.run(ask())


def test_a_llama_server_is_asked_natively_or_with_its_v1_as_an_openai_compatible_one(serve: Serve) -> None:
    server = serve(llama_server())
    report = asking(server.address)
    assert (report.kind, report.product, report.base) == ("llama", "llama-server", server.address)
    assert (report.slots, report.build) == (2, "b6000-abc")
    # Its model is called by its file.
    assert report.models == (ServedModel("Small-Chat.Q4_1", 4096, 96_576_768),)
    report = asking(f"{server.address}/v1/")
    assert (report.kind, report.product, report.base) == ("openai", "llama-server", f"{server.address}/v1")
    assert report.models[0].name == "Small-Chat.Q4_1"


@pytest.mark.parametrize(
    ("made", "product", "model", "build"),
    [
        (ollama(), "Ollama", ServedModel("qwen3:8b", None, 5_200_000_000), "0.12.3"),
        (lm_studio(), "LM Studio", ServedModel("qwen2.5-7b", 8192, None), ""),
        (listing("vllm", max_model_len=32768), "vLLM", ServedModel("m/one", 32768, None), ""),
        (listing("sglang", max_model_len=True), "SGLang", ServedModel("m/one", None, None), ""),
        (listing("somebody"), "OpenAI-compatible", ServedModel("m/one", None, None), ""),
    ],
)
def test_products_are_told_apart(serve: Serve, made: Discovered, product: str, model: ServedModel, build: str) -> None:
    server = serve(made)
    report = asking(server.address)
    assert (report.kind, report.product, report.build) == ("openai", product, build)
    assert (report.base, report.prefix) == (f"{server.address}/v1", "/v1")
    assert report.models[-1] == model


def test_a_gateway_without_v1_is_found_below_its_own_path(serve: Serve) -> None:
    server = serve(Discovered(pages={"/v1beta/openai/models": {"data": [{"id": "m"}]}}))
    report = asking(f"{server.address}/v1beta/openai/")
    assert (report.base, report.prefix) == (f"{server.address}/v1beta/openai", "")
    assert trying(report.base, report).schema == "yes"


def test_what_is_no_model_server_is_said_to_be_none(serve: Serve) -> None:
    server = serve(Discovered())
    every: tuple[dict[str, Any], ...] = (
        {},
        {"/props": b"<html>hello</html>", "/v1/models": b"<html>hello</html>"},
        {"/props": [], "/api/version": "3", "/v1/models": {"data": "many"}, "/models": None},
        {"/props": {"default_generation_settings": [], "total_slots": "two"}, "/v1/models": {"models": []}},
        {"/props": {"default_generation_settings": {"n_ctx": 0}, "total_slots": 0}},
        {"/api/v0/models": {"data": [{"id": 3, "type": 4}, "x"]}},
    )
    for pages in every:
        server.pages = pages
        with pytest.raises(ServerRefused, match="neither as a llama-server nor as an OpenAI-compatible") as raised:
            asking(server.address)
        assert "Nothing was changed" in str(raised.value)


def test_models_in_wrong_shapes_are_left_out_and_the_others_stay(serve: Serve) -> None:
    odd: list[Any] = [{"id": 3}, "x", {"id": ""}, {"id": "y" * 300}, None, {"id": "good", "meta": "none"}]
    server = serve(Discovered(pages={"/v1/models": {"data": odd}}))
    assert asking(server.address).models == (ServedModel("good"),)
    server.pages = {"/api/version": {"version": "1"}, "/v1/models": {"data": None}}
    report = asking(server.address)
    assert (report.product, report.models) == ("Ollama", ())


@pytest.mark.parametrize("made", [llama_server, ollama])
def test_a_wrong_key_is_said_and_never_shown(serve: Serve, made: Callable[[], Discovered]) -> None:
    server = replace(made(), key="another")
    with pytest.raises(ServerRefused, match="does not take the key") as raised:
        asking(serve(server).address, key=KEY)
    assert KEY not in f"{raised.value!r} {raised.value}"
    assert all(each.authorization == f"Bearer {KEY}" for each in server.asked)


def test_a_server_that_wants_its_key_or_sends_elsewhere_or_still_loads_is_told(serve: Serve) -> None:
    server = serve(llama_server())
    server.failing = {"/props": 401}  # its models it lists to everybody
    with pytest.raises(ServerRefused) as raised:
        asking(server.address)
    assert raised.value.status == 401
    server.failing = {"/health": 503}
    with pytest.raises(ServerBusy):
        asking(server.address)
    server.pages, server.failing = {}, {"/v1/models": 307, "/models": 307}
    with pytest.raises(ServerRefused, match="sends to another address"):
        asking(server.address)


def test_nobody_at_the_address_is_told() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(ServerUnreachable, match="nobody answers"):
            asking(f"http://127.0.0.1:{port}")


def test_one_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = ServerClient(checked_address("den", f"http://127.0.0.1:{silent.getsockname()[1]}"), answer_s=0.1)
        try:
            with pytest.raises(ServerLost):
                found_at(client, within_s=0.1)
        finally:
            asyncio.run(client.close())


def test_the_models_path_is_no_part_of_a_name_but_where_the_server_wants_it_so(serve: Serve) -> None:
    assert model_name("/srv/a/Small.Q4_1.gguf") == "Small.Q4_1"
    assert model_name("C:\\models\\Small.gguf") == "Small"
    assert model_name("owner/repo:Q4_K_M") == "owner/repo:Q4_K_M"
    server = Discovered(pages={"/v1/models": {"data": [{"id": "/srv/x.gguf", "owned_by": "vllm"}]}})
    assert asking(serve(server).address).models[0].name == "/srv/x.gguf"


def test_everything_works_on_a_good_llama_server_and_what_an_ollama_does_not_tell_is_not_told(serve: Serve) -> None:
    found = trying(serve(llama_server()).address)
    assert set(asdict(found).values()) == {"yes"}
    found = trying(serve(ollama()).address)
    assert (found.stream, found.usage, found.schema, found.cache) == ("yes", "yes", "yes", "not told")
    assert (found.counts, found.slots) == ("not told", "not told")


@pytest.mark.parametrize(
    ("change", "name", "value"),
    [
        ({"usage": False}, "usage", "no"),
        ({"options": False}, "usage", "no"),
        ({"cached": 0}, "cache", "no"),
        ({"cached": None}, "cache", "not told"),
        ({"schema": False}, "schema", "no"),
        ({"calls": False}, "tools", "not told"),
        ({"embeds": False}, "embeddings", "no"),
        ({"forgets": True}, "counts", "no"),
        ({"failing": {"/slots": 501}}, "slots", "no"),
    ],
)
def test_what_a_server_cannot_do_is_found(serve: Serve, change: dict[str, Any], name: str, value: str) -> None:
    found = asdict(trying(serve(replace(llama_server(), **change)).address))
    assert found[name] == value
    assert found["stream"] == "yes"


def test_a_model_that_says_nothing_is_an_error(serve: Serve) -> None:
    with pytest.raises(ServerError, match="sent nothing that can be read"):
        trying(serve(replace(llama_server(), says="")).address)


def test_only_listeners_on_the_usual_ports_are_reported(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def port(server: Discovered) -> int:
        return int(server.address.rpartition(":")[2])

    there, no_server = serve(ollama()), serve(Discovered())
    with socket.create_server(("127.0.0.1", 0)) as silent, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        ports = (port(there), port(no_server), silent.getsockname()[1], free.getsockname()[1])
        monkeypatch.setattr(discovery, "USUAL_PORTS", dict.fromkeys(ports, "one"))
        assert [each.product for each in usual_ports()] == ["Ollama"]
