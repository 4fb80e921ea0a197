"""The Agent for a face: that of the service that runs for a home, else one of its own, as before there was one."""

import asyncio
from typing import TYPE_CHECKING, cast

from agent.home import Home

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.agent import Agent
    from agent.settings import Settings


async def joined(home: Home, settings: "Settings", *, name: str, kind: str, own: "Callable[[], Agent]") -> "Agent":
    """The Agent of the service that runs, not started yet; one's `own` where none does. Raises ServiceError."""
    if not may_run(home):
        return own()
    from agent.service.client import AgentClient
    from agent.service.starting import Starter

    starter = Starter(home)
    if await starter.health() is None:
        return own()
    return cast("Agent", AgentClient(starter.connect, settings, name=name, kind=kind))


def served(home: Home, settings: "Settings", *, name: str, model: str | None = None) -> "Agent":
    """The Agent of a service, which is started where none runs; it is to answer with that `model`."""
    from agent.service.client import AgentClient
    from agent.service.starting import Starter

    return cast("Agent", AgentClient(Starter(home, model=model).connect, settings, name=name, model=model))


def retire(home: Home) -> None:
    """Have the service that runs for a home finish its reply and end; whoever uses the memory alone asks for it.

    Raises ServiceError where it does not end.
    """
    if may_run(home):
        from agent.service.starting import Starter

        asyncio.run(Starter(home).retire())


def may_run(home: Home) -> bool:
    """Whether somebody is at the socket: whoever finds nobody need not import what speaks over it."""
    from agent.service.address import answered

    return answered(home)
