"""A ServerClient whose answers can be left: a POST from the event loop that is one JSON, and ends when it is cancelled.

`asked` waits in a thread, which nobody can end; a server that works for minutes would hold up whoever leaves.
"""

import asyncio
from typing import Any

import httpx2

from models.errors import ServerLost
from models.servers.client import LONGEST_ANSWER, RETRY, ServerClient

AT_ONCE = 1 << 16  # bytes that are read as JSON in the event loop: about a millisecond


class PostingClient(ServerClient):
    """Asks one server, from one event loop."""

    async def posted(self, path: str, body: dict[str, Any], *, answer_s: float | None = None) -> Any:
        """What a POST answers within `answer_s` seconds, else the client's own: JSON.

        Cancelled, it closes its connection. Raises ServerError, and EngineClosed after `close`.
        """
        self._check_open()
        if self._streaming is None:
            self._streaming = httpx2.AsyncClient(**self._how)
        try:
            async with asyncio.timeout(self._answer_s if answer_s is None else answer_s):
                data = await self._posted(self._streaming, path, body)
        except TimeoutError:
            raise ServerLost(self.address.name, "nothing came from it for too long", RETRY) from None
        return self._read(data) if len(data) <= AT_ONCE else await asyncio.to_thread(self._read, data)

    async def _posted(self, client: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> bytes:
        data = bytearray()
        with self._failures():
            async with client.stream("POST", self.address.url + path, json=body) as response:
                async for piece in response.aiter_bytes():
                    data += piece
                    if len(data) > LONGEST_ANSWER:
                        raise self._broken("its answer has no end")
            self._check(response, bytes(data))
        return bytes(data)
