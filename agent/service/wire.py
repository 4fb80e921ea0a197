"""One connection to a service, from the side of whoever asks. It needs little: what only asks is there at once."""

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent.service.address import check, keep_files_here
from agent.service.protocol import (
    HANDSHAKE_S,
    LONGEST_LINE,
    PROTOCOL,
    Message,
    ServiceError,
    ServiceLost,
    notification,
    request,
)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
LOST = "The service that held the memory has ended. What was said is safe."
CUT = "The service ended before the reply was there. What came of it is kept. Ask again to go on."
SILENT = "The service that holds the memory does not answer. Nothing was changed. `clew serve --stop` ends it."


async def streams_to(path: Path) -> Streams:
    """A connection to the socket at a path. Raises OSError, and ServiceError where another user listens there."""
    streams = await asyncio.open_unix_connection(str(path), limit=LONGEST_LINE)
    try:
        check(streams[1].get_extra_info("socket"), path)
    except ServiceError:
        streams[1].close()
        raise
    return streams


class Wire(asyncio.Protocol):
    """One connection to a service: requests, their answers, and what is told meanwhile.

    Lines are taken as they come, without a task that waits for them: tokens are many.
    """

    def __init__(self, streams: Streams) -> None:
        self._streams = streams  # without anybody who has its reader, a transport is closed
        self._transport = streams[1].transport
        self._transport.set_protocol(self)
        self._begun: list[bytes] = []  # of a line that has not come to its end
        self._length = 0
        self._number = 0
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._events: dict[int, Callable[[Message], None]] = {}
        self.beside: Callable[[str, Message], None] = lambda method, params: None
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def hello(self, *, name: str, kind: str) -> Message:
        """Say who this is, and begin to listen. Raises ServiceError, also where nobody answers in time."""
        asked = {"protocol": PROTOCOL, "name": name, "kind": kind, "pid": os.getpid()}
        try:
            async with asyncio.timeout(HANDSHAKE_S):
                return dict(await self.ask("hello", asked))
        except TimeoutError as late:
            raise ServiceLost(SILENT) from late

    async def ask(self, method: str, params: Message, told: Callable[[Message], None] | None = None) -> Any:
        """What a method answers; `told` is given what is told of it before. Raises what it raises, or ServiceLost."""
        return await self.begin(method, params, told)

    def begin(self, method: str, params: Message, told: Callable[[Message], None] | None = None) -> asyncio.Future[Any]:
        """Ask, before whatever is asked later; the answer to come. Cancelled, it is given up. Raises ServiceLost."""
        if self.lost.done():
            raise ServiceLost(LOST)
        self._number += 1
        number = self._number
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda _: self._over(number))
        try:
            keep_files_here(method, params)
        except ServiceError as error:
            answer.set_exception(error)
            return answer
        if told is not None:
            self._events[number] = told
        self._transport.write(request(number, method, params))
        return answer

    def _over(self, number: int) -> None:
        answer = self._answers.pop(number)
        self._events.pop(number, None)
        if answer.cancelled() and not self._transport.is_closing():
            self._transport.write(notification("cancel", {"id": number}))

    async def close(self) -> None:
        """Take leave."""
        self._transport.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await asyncio.shield(self.lost)
                return
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """More of what is told."""
        *lines, rest = data.split(b"\n")
        self._length = len(rest) if lines else self._length + len(rest)
        if self._length > LONGEST_LINE:
            self._transport.abort()  # no answer is as long
            return
        if lines:
            lines[0] = b"".join((*self._begun, lines[0]))
            self._begun.clear()
        self._begun.append(rest)
        try:
            for line in lines:
                self._take(json.loads(line))
        except ValueError:
            self._transport.abort()  # what cannot be read is as good as gone

    def connection_lost(self, error: Exception | None) -> None:
        """It is gone: nobody answers any more."""
        for answer in list(self._answers.values()):
            if not answer.done():
                answer.set_exception(ServiceLost(LOST))
        if not self.lost.done():
            self.lost.set_result(None)

    def _take(self, message: Message) -> None:
        if "method" not in message:
            answer = self._answers.get(message.get("id", -1))
            if answer is not None and not answer.done():
                if "error" in message:
                    from agent.service.failures import exception

                    answer.set_exception(exception(message["error"]))
                else:
                    answer.set_result(message.get("result"))
            return
        params = message.get("params", {})
        if message["method"] == "event":
            if (told := self._events.get(params["of"])) is not None:
                told(params)
        else:
            self.beside(message["method"], params)
