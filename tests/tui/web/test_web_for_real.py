"""`clew web` as a process of its own, and behind its page a real chat: reached by its own address alone."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from tui.exit_codes import ExitCode
from tui.web import server

pytestmark = pytest.mark.process

PATIENCE_S = 60.0  # on a machine that has much else to do


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs, the address it printed, and a browser's part."""

    process: asyncio.subprocess.Process
    address: URL
    browser: aiohttp.ClientSession

    @property
    def origin(self) -> str:
        return str(self.address.origin())

    async def enter(self) -> URL:
        """Open the address that was printed; the page it leads to."""
        async with self.browser.get(self.address) as page:
            assert page.status == 200, await page.text()
            return page.url

    async def open(self, page: URL) -> aiohttp.ClientWebSocketResponse:
        """What the page's script does."""
        return await self.browser.ws_connect(
            URL(str(page / "ws").replace("http:", "ws:")) % {"width": 80, "height": 24}, origin=self.origin
        )


@asynccontextmanager
async def serving(home: Path) -> AsyncIterator[Served]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tui", "--home", str(home), "web", "--port", "0"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    address = URL((await asyncio.wait_for(process.stdout.readline(), PATIENCE_S)).decode().strip())
    jar = aiohttp.CookieJar(unsafe=True)  # of an address in numbers, as browsers do
    try:
        async with aiohttp.ClientSession(cookie_jar=jar) as browser:
            yield Served(process, address, browser)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        await asyncio.wait_for(process.communicate(), PATIENCE_S)


async def shown(page: aiohttp.ClientWebSocketResponse, words: str) -> str:
    """What the terminal is sent until it has these words, or all of it where the chat ends."""
    seen = ""
    async with asyncio.timeout(PATIENCE_S):
        async for message in page:
            seen += message.data.decode("utf-8", "replace") if message.type is aiohttp.WSMsgType.BINARY else ""
            if words in seen:
                break
    return seen


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def listening_on(port: str) -> list[str]:
    """The addresses at which somebody listens on a port, as /proc has them."""
    rows = [row.split() for table in ("tcp", "tcp6") for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    return [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{port}")]


async def ended(process: int) -> None:
    """Wait until the process of a descriptor has ended."""
    over = asyncio.Event()
    asyncio.get_running_loop().add_reader(process, over.set)
    await asyncio.wait_for(over.wait(), PATIENCE_S)
    asyncio.get_running_loop().remove_reader(process)
    os.close(process)


@pytest.fixture
def blank(tmp_path: Path, models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose name a shell would take apart; the models are there."""
    monkeypatch.setenv("CLEW_MODELS", str(models_folder))
    return tmp_path / "a home; touch 'x' $(y)"


async def test_the_page_shows_the_chat_passes_over_no_messages_and_they_go_together(blank: Path) -> None:
    async with serving(blank) as served:
        page = await served.enter()
        assert "token" not in str(page)
        opened = await served.open(page)
        assert "Say something" in await shown(opened, "Say something")
        strange = (
            *("no json", "{}", "[]", "[1, 2]", '["stdin"]', '["stdin", 5]', '["resize", {}]', "[" * 5000),
            *('["resize", {"width": "x", "height": 1e999}]', '["resize", {"width": -5, "height": 99999}]'),
            *('["stdin", "\\ud800"]', '["deliver"]'),
        )
        for data in strange:
            await opened.send_str(data)
        await opened.send_bytes(b"\x00\xff")
        await opened.send_json(["ping", "7"])
        async with asyncio.timeout(PATIENCE_S):
            while (message := await opened.receive()).type is not aiohttp.WSMsgType.TEXT:
                pass
        assert json.loads(message.data) == ["pong", "7"]
        await opened.send_json(["resize", {"width": 100, "height": 30}])
        for key in "tide pools":
            await opened.send_json(["stdin", key])
        assert "pools" in await shown(opened, "pools")
        (chat,) = map(os.pidfd_open, children(served.process.pid))
        assert (blank / "memory").is_dir()
        await opened.close()  # the page is closed
        await ended(chat)
        opened = await served.open(page)
        await shown(opened, "Say something")
        chat = os.pidfd_open(children(served.process.pid)[-1])
        served.process.kill()  # which takes its chats along
        await ended(chat)
    assert [path.name for path in blank.parent.iterdir() if path.name == "x"] == []


async def test_a_second_page_says_who_holds_the_memory_reloaded_it_has_it_ctrl_c_ends_all(blank: Path) -> None:
    async with serving(blank) as served:
        page = await served.enter()
        first = await served.open(page)
        await shown(first, "ready")
        second = await served.open(page)
        assert "This memory is in use by `clew (chat)`" in await shown(second, "in use by `clew (chat)`")
        assert (await second.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.BINARY)
        await second.close()
        await first.close()
        again = await served.open(page)
        assert "Say something" in await shown(again, "Say something")
        chat = os.pidfd_open(children(served.process.pid)[-1])
        served.process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(served.process.wait(), PATIENCE_S) == 0
        await ended(chat)


async def test_only_who_has_the_loopback_address_gets_in_and_the_page_loads_from_nowhere_else(blank: Path) -> None:
    async with serving(blank) as served:
        page = await served.enter()
        place, host = page.path, served.address.authority
        async with aiohttp.ClientSession() as stranger:

            async def status(path: str, **headers: str) -> int:
                async with stranger.get(
                    URL(served.origin + path, encoded=True), headers=headers, allow_redirects=False
                ) as answer:
                    await answer.read()
                    return answer.status

            assert await status("/") == 403
            assert await status("/?token=") == 403
            assert await status("/?token=" + "x" * 32) == 403
            assert await status("/nothing") == 404
            for known in (place, f"{place}ws", f"{place}focus.js", f"{place}static/js/textual.js"):
                assert await status(known) == 403
            cookie = {name: each.value for name, each in served.browser.cookie_jar.filter_cookies(page).items()}
            own = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookie.items())}
            assert await status(place, **own) == 200
            assert await status(f"{place}static/..%2f..%2fserver.py", **own) == 404
            assert await status(f"{place}static/", **own) in (403, 404)
            assert await status(place, **own, Host="clew.example") == 403  # a name that leads here
            assert await status(place, **own, Host="127.0.0.1") == 403
            assert await status(place, **own, Origin="http://clew.example") == 403
            assert await status("/?token=" + served.address.query["token"], Host="clew.example") == 403
            ws = f"{place}ws"
            upgrade = {"Upgrade": "websocket", "Connection": "Upgrade"}
            assert await status(ws, **own, **upgrade) == 403  # nobody says which page it is
            assert await status(ws, **own, **upgrade, Origin="null") == 403
            assert await status(ws, **own, **upgrade, Origin=f"http://{host.replace('127.0.0.1', '127.0.0.2')}") == 403
        assert served.browser.cookie_jar.filter_cookies(URL(served.origin)) == {}  # other paths do not get it
        assert children(served.process.pid) == []

        assert served.address.host == "127.0.0.1"
        port = f"{served.address.port:04X}"
        assert listening_on(port) == [f"0100007F:{port}"]
        async with served.browser.get(page) as answer:
            text = await answer.text()
            policy = answer.headers["Content-Security-Policy"]
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["X-Frame-Options"] == "DENY"
        assert "https:" not in text
        own_socket = f"ws://{page.authority}/"
        assert [word for word in text.split('"') if "//" in word and not word.startswith(own_socket)] == []
        assert "default-src 'none'" in policy
        assert policy.count("://") == 1
        for path in ("static/css/xterm.css", "static/js/textual.js", "static/fonts/RobotoMono-VariableFont_wght.ttf"):
            async with served.browser.get(page / path) as answer:
                assert answer.status == 200
                assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


NO_HTTP = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and so on\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\nno header\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: %s\r\nContent-Length: -1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
    b"GET http://[::1 HTTP/1.1\r\nHost: %s\r\n\r\n",
    b"GET //[ HTTP/1.1\r\nHost: %s\r\n\r\n",
    b"GET /?token=%%ff%%00 HTTP/1.1\r\nHost: %s\r\n\r\n",
    b"GET /?token=\xff\xfe HTTP/1.1\r\nHost: %s\r\n\r\n",
    b"GET " + b"/x" * 9000 + b" HTTP/1.1\r\nHost: %s\r\n\r\n",
    b"GET %s HTTP/1.1\r\nHost: %s\r\nCookie: clew-%d=\xff\xfe\r\n\r\n",
    b"GET %sstatic/%%00 HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n",
    b"GET %sstatic/%%ff HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n",
    b"GET %sws HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
)


async def test_what_is_no_http_is_answered_and_prints_no_traceback(blank: Path) -> None:
    async with serving(blank) as served:
        page = await served.enter()
        cookies = served.browser.cookie_jar.filter_cookies(page)
        known = {
            b"%s HTTP": page.path.encode() + b" HTTP",
            b"%sstatic": page.path.encode() + b"static",
            b"%sws": page.path.encode() + b"ws",
            b"Host: %s": b"Host: " + served.address.authority.encode(),
            b"Cookie: %s": b"Cookie: " + "; ".join(f"{name}={each.value}" for name, each in cookies.items()).encode(),
            b"%d": str(served.address.port).encode(),
            b"%%": b"%",
        }
        for request in NO_HTTP:
            for name, value in known.items():
                request = request.replace(name, value)
            answer = await answered(served.address, request)
            assert answer.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")), (request, answer)
        async with served.browser.get(page) as still:
            assert still.status == 200
        served.process.send_signal(signal.SIGINT)
        _, told = await asyncio.wait_for(served.process.communicate(), PATIENCE_S)
    assert told.decode().splitlines()[1:] == []


async def answered(address: URL, request: bytes) -> bytes:
    """The first line of what comes back for some bytes."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(request)
    try:
        return await asyncio.wait_for(reader.readline(), PATIENCE_S)
    finally:
        writer.close()


async def test_a_request_that_does_not_come_whole_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "REQUEST_S", 0.05)
    told: asyncio.Queue[str] = asyncio.Queue()
    serving = asyncio.create_task(server.serve(tmp_path, server.listen(0), told.put_nowait))
    address = URL(await asyncio.wait_for(told.get(), PATIENCE_S))
    for begun in (b"", b"GET / HTT", b"GET / HTTP/1.1\r\nHost: x\r\n"):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(begun)
        assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b"", begun
        writer.close()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


def web(home: Path, port: int) -> "subprocess.CompletedProcess[str]":
    """`clew web` where it cannot begin."""
    command = [sys.executable, "-m", "tui", "--home", str(home), "web", "--port", str(port)]
    environment = os.environ | {"NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, env=environment)


def test_a_port_that_is_taken_and_a_home_that_cannot_be_made_are_errors_and_nothing_is_served(blank: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = web(blank, port)
    assert (done.returncode, done.stdout) == (ExitCode.FAILED, "")
    assert f"Port {port} is already in use by another program. Nothing was started" in done.stderr
    assert "--port 0" in done.stderr

    (blank.parent / "file").write_text("")
    done = web(blank.parent / "file" / "home", 0)
    assert done.returncode == ExitCode.CANNOT_CREATE
    assert "cannot create its folder" in done.stderr
