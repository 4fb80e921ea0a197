"""The web server: one page on the loopback address, who may see it, and behind each that is open a chat of its own.

Other users of the machine do not know the token. Other pages in the same browser do not get the cookie, which is of a
path that nobody else knows; their requests name another Origin. A foreign name that leads to this machine (DNS
rebinding) is another Host. The page itself may load nothing from elsewhere, which the browser sees to.

What a chat says on standard error when it ends, such as who holds the memory, is shown where its screen was.
"""

import asyncio
import contextlib
import json
import logging
import secrets
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from hmac import compare_digest
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from aiohttp import WSMsgType, web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Handler, Middleware
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from tui.exit_codes import ExitCode
from tui.text import shown

TOKEN = "token"
ASK = "Open the address printed by `clew web`, including its token, to use clew in this browser.\n"
ELSEWHERE = "This is not clew's address. Open the one printed by `clew web`.\n"


class Guard:
    """The secrets of one run, and the check of every request; `port` is where it listens."""

    def __init__(self, port: int) -> None:
        self._hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
        self._token = secrets.token_urlsafe(24)
        self._key = secrets.token_urlsafe(24)
        self._cookie = f"clew-{port}"
        self.place = f"/{secrets.token_urlsafe(12)}/"
        self.address = f"http://127.0.0.1:{port}/?{TOKEN}={self._token}"

    @property
    def middleware(self) -> Middleware:
        """The check, as aiohttp has it."""

        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            self._require(request)
            if request.path == "/":
                return self._enter(request)
            return await handler(request)

        return check

    async def protect(self, request: web.Request, response: web.StreamResponse) -> None:
        """What every answer says to the browser: load nothing from elsewhere, be in no frame, tell nobody."""
        host = _host(request)
        socket = f" ws://{host}" if host in self._hosts else ""
        response.headers.update(
            {
                "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
                f"font-src 'self'; img-src 'self' data: blob:; connect-src 'self'{socket}; "
                "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                "Cross-Origin-Opener-Policy": "same-origin",
                "Cross-Origin-Resource-Policy": "same-origin",
                "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
                "X-Frame-Options": "DENY",
                "Cache-Control": "no-store",
            }
        )

    def _require(self, request: web.Request) -> None:
        """Raise HTTPForbidden or HTTPNotFound unless a request may be answered."""
        host = _host(request)
        if host not in self._hosts:
            raise web.HTTPForbidden(text=ELSEWHERE)
        origin = request.headers.get("Origin")
        by_page = request.headers.get("Upgrade") is not None  # browsers name the page that opens a websocket
        if (origin is not None or by_page) and origin != f"http://{host}":
            raise web.HTTPForbidden(text=ELSEWHERE)
        if request.path == "/":
            return
        if not request.path.startswith(self.place):
            raise web.HTTPNotFound(text=ELSEWHERE)
        if not _same(request.cookies.get(self._cookie, ""), self._key):
            raise web.HTTPForbidden(text=ASK)

    def _enter(self, request: web.Request) -> web.Response:
        """The token is given for the cookie, and leaves the address."""
        if not _same(request.query.get(TOKEN, ""), self._token):
            raise web.HTTPForbidden(text=ASK)
        entered = web.Response(status=303, headers={"Location": self.place})
        entered.set_cookie(self._cookie, self._key, path=self.place, httponly=True, samesite="Lax")
        return entered


def _host(request: web.Request) -> str:
    """Who was asked for; without a header `request.host` would ask the network for the name of this machine."""
    return request.headers.get("Host", "")


def _same(given: str, secret: str) -> bool:
    """Whether a secret was given, whatever bytes came in its place."""
    return compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode())


PAGE = Template("""<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>clew</title>
    <link rel="icon" href="data:," />
    <link rel="preload" href="static/fonts/RobotoMono-VariableFont_wght.ttf" as="font" type="font/ttf" crossorigin />
    <link rel="stylesheet" href="static/css/xterm.css" />
    <style>
      @font-face {
        font-family: "Roboto Mono";
        src: url("static/fonts/RobotoMono-VariableFont_wght.ttf") format("truetype");
        font-weight: 100 700;
      }
      @font-face {
        font-family: "Roboto Mono";
        src: url("static/fonts/RobotoMono-Italic-VariableFont_wght.ttf") format("truetype");
        font-weight: 100 700;
        font-style: italic;
      }
      html,
      body {
        margin: 0;
        height: 100%;
        overflow: hidden;
        background: #121212;
        color: #e0e0e0;
        font-family: "Roboto Mono", Monaco, "Courier New", monospace;
      }
      #terminal {
        width: 100vw;
        height: 100vh;
        opacity: 0;
      }
      body.-first-byte #terminal {
        opacity: 1;
      }
      #opening,
      #ended {
        position: absolute;
        left: 0;
        right: 0;
        padding: 1em;
        z-index: 10;
        text-align: center;
      }
      #opening {
        top: 40%;
      }
      body.-first-byte #opening,
      body.-closed #opening {
        display: none;
      }
      #ended {
        display: none;
        bottom: 0;
        background: #2a2a2a;
      }
      body.-closed #ended {
        display: block;
      }
      a {
        color: #ffd166;
      }
      #start {
        display: none;
      }
    </style>
    <script src="static/js/textual.js"></script>
    <script src="focus.js"></script>
  </head>
  <body>
    <div id="opening">clew is opening …</div>
    <div id="ended">This chat is closed; everything said in it is kept. <a href="./">Open clew again</a></div>
    <div id="start"></div>
    <div
      id="terminal"
      class="textual-terminal"
      data-session-websocket-url="$websocket"
      data-font-size="$font_size"
    ></div>
  </body>
</html>
""")

FOCUS = """// What is typed is for the terminal from the start: without a click, and again after one beside it.
const focus = () => document.querySelector(".xterm-helper-textarea")?.focus();
window.addEventListener("load", focus);
window.addEventListener("focus", focus);
"""


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
