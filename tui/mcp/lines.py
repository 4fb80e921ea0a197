"""Standard input, a line at a time, as the protocol has it: without a thread that waits for it, and of bounded size.

The SDK's own reading blocks a thread until a line comes, so that nothing but its client could end the program, and it
takes a line of any size.
"""

import asyncio
import sys
from collections.abc import AsyncIterator

MOST_BYTES = 4 << 20  # of one message
TOO_LONG = "{"  # what a line that is too long is read as: no JSON, which is answered as such


class WireLines:
    """An async iterator over the lines of a stream, as text; one that is too long comes as TOO_LONG."""

    def __init__(self, stream: asyncio.StreamReader, transport: asyncio.BaseTransport | None = None) -> None:
        self._stream = stream
        self._transport = transport
        self._ended = False

    @classmethod
    async def of_stdin(cls) -> "WireLines":
        """Over descriptor 0. Raises OSError or ValueError if that is a file."""
        stream = asyncio.StreamReader(limit=MOST_BYTES)
        protocol = asyncio.StreamReaderProtocol(stream)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
        return cls(stream, transport)

    def end(self) -> None:
        """Read no further: to who iterates it is the end of the input."""
        self._ended = True
        if self._transport is not None:
            self._transport.close()  # and nothing more comes of it
        self._stream.feed_eof()

    async def __aiter__(self) -> AsyncIterator[str]:
        too_long = False
        while not self._ended:
            try:
                line = await self._stream.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                line = end.partial
            except asyncio.LimitOverrunError as part:
                await self._stream.readexactly(part.consumed)
                too_long = True
                continue
            if not line and not too_long:
                return
            yield TOO_LONG if too_long else line.decode("utf-8", "replace")
            too_long = False
