"""What is asked of a model server over HTTP, and what it answers: JSON, or a stream of it.

Whatever a server does becomes one sentence: a status, a cut, silence, garbage, an answer without an end. No redirect is
followed, as words would go where nobody allowed them; no proxy of the environment is used, for the same reason. What a
server says of itself in an error is shown in part, as text, and never with the key.
"""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, contextmanager, suppress
from typing import Any

import httpx2

from models.errors import (
    EngineClosed,
    ServerBroken,
    ServerBusy,
    ServerError,
    ServerLost,
    ServerRefused,
    ServerUnreachable,
)
from models.servers.address import ServerAddress

CONNECT_S = 5.0
ANSWER_S = 60.0  # without a byte
LONGEST_LINE = 1 << 20  # bytes of one event of a stream
LONGEST_ANSWER = 64 << 20
MANY, MOST_VALUES = 8 << 20, 4_000_000  # bytes that may hold so many values; each takes a hundred bytes
AT_ONCE = 1 << 16  # bytes that are read as JSON in the event loop: about a millisecond
REASON_S = 5.0  # to say what is wrong, where the status is known
SHOWN, LONGEST_REASON = 200, 4000  # characters of what a server says
DONE: dict[str, Any] = {"[DONE]": True}  # the last event of a stream that says it is done
RETRY = "Your chats are safe. Try again, or choose another model (/model)."


class ServerClient:
    """Asks one server. `ask` blocks, for threads; the others are of the event loop that asked first."""

    def __init__(self, address: ServerAddress, *, answer_s: float = ANSWER_S) -> None:
        self.address = address
        self._how: dict[str, Any] = {
            "timeout": httpx2.Timeout(answer_s, connect=CONNECT_S),
            "trust_env": False,
            "follow_redirects": False,
            "verify": _verified_by(address),
            "headers": {"Authorization": f"Bearer {address.key}"} if address.key else {},
        }
        self._blocking = httpx2.Client(**self._how)
        self._streaming: httpx2.AsyncClient | None = None
        self._answer_s = answer_s
        self._closed = False

    def ask(self, path: str, body: dict[str, Any] | None = None, *, answer_s: float | None = None) -> Any:
        """What a GET, or with a body a POST, answers: JSON. Blocking. Raises ServerError."""
        wait_s = self._answer_s if answer_s is None else answer_s
        wait = httpx2.Timeout(wait_s, connect=min(wait_s, CONNECT_S))
        method, until = "GET" if body is None else "POST", time.monotonic() + wait_s
        self._check_open()
        with self._failures():
            url = self.address.url + path
            with self._blocking.stream(method, url, json=body, timeout=wait) as response:
                data = bytearray()
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > LONGEST_ANSWER or time.monotonic() > until:
                        raise self._broken("its answer has no end")
            self._check(response, bytes(data))
            return self._read(bytes(data))

    async def asked(self, path: str, body: dict[str, Any] | None = None, *, answer_s: float | None = None) -> Any:
        """The same from the event loop. Cancelled, it closes its connection. Raises ServerError."""
        wait_s = self._answer_s if answer_s is None else answer_s
        wait = httpx2.Timeout(wait_s, connect=min(wait_s, CONNECT_S))
        method, data = "GET" if body is None else "POST", bytearray()
        with self._failures():
            url, client = self.address.url + path, self._of_the_loop()
            async with asyncio.timeout(wait_s):  # also where it comes bit by bit
                async with client.stream(method, url, json=body, timeout=wait) as response:
                    async for piece in response.aiter_bytes():
                        data += piece
                        if len(data) > LONGEST_ANSWER:
                            raise self._broken("its answer has no end")
            self._check(response, bytes(data))
        return self._read(bytes(data)) if len(data) <= AT_ONCE else await asyncio.to_thread(self._read, bytes(data))

    async def stream(
        self, path: str, body: dict[str, Any], *, headers: dict[str, str] | None = None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a POST, each a JSON object, until the stream says that it is done, or ends.

        Closing it closes the connection, which is how a server is told to stop. Raises ServerError.
        """
        with self._failures():
            async with AsyncExitStack() as stack:
                asked = self._of_the_loop().stream("POST", self.address.url + path, json=body, headers=headers)
                async with asyncio.timeout(self._answer_s):  # also where its head comes bit by bit
                    response = await stack.enter_async_context(asked)
                if not response.is_success:
                    self._check(response, await _beginning(response.aiter_bytes(), min(self._answer_s, REASON_S)))
                async with aclosing(self._lines(response.aiter_bytes())) as lines:
                    async for line in lines:
                        if line == b"[DONE]":
                            yield DONE
                            return
                        event = self._read(line)
                        if not isinstance(event, dict):
                            raise self._broken("it sent what is no event of a reply")
                        if event.get("error"):
                            self._check_event(event["error"])
                        yield event

    def drop(self) -> None:
        """End the connections of `ask`; for a client that has streamed nothing. Idempotent."""
        self._closed = True
        self._blocking.close()

    async def close(self) -> None:
        """End all connections. Idempotent."""
        self.drop()
        if self._streaming is not None:
            await self._streaming.aclose()

    def _of_the_loop(self) -> httpx2.AsyncClient:
        self._check_open()
        if self._streaming is None:
            self._streaming = httpx2.AsyncClient(**self._how)
        return self._streaming

    def _check_open(self) -> None:
        if self._closed:
            raise EngineClosed

    async def _lines(self, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        """What stands behind `data:` in each line."""
        rest, heard = bytearray(), time.monotonic()
        async for piece in pieces:
            rest += piece
            *lines, rest = rest.split(b"\n") if b"\n" in piece else [rest]
            for line in lines:
                if line.startswith(b"data:"):
                    yield bytes(line[5:].strip())
                    heard = time.monotonic()
            if time.monotonic() - heard > self._answer_s:  # but signs of life
                raise ServerLost(self.address.name, "nothing came from it for too long", RETRY)
            if len(rest) > LONGEST_LINE:
                raise self._broken("it sent a line without an end")
        if rest.startswith(b"data:"):
            yield bytes(rest[5:].strip())

    def _read(self, data: bytes) -> Any:
        if len(data) > MANY and sum(map(data.count, b",[{")) > MOST_VALUES:
            raise self._broken(f"it answered with more than {MOST_VALUES:,} values")
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            shown = _cut(self._without_key(_line(data)))
            raise self._broken(f"what it answered is no JSON (“{shown}”)") from None

    def _check(self, response: httpx2.Response, said: bytes) -> None:
        """Raises ServerError for any status but success."""
        status = response.status_code
        if response.is_success:
            return
        if response.is_redirect:
            raise ServerRefused(
                self.address.name,
                "it sends to another address, which is not followed",
                "Put the right address into the settings; nothing was sent there.",
                status,
            )
        self._fail(status, _reason(said), _seconds(response.headers.get("retry-after")))

    def _check_event(self, error: Any) -> None:
        """Raises ServerError for an error that comes within a stream."""
        status = error.get("code") if isinstance(error, dict) else None
        self._fail(status if isinstance(status, int) else 500, _reason(json.dumps({"error": error}).encode()), None)

    def _fail(self, status: int, why: str, after_s: float | None) -> None:
        why = self._without_key(why)
        error = self._error(status, f" (“{_cut(why)}”)" if why else "", after_s)
        error.said = why
        raise error

    def _error(self, status: int, told: str, after_s: float | None) -> ServerError:
        name = self.address.name
        match status:
            case 401 | 403:
                what = "it does not take the key" if self.address.key else "it wants a key"
                then = f"Give it one (`clew models add` with --name {name}); your chats are safe."
                return ServerRefused(name, f"{what}{told}", then, status)
            case 429 | 503 | 529:
                return ServerBusy(name, f"it has too much to do{told}", after_s)
            case 404 | 405 | 501:
                then = f"`clew models test {name}` says what it can do."
                return ServerRefused(name, f"it has nothing of the kind{told}", then, status)
            case _ if 400 <= status < 500 and status != 408:
                return ServerRefused(name, f"it refused (HTTP {status}){told}", RETRY, status)
        return self._broken(f"it failed (HTTP {status}){told}")

    def _without_key(self, text: str) -> str:
        return text.replace(self.address.key, "…") if self.address.key else text

    def _broken(self, what: str) -> ServerBroken:
        return ServerBroken(self.address.name, what, RETRY)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """What the HTTP client raises, as ServerErrors."""
        name, host = self.address.name, self.address.host
        try:
            yield
        except ServerError:
            raise
        except httpx2.ConnectTimeout:
            raise ServerUnreachable(name, f"{host} did not answer within {CONNECT_S:.0f} s", RETRY) from None
        except httpx2.ConnectError as error:
            raise _unreachable(name, host, error) from None
        except (httpx2.TimeoutException, TimeoutError):
            raise ServerLost(name, "nothing came from it for too long", RETRY) from None
        except (UnicodeError, httpx2.InvalidURL):
            raise ServerUnreachable(name, f"{host} is no name of a computer", "Correct its address.") from None
        except httpx2.DecodingError:
            raise self._broken("what it answered cannot be unpacked") from None
        except (httpx2.HTTPError, httpx2.StreamError):
            raise ServerLost(name, "the connection ended in the middle", RETRY) from None


def _unreachable(name: str, host: str, error: Exception) -> ServerUnreachable:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return ServerUnreachable(name, f"nobody answers at {host}", "Start it, or choose another model (/model).")
    why = getattr(cause, "verify_message", "") or "no TLS"
    return ServerUnreachable(
        name,
        f"it cannot be told that {host} is who it says ({why})",
        "Nothing was sent. If its certificate is your own, name that file: `certificate` in the settings, or "
        "`clew models add --certificate FILE`.",
    )


def _verified_by(address: ServerAddress) -> ssl.SSLContext | bool:
    if address.certificate is None:
        return True
    try:
        return ssl.create_default_context(cafile=str(address.certificate))
    except (ssl.SSLError, OSError):
        what = f"its certificate {address.certificate} cannot be read"
        raise ServerUnreachable(address.name, what, "Correct the path in the settings; nothing was sent.") from None


async def _beginning(pieces: AsyncIterator[bytes], within_s: float) -> bytes:
    """What comes of an answer that says what is wrong, which may have no end, or end too early."""
    data = b""
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(within_s):
            async for piece in pieces:
                data += piece
                if len(data) > LONGEST_LINE:
                    break
    return data


def _reason(said: bytes) -> str:
    """What a server says of an error, on one line: its message first, then what it calls it."""
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        return _line(said)
    if isinstance(found, dict) and isinstance(found.get("error"), dict | str):
        found = found["error"]
    if not isinstance(found, dict):
        return _line((found if isinstance(found, str) else json.dumps(found)).encode())
    parts = [found.get(name) for name in ("message", "detail", "code", "type")]
    told = [each for each in parts if isinstance(each, str) and each]
    return _line((" · ".join(told) if told else json.dumps(found)).encode())


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _line(said: bytes) -> str:
    text = " ".join(said[:LONGEST_REASON].decode("utf-8", "replace").split())
    return "".join(each for each in text if each.isprintable())


def _seconds(text: str | None) -> float | None:
    """What Retry-After says, where that is seconds."""
    return float(text) if text is not None and text.isascii() and text.isdigit() else None
