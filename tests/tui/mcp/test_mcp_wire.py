"""The wire of `clew mcp`: broken, huge and given-up messages, and how it ends with its client."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pytest

from agent.home import Home
from graph.log.lock import holder
from tests.agent.test_recall import say
from tests.tui.mcp.conftest import Chat
from tui.mcp.lines import MOST_BYTES

pytestmark = pytest.mark.process

PATIENCE_S = 60.0
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


@dataclass
class Wire:
    """A server, and a client that says whatever it likes."""

    process: asyncio.subprocess.Process
    last: int = field(default=0)

    async def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        await self.process.stdin.drain()

    async def read(self) -> dict[str, Any]:
        """The next message; every line is one."""
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), PATIENCE_S)
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    async def begin(self, method: str, params: dict[str, Any]) -> int:
        self.last += 1
        await self.send(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}).encode())
        return self.last

    async def give_up(self, id: int) -> None:
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}
        await self.send(json.dumps(told).encode())

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request; what else comes before it is passed over."""
        id = await self.begin(method, params)
        while (message := await self.read()).get("id") != id:
            pass
        return message

    async def tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = (await self.call("tools/call", {"name": name, "arguments": arguments}))["result"]
        return answer

    async def told(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """What a tool answers, from the JSON in its text."""
        found: dict[str, Any] = json.loads((await self.tool(name, arguments))["content"][0]["text"])
        return found

    async def ended(self) -> int:
        return await asyncio.wait_for(self.process.wait(), PATIENCE_S)


async def started(home: Path, stdin: int | IO[bytes] = subprocess.PIPE) -> asyncio.subprocess.Process:
    command = (sys.executable, "-m", "tui", "--home", str(home), "mcp")
    streams: dict[str, Any] = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return await asyncio.create_subprocess_exec(*command, **streams, limit=64 << 20)


@asynccontextmanager
async def wired(home: Path) -> AsyncIterator[Wire]:
    process = await started(home)
    wire = Wire(process)
    try:
        hello = await wire.call("initialize", HELLO)
        assert hello["result"]["serverInfo"]["name"] == "clew"
        await wire.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        yield wire
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.fixture
async def told(chat: Chat) -> None:
    """A memory of one exchange."""
    async with chat() as agent:
        await say(agent, None, "My dog Biscuit is a brown beagle.")


@pytest.mark.usefixtures("told")
async def test_what_is_no_message_is_answered_or_passed_over_and_a_call_given_up_harmlessly(home: Path) -> None:
    async with wired(home) as wire:
        for line in (
            *(b"", b"no json", b"{", b"[]", b"{}", b"null", b"5", b'"text"', b"\xff\xfe\x00", b"[" * 100_000),
            *(b'{"jsonrpc": "2.0"}', b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}'),
            *(b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', b'{"jsonrpc": "2.0", "method": "nothing"}'),
            b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999}}',
            b'{"jsonrpc": "2.0", "id": 7777, "result": {}}',
            b'{"jsonrpc": "2.0", "id": 1e400, "method": "ping"}',
            b"x" * (MOST_BYTES + 5_000_000),
        ):
            await wire.send(line)
        assert (await wire.call("ping", {}))["result"] == {}
        unknown = await wire.call("tools/call", {"name": "erase", "arguments": {}})
        assert unknown["error"]["message"].startswith("Unknown tool 'erase'. Available tools: recall, recent,")
        for params in ({}, {"name": 5}, {"name": "recall", "arguments": []}, {"name": "recall", "arguments": "x"}):
            assert "error" in await wire.call("tools/call", params)
        assert "error" in await wire.call("nothing/known", {})
        long = await wire.tool("remember", {"text": "x" * 3_000_000})
        assert long["isError"]
        odd = await wire.told("recall", {"query": "beagle \x00\x1b[2J \U0010ffff", "limit": 1})
        assert len(odd["hits"]) == 1
        assert len((await wire.told("recent", {}))["exchanges"]) == 1

        slow = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a * b)"
        for _ in range(2):
            await wire.give_up(await wire.begin("tools/call", {"name": "query", "arguments": {"cypher": slow}}))
            assert (await wire.told("query", {"cypher": "MATCH (t:Turn) RETURN count(t)"}))["rows"] == [[2]]
        await wire.give_up(await wire.begin("tools/call", {"name": "recall", "arguments": {"query": "beagle"}}))
        assert len((await wire.told("recall", {"query": "beagle", "limit": 1}))["hits"]) == 1


@pytest.mark.parametrize("how", ["stdin", "both", "terminate", "interrupt"])
@pytest.mark.usefixtures("told")
async def test_it_ends_with_its_client_and_lets_go_of_the_memory(home: Path, chat: Chat, how: str) -> None:
    async with wired(home) as wire:
        await wire.tool("recall", {"query": "beagle"})
        await wire.begin("tools/call", {"name": "recall", "arguments": {"query": "Biscuit"}})
        assert wire.process.stdin is not None
        match how:
            case "stdin":
                wire.process.stdin.close()
            case "both":  # what a client that is killed leaves
                wire.process.stdin.close()
                wire.process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
            case "terminate":
                wire.process.send_signal(signal.SIGTERM)
            case "interrupt":
                wire.process.send_signal(signal.SIGINT)
        assert await wire.ended() in (0, 130)
        assert wire.process.stderr is not None
        assert b"Traceback" not in await wire.process.stderr.read()
    assert holder(Home.resolve(home).memory) is None
    async with chat() as agent:
        assert len(await agent.search.recent()) == 1


async def test_on_a_terminal_it_says_who_is_to_start_it_and_it_answers_a_file(home: Path, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    process = await started(home, theirs)
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == 2
    assert out == b""
    assert b'"args": ["mcp"]' in err

    begins = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    script = tmp_path / "script.jsonl"
    script.write_text(f'{json.dumps(begins)}\n{{"jsonrpc": "2.0", "method": "notifications/initialized"}}\n')
    with script.open("rb") as given:
        process = await started(home, given)
        out, _ = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert json.loads(out)["result"]["serverInfo"]["name"] == "clew"


@pytest.mark.usefixtures("told")
async def test_every_request_is_answered_whatever_is_wrong_with_it(home: Path) -> None:
    recall = {"name": "recall", "arguments": {"query": "a beagle, half \ud83d", "limit": 1}}
    long = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "x" * 5_000_000}, "id": "last"}
    async with wired(home) as wire:
        answer = await wire.call("tools/call", recall)
        assert not answer["result"]["isError"]
        for line, id, code in (
            (b'{"jsonrpc": "1.0", "id": 11, "method": "ping"}', 11, -32600),
            (b'{"jsonrpc": "2.0", "id": 12, "method": 5}', 12, -32600),
            (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
            (b'{"id": 13}', 13, -32600),
            (b'{"jsonrpc": "2.0", "id": 14, "method": "tools/call", "params": [1]}', 14, -32602),
            (b'{"jsonrpc": "2.0", "id": 15, "method": "ping", "params": {"a": NaN}}', 15, -32700),
            (b'{"jsonrpc": "2.0", "id": "16", "method": "ping", "params": {"id": 3', "16", -32700),
            (b'{"params": {"id": 3}, "id": 17, "method" "ping"}', 17, -32700),
            (json.dumps(long).encode(), "last", -32600),
        ):
            await wire.send(line)
            told = await wire.read()
            assert (told["id"], told["error"]["code"]) == (id, code), line[:80]
            assert "Nothing was done" in told["error"]["message"]
        assert (await wire.call("ping", {}))["result"] == {}
