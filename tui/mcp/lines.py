"""The lines of the protocol: each request is answered, whatever is wrong with it, and what is none is passed over.

The SDK's own reading of standard input blocks a thread until a line comes, so that nothing but its client could end the
program, and it takes a line of any size. What it cannot read it drops, and who asked waits for ever: here a request is
looked at before, by JSON-RPC 2.0, and refused by its id where that can be made out.
"""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from io import TextIOWrapper
from typing import Any

import anyio
import mcp_types as types

from graph.letters import paired, paired_in

MOST_BYTES = 4 << 20  # of one message
ENDS = 1 << 16  # bytes at either end of one that is too long, in which its id is looked for
DEEPEST = 100  # values in others
NOT_JSON = "This line is no JSON, or nested too deep. Nothing was done."
TOO_LONG = f"This line is longer than {MOST_BYTES >> 20} MB. Nothing was done. Ask for less at once."
NO_REQUEST = (
    'This is no request: "jsonrpc" has to be "2.0", "method" a text, "id" a text or a whole number. Nothing was done.'
)
NO_PARAMETERS = '"params" has to be an object. Nothing was done.'
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_VALUE = re.compile(r'\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,18}(?![\d.eE]))', re.DOTALL)


class WireAnswers:
    """Standard output, on which one line is written after the other, from whatever task."""

    def __init__(self, wire: TextIOWrapper) -> None:
        self._file = anyio.wrap_file(wire)
        self._lock = anyio.Lock()

    async def write(self, text: str) -> int:
        """Write lines."""
        async with self._lock:
            return await self._file.write(text)

    async def flush(self) -> None:
        """See to it that they are read."""
        async with self._lock:
            await self._file.flush()

    async def refuse(self, id: object, code: int, why: str) -> None:
        """Answer a request with an error."""
        told = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}}
        await self.write(json.dumps(told) + "\n")
        await self.flush()


class WireLines:
    """An async iterator over the messages of a stream, as text; what is none is not among them, but counted."""

    def __init__(
        self, stream: asyncio.StreamReader, answers: WireAnswers, transport: asyncio.BaseTransport | None = None
    ) -> None:
        self.passed_over = 0  # lines that nobody can be answered for
        self._stream = stream
        self._answers = answers
        self._transport = transport
        self._ended = False

    @classmethod
    async def of_stdin(cls, answers: WireAnswers) -> "WireLines":
        """Over descriptor 0. Raises OSError or ValueError if that is a file."""
        stream = asyncio.StreamReader(limit=MOST_BYTES)
        protocol = asyncio.StreamReaderProtocol(stream)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
        return cls(stream, answers, transport)

    def end(self) -> None:
        """Read no further: to who iterates it is the end of the input."""
        self._ended = True
        if self._transport is not None:
            self._transport.close()  # and nothing more comes of it
        self._stream.feed_eof()

    async def __aiter__(self) -> AsyncIterator[str]:
        begun = last = b""  # of a line that is too long
        while not self._ended:
            try:
                line = await self._stream.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                line = end.partial
            except asyncio.LimitOverrunError as part:
                piece = await self._stream.readexactly(part.consumed)
                begun, last = begun or piece[:ENDS], (last + piece)[-ENDS:]
                continue
            if begun:
                await self._refuse(begun + b" " + (last + line)[-ENDS:], types.INVALID_REQUEST, TOO_LONG)
                begun = last = b""
            elif not line:
                return
            elif line.strip() and (message := await self._vetted(line)) is not None:
                yield message

    async def _vetted(self, line: bytes) -> str | None:
        """A line as the SDK can read it; None for one that was answered here, or that asks for nothing."""
        try:
            message = json.loads(line.decode(errors="replace"), parse_constant=_none)
            if _is_deep(message):
                raise RecursionError
        except (ValueError, RecursionError):
            await self._refuse(line, types.PARSE_ERROR, NOT_JSON)
            return None
        if not isinstance(message, dict):
            for each in message if isinstance(message, list) else ():  # several at once, which the protocol has no more
                if isinstance(each, dict) and "id" in each:
                    await self._answers.refuse(_id(each), types.INVALID_REQUEST, NO_REQUEST)
            self.passed_over += 1
            return None
        answers = "method" not in message and ("result" in message or "error" in message)
        if not answers:  # who asks with an answer in it is not taken for who answers
            message = {name: value for name, value in message.items() if name not in ("result", "error")}
        if "id" not in message or answers:
            return json.dumps(paired_in(message))
        if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str) or _id(message) is None:
            await self._answers.refuse(_id(message), types.INVALID_REQUEST, NO_REQUEST)
            return None
        if message.get("params") is None:
            message.pop("params", None)
        elif not isinstance(message["params"], dict):
            await self._answers.refuse(_id(message), types.INVALID_PARAMS, NO_PARAMETERS)
            return None
        return json.dumps(paired_in(message))

    async def _refuse(self, line: bytes, code: int, why: str) -> None:
        """Answer what could not be read, where its id can be made out."""
        found = id_in(line.decode(errors="replace"))
        if found is None:
            self.passed_over += 1
        else:
            await self._answers.refuse(found, code, why)


def id_in(text: str) -> object:
    """The id of a request that is no JSON as a whole; None where there is none."""
    depth = 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
            case '"id"' if depth == 1 and (value := _VALUE.match(text, token.end())):
                try:
                    return paired(str(json.loads(value[1]))) if value[1].startswith('"') else int(value[1])
                except ValueError:
                    return None
    return None


def _id(message: dict[str, Any]) -> str | int | None:
    id = message.get("id")
    return paired(id) if isinstance(id, str) else id if isinstance(id, int) and not isinstance(id, bool) else None


def _is_deep(value: Any) -> bool:
    """Whether a value is nested deeper than the SDK reads."""
    layer = [value]
    for _ in range(DEEPEST):
        layer = [inner for each in layer for inner in _inside(each)]
        if not layer:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _none(constant: str) -> None:
    raise ValueError(f"{constant} is no number")
