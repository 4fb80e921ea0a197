"""A web server on the loopback address that answers as it is told to: bytes by hand, so that it can lie and stall."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: the path with what stands behind the ?, and the headers in small letters."""

    path: str
    headers: dict[str, str]


Answer = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Web:
    """What is served by path, and what was asked for; any name in `hosts` is this server."""

    port: int = 0
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    hosts: dict[str, list[str]] = field(default_factory=dict)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The address of something here."""
        return f"http://{host}:{self.port}{path}"

    async def resolve(self, host: str, port: int) -> list[str]:
        """As names are resolved where this is the network."""
        if host not in self.hosts:
            raise OSError("no such host")
        return self.hosts[host]

    def put(
        self,
        path: str,
        body: bytes | str,
        kind: str = "text/html; charset=utf-8",
        *,
        status: int = 200,
        packed: bool = False,
        **headers: str,
    ) -> None:
        """Serve a body."""
        data = body.encode() if isinstance(body, str) else body
        data = gzip.compress(data) if packed else data
        given = {"Content-Type": kind, **({"Content-Encoding": "gzip"} if packed else {})}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}

        async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
            tag = given.get("ETag")
            if tag is not None and asked.headers.get("if-none-match") == tag:
                writer.write(head(304, {"ETag": tag}) + b"")
                return
            writer.write(head(status, {**given, "Content-Length": str(len(data))}) + data)

        self.answers[path] = answer

    def put_json(self, path: str, value: Any, *, status: int = 200) -> None:
        """Serve JSON."""
        self.put(path, json.dumps(value), "application/json", status=status)

    def move(self, path: str, to: str, status: int = 302) -> None:
        """Have a path lead elsewhere."""
        self.put(path, "", status=status, Location=to)

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(each.path == path for each in self.asked)


def head(status: int, headers: dict[str, str]) -> bytes:
    """The head of an answer."""
    lines = [f"HTTP/1.1 {status} -", "Connection: close", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@asynccontextmanager
async def serving() -> AsyncIterator[Web]:
    """A server for as long as it is used."""
    web = Web(hosts={"127.0.0.1": ["127.0.0.1"]})

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.casefold(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
            asked = Asked(lines[0].split(" ")[1], headers)
            web.asked.append(asked)
            answer = web.answers.get(asked.path) or web.answers.get(asked.path.partition("?")[0])
            if answer is None:
                writer.write(head(404, {"Content-Length": "0"}))
            else:
                await answer(asked, writer)
            await writer.drain()
        with suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    web.port = server.sockets[0].getsockname()[1]
    async with server:
        yield web
        web.over.set()
