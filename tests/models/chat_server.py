"""A server of OpenAI's chat completions on the loopback address that answers, waits, breaks off and lies as told."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

MODEL = "tiny"
DONE = b"data: [DONE]\n\n"
PING = b": ping\n\n"


@dataclass(frozen=True)
class Request:
    """What was asked; the names of headers in small letters."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Scripted:
    """One answer. Between its parts it waits for the events among them; `cut` ends it without saying that it ends,
    `most` after so many bytes; of a `raw` one the parts are all that is sent, the head too."""

    parts: Iterable[bytes | asyncio.Event] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    most: int | None = None
    raw: bool = False


Script = Scripted | Callable[[Request], Scripted]


def counts(prompt: int, completion: int, *, cached: int | None = None) -> dict[str, Any]:
    """The chunk with the usage, as it comes behind the last of a text."""
    usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    if cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
    return {"object": "chat.completion.chunk", "model": MODEL, "choices": [], "usage": usage}


def line(value: Any) -> bytes:
    """An event as it is sent."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def event(content: str | None = None, *, finish: str | None = None, model: str | None = MODEL, **delta: Any) -> bytes:
    """A chunk of a stream as it is sent; more fields of its delta by their names."""
    said = delta if content is None else {"content": content, **delta}
    made = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": said, "finish_reason": finish}]}
    return line(made if model is None else made | {"model": model})


def said(*texts: str, finish: str = "stop", usage: dict[str, Any] | None = None) -> Scripted:
    """A usual reply: a text in so many chunks, each sent alone."""
    counted = [] if usage is None else [line(usage)]
    return Scripted([event(role="assistant"), *map(event, texts), event(finish=finish), *counted, DONE])


def refused(status: int, message: str = "", **headers: str) -> Scripted:
    """An error as OpenAI words it; headers with _ for -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Scripted([json.dumps({"error": {"message": message, "code": None}}).encode()], status, named)


class ChatServer:
    """A running one: `scripts` are its answers, in their order, and the last one for all that follows."""

    def __init__(self) -> None:
        self.address = ""
        self.scripts: list[Script] = []
        self.requests: list[Request] = []
        self.asked: asyncio.Queue[Request] = asyncio.Queue()
        self.left = asyncio.Event()  # somebody went away before his answer was whole
        self._running: set[asyncio.Task[None]] = set()

    @property
    def last(self) -> Any:
        return self.requests[-1].body

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def close(self) -> None:
        for task in [*self._running]:
            task.cancel()
            await asyncio.wait([task])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _request(reader)
            self.requests.append(request)
            self.asked.put_nowait(request)
            script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
            answer = script if isinstance(script, Scripted) else script(request)
            writing = asyncio.create_task(_write(writer, answer))
            gone = asyncio.create_task(reader.read())  # the client says nothing more: it ends with the connection
            try:
                await asyncio.wait([writing, gone], return_when=asyncio.FIRST_COMPLETED)
                if not writing.done() or writing.exception() is not None:
                    self.left.set()
            finally:
                for task in (writing, gone):
                    task.cancel()
                await asyncio.gather(writing, gone, return_exceptions=True)
        except asyncio.IncompleteReadError:
            return
        finally:
            writer.close()
            try:
                await writer.wait_closed()
            except ConnectionError:
                writer.transport.abort()


async def _request(reader: asyncio.StreamReader) -> Request:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (each.partition(":") for each in lines if each)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(first.split()[1], headers, json.loads(body) if body else None)


async def _write(writer: asyncio.StreamWriter, answer: Scripted) -> None:
    """The answer in HTTP chunks, one for each part; or as it is."""
    if answer.raw:
        await _write_raw(writer, answer.parts)
        return
    names = {"Content-Type": "text/event-stream", "Connection": "close", "Transfer-Encoding": "chunked"}
    head = "".join(f"{name}: {value}\r\n" for name, value in (names | answer.headers).items())
    writer.write(f"HTTP/1.1 {answer.status} Scripted\r\n{head}\r\n".encode())
    room = answer.most
    for part in answer.parts:
        if isinstance(part, asyncio.Event):
            await part.wait()
            continue
        sent = part if room is None else part[:room]
        if sent:
            writer.write(f"{len(sent):x}\r\n".encode() + sent + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)  # an answer without an end leaves the others their turn
        if room is not None:
            room -= len(sent)
            if not room:
                return
    if not answer.cut:
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _write_raw(writer: asyncio.StreamWriter, parts: Iterable[bytes | asyncio.Event]) -> None:
    for part in parts:
        if isinstance(part, asyncio.Event):
            await part.wait()
        else:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)


@asynccontextmanager
async def chat_server(*scripts: Script, port: int = 0) -> AsyncIterator[ChatServer]:
    """A running server with these answers; on any port that is free, if none is named."""
    site = ChatServer()
    site.scripts = list(scripts)
    server = await asyncio.start_server(site.serve, "127.0.0.1", port)
    site.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield site
    finally:
        server.close()
        await site.close()
        await server.wait_closed()


@contextmanager
def beside(*scripts: Script, port: int = 0) -> Iterator[ChatServer]:
    """The same in a thread of its own, for who asks it without letting this loop go on."""
    opened: Future[tuple[ChatServer, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        async with chat_server(*scripts, port=port) as site:
            over = asyncio.Event()
            opened.set_result((site, asyncio.get_running_loop(), over))
            await over.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    site, loop, over = opened.result()
    try:
        yield site
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
