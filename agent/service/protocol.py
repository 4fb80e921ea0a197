"""The lines that cross the socket: JSON-RPC 2.0, one message a line, and its error codes.

`request`s carry an id and are answered by a `result` or an `error` of that id; `notification`s carry none. What is told
of a request before its answer comes as the notification "event", of what happens beside as "notice" and "state".
"""

import asyncio
import json
from enum import IntEnum
from typing import Any

from agent.errors import AgentError

# Of what can be asked and told, as tests/agent/service/test_protocol.py works it out: a face and a service with another
# would misunderstand each other, so the older service ends and a new one is started.
PROTOCOL = "8e1a7239e159"
LONGEST_LINE = 32 * 1024 * 1024  # bytes: no paste and no answer is as long
HANDSHAKE_S = 2.0

Message = dict[str, Any]


class Code(IntEnum):
    """Why a request was not answered. The first four are JSON-RPC's own."""

    UNREADABLE = -32700
    NO_REQUEST = -32600
    UNKNOWN_METHOD = -32601
    WRONG_PARAMETERS = -32602
    FAILED = -32000  # the Agent raised an error: `data` has its class and message
    NOT_GREETED = -32001  # `hello` comes first
    OTHER_PROTOCOL = -32010  # `data` has the protocol and the version of the service
    ENDING = -32020  # the service ends: connect anew
    CANCELLED = -32021
    TOO_MANY = -32029  # `data` has retry_after_s


class ServiceError(AgentError):
    """The service answered that it cannot; the message says why."""


class ServiceLost(ServiceError):
    """The service went away before it answered."""


class ServiceEnding(ServiceLost):
    """The service ends, and takes nothing up any more: the next one does."""


class RateLimited(ServiceError):
    """A program asked too often; `retry_after_s` says when it may ask again."""

    retry_after_s = 0.0


class OtherProtocol(ServiceError):
    """A service of another version of clew answers, which this one does not understand."""


class LineTooLong(ServiceError):
    """More than LONGEST_LINE without an end."""


def encoded(message: Message) -> bytes:
    """One line."""
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"


def request(id: int, method: str, params: Message) -> bytes:
    return encoded({"id": id, "method": method, "params": params})


def notification(method: str, params: Message) -> bytes:
    return encoded({"method": method, "params": params})


def result(id: Any, value: Any) -> bytes:
    return encoded({"id": id, "result": value})


def error(id: Any, code: Code, why: str, **data: Any) -> bytes:
    told: Message = {"code": int(code), "message": why}
    return encoded({"id": id, "error": told | ({"data": data} if data else {})})


async def read(reader: asyncio.StreamReader) -> bytes | None:
    """The next line without its end, None where the other side has closed. Raises LineTooLong, ConnectionError."""
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError:
        return None  # half a line says nothing
    except asyncio.LimitOverrunError as long:
        raise LineTooLong(f"A message of more than {LONGEST_LINE >> 20} MB was refused. Nothing was changed.") from long
    return line[:-1]
