"""The web server: one page, on the loopback address, and behind each that is open a chat of its own, a process.

What a chat says on standard error when it ends, such as who holds the memory, is shown where its screen was.
"""

import asyncio
import contextlib
import json
import logging
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web
from aiohttp.http import HttpProcessingError
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from tui.exit_codes import ExitCode
from tui.text import shown
from tui.web.page import FOCUS, PAGE, Guard

READY = b"__GANGLION__\n"  # what Textual's driver for browsers begins with
CLEAN = "\x1b[?1049l\x1b[?1000l\x1b[?1003l\x1b[2J\x1b[H\x1b[?25l"  # the ordinary screen, empty, no mouse
MOST_WORDS = 64_000
QUIT_S, END_S = 8.0, 3.0  # for a chat to close its memory, and to end when it is told again


class ChatProcess(AppService):
    """One chat and the process it is; a page is at the other end."""

    def __init__(
        self,
        home: Path,
        *,
        write_bytes: Callable[[bytes], Awaitable[None]],
        write_str: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[object]],
    ) -> None:
        super().__init__(
            "clew",
            write_bytes=write_bytes,
            write_str=write_str,
            close=close,  # type: ignore[arg-type]
            download_manager=DownloadManager(),
        )
        self._home = home

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Start the chat, without a shell: nothing in the home folder's name means anything."""
        environment = self._build_environment(width, height) | {"TEXTUAL_DRIVER": "tui.web.driver:Driver"}
        environment.pop("TEXTUAL", None)
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "tui.web.child", str(self._home)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
            start_new_session=True,  # Ctrl+C is for us; we end the chat
        )
        self._stdin = self._process.stdin
        return self._process

    async def run(self) -> None:
        """Pass on what the chat shows, until it ends."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        words = asyncio.create_task(self._words(process))
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            line = await process.stdout.readline()
            while line and line != READY:
                line = await process.stdout.readline()
            while True:
                kind, size = await process.stdout.readexactly(1), await process.stdout.readexactly(4)
                payload = await process.stdout.readexactly(int.from_bytes(size, "big"))
                await self._pass_on(kind, payload)
        await process.wait()
        said = "\r\n".join(shown(line) for line in (await words).splitlines())
        with contextlib.suppress(ConnectionError):
            await self.remote_write_bytes(f"{CLEAN}{said}\r\n".encode())
            await self.remote_close()

    async def stop(self) -> None:
        """End the chat, and wait until it has closed its memory; at last by force."""
        task, self._task = self._task, None
        if task is None:
            return
        process = self._process
        assert process is not None
        await self.send_meta({"type": "quit"})
        self.stdin.close()
        for patience, harder in ((QUIT_S, process.terminate), (END_S, process.kill)):
            await asyncio.wait({task}, timeout=patience)
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    harder()
        await task

    async def _pass_on(self, kind: bytes, payload: bytes) -> None:
        if kind == b"D":
            await self.on_data(payload)
        elif kind == b"M" and json.loads(payload).get("type") == "open_url":
            await self.on_meta(payload)  # the others are of files to send, which no chat does, and of its end

    async def _words(self, process: Process) -> str:
        """The last of what it says on standard error."""
        assert process.stderr is not None
        said = b""
        while more := await process.stderr.read(4096):
            said = (said + more)[-MOST_WORDS:]
        return said.decode("utf-8", "replace")


logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
MOST_CHATS = 8
MOST_BYTES = 4 << 20  # of one message of a page: a paste
HEARTBEAT_S = 15.0
REQUEST_S = 15.0  # for a request to be there whole, and until the next one on its connection
LARGEST = 1000  # columns or lines
FONT_SIZE = 16
FULL = f"\r\n  {MOST_CHATS} clew pages are already open. Close one, then reload this page.\r\n"


class WebApp:
    """The application: what is served, and the chats that are open."""

    def __init__(self, home: Path, guard: Guard) -> None:
        self._home = home
        self._guard = guard
        self._chats: set[ChatProcess] = set()
        self._pages: set[web.WebSocketResponse] = set()
        self._ending: set[asyncio.Task[None]] = set()

    def application(self) -> web.Application:
        """As aiohttp runs it."""
        application = web.Application(middlewares=[self._guard.middleware])
        application.on_response_prepare.append(self._guard.protect)
        application.on_shutdown.append(self._close)
        place = self._guard.place
        static = str(files("textual_serve") / "static")
        application.router.add_get("/", _nothing)  # the guard answers
        application.router.add_get(place, self._page)
        application.router.add_get(f"{place}focus.js", _focus)
        application.router.add_get(f"{place}ws", self._chat)
        application.router.add_static(f"{place}static", static)
        return application

    async def _page(self, request: web.Request) -> web.Response:
        websocket = f"ws://{request.host}{self._guard.place}ws"
        text = PAGE.substitute(websocket=escape(websocket), font_size=FONT_SIZE)
        return web.Response(text=text, content_type="text/html")

    async def _chat(self, request: web.Request) -> web.WebSocketResponse:
        page = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=MOST_BYTES)
        await page.prepare(request)
        self._pages.add(page)
        try:
            if self._ending:  # a page that is loaded again comes back to the memory that it just left
                await asyncio.wait(set(self._ending))
            if len(self._chats) >= MOST_CHATS:
                await page.send_bytes(FULL.encode())
                await page.close()
                return page
            await self._talk(page, _size(request.query.get("width"), 80), _size(request.query.get("height"), 24))
        finally:
            self._pages.discard(page)
        return page

    async def _talk(self, page: web.WebSocketResponse, width: int, height: int) -> None:
        chat = ChatProcess(self._home, write_bytes=page.send_bytes, write_str=page.send_str, close=page.close)
        self._chats.add(chat)
        try:
            await chat.start(width, height)
            async for message in page:
                if message.type is WSMsgType.TEXT:
                    await _take(chat, page, message.data)
        finally:
            stopping = asyncio.create_task(self._stop(chat))
            self._ending.add(stopping)
            stopping.add_done_callback(self._ending.discard)
            await asyncio.shield(stopping)

    async def _stop(self, chat: ChatProcess) -> None:
        await chat.stop()
        self._chats.discard(chat)

    async def _close(self, application: web.Application) -> None:
        """The end of the server is the end of the chats."""
        for page in list(self._pages):
            await page.close(code=1001, message=b"clew web is closing")
        if self._ending:
            await asyncio.wait(set(self._ending))


async def _take(chat: ChatProcess, page: web.WebSocketResponse, data: str) -> None:
    """One message of a page; what is none is passed over."""
    try:
        match json.loads(data):
            case ["stdin", str() as typed]:
                await chat.send_bytes(typed.encode("utf-8", "replace"))
            case ["resize", {"width": width, "height": height}]:
                await chat.set_terminal_size(_size(width, 80), _size(height, 24))
            case ["ping", str() as sent]:
                await page.send_json(["pong", sent[:40]])
            case ["focus", *_]:
                await chat.focus()
            case ["blur", *_]:
                await chat.blur()
            case _:
                pass
    except (ValueError, RecursionError):
        return


def _size(given: Any, otherwise: int) -> int:
    try:
        return max(1, min(int(given), LARGEST))
    except (TypeError, ValueError, OverflowError):
        return otherwise


async def _focus(request: web.Request) -> web.Response:
    return web.Response(text=FOCUS, content_type="text/javascript")


async def _nothing(request: web.Request) -> web.StreamResponse:
    raise web.HTTPNotFound


def listen(port: int) -> socket.socket:
    """A socket on the loopback address; port 0 is any that is free. Raises OSError."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen(64)
    except OSError:
        listening.close()
        raise
    return listening


def _is_of_the_server(record: logging.LogRecord) -> bool:
    """Whether a fault is one of the server; those of whoever asks are answered to them, and told to nobody else."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError | web.RequestPayloadError | ConnectionError)


async def serve(home: Path, listening: socket.socket, tell: Callable[[str], None]) -> ExitCode:
    """Serve until a signal ends it, and then end every chat; the exit code. `tell` is given the address to open."""
    guard = Guard(listening.getsockname()[1])
    logger.addFilter(_is_of_the_server)
    runner = web.AppRunner(
        WebApp(home, guard).application(),
        access_log=None,
        logger=logger,
        keepalive_timeout=REQUEST_S,
        shutdown_timeout=1.0,
    )
    await runner.setup()
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[ExitCode] = loop.create_future()

    def end(code: ExitCode) -> None:
        if not ended.done():
            ended.set_result(code)

    for number, code in (
        (signal.SIGINT, ExitCode.OK),  # as it says that it is ended
        (signal.SIGTERM, ExitCode.TERMINATED),
        (signal.SIGHUP, ExitCode.HANGUP),
    ):
        loop.add_signal_handler(number, end, code)
    try:
        await web.SockSite(runner, listening).start()
        tell(guard.address)
        return await ended
    finally:
        await runner.cleanup()
