"""Errors as they cross the socket: those that the Agent raises, and those of the service itself."""

from dataclasses import asdict
from typing import Any

from agent.errors import AgentError
from agent.events import ErrorValue
from agent.service.protocol import Code, Message, OtherProtocol, RateLimited, ServiceEnding, ServiceError, error
from graph.errors import SURPRISES, MemoryFailure
from models.errors import ModelError

FAILURES = (AgentError, MemoryFailure, ModelError, OSError, *SURPRISES)  # which whoever asked is told of


def failure(id: Any, raised: Exception) -> bytes:
    """An error that the Agent raised, or the machine."""
    return error(id, Code.FAILED, str(raised), **asdict(ErrorValue.of(raised)))


def exception(told: Message) -> Exception:
    """What an error in an answer is, as the Agent would have raised it."""
    message, data = str(told.get("message", "")), told.get("data") or {}
    match told.get("code"):
        case Code.FAILED:
            return ErrorValue(str(data.get("type", "")), str(data.get("message", message))).exception()
        case Code.TOO_MANY:
            limited = RateLimited(message)
            limited.retry_after_s = float(data.get("retry_after_s", 0))
            return limited
        case Code.OTHER_PROTOCOL:
            return OtherProtocol(message)
        case Code.ENDING:
            return ServiceEnding(message)
        case _:
            return ServiceError(message)
