"""The Agent for a face: that of the service that runs for a home, else one of its own, as before there was one."""

import asyncio
import os
import tomllib
from typing import TYPE_CHECKING, cast

from agent.home import Home

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.agent import Agent
    from agent.events import Notice
    from agent.face import Face
    from agent.settings import Settings


WANTED = True  # unless the settings say otherwise
GRAPH_LOOK_S = 10.0


async def joined(
    home: Home,
    settings: "Settings",
    *,
    name: str,
    kind: str,
    own: "Callable[[], Agent]",
    tell: "Callable[[Notice], None]" = lambda notice: None,
) -> "Face":
    """The Agent of the service that runs, not started yet; one's `own` where none does. Raises ServiceError.

    A service that starts is waited for: `tell` hears how far it is.
    """
    from agent.service.address import elsewhere
    from agent.service.process import opening, starts

    if not may_run(home) and (starts(home) or opening(home) is not None):
        from agent.service.starting import Starter

        starter = Starter(home)
        starter.tell = tell
        await starter.started()
    if not may_run(home):
        return cast("Face", own())
    from agent.service.client import AgentClient
    from agent.service.starting import Starter

    starter = Starter(home, elsewhere=elsewhere())
    if elsewhere() is None and await starter.health() is None:
        return cast("Face", own())
    return cast("Face", AgentClient(starter.connect, settings, name=name, kind=kind))


def served(home: Home, settings: "Settings", *, name: str, model: str | None = None) -> "Face":
    """The Agent of a service, which is started where none runs; it is to answer with that `model`."""
    from agent.service.address import elsewhere
    from agent.service.client import AgentClient
    from agent.service.starting import Starter

    starter = Starter(home, model=model, elsewhere=elsewhere())
    client = AgentClient(starter.connect, settings, name=name, model=model)
    starter.tell = client.hear
    return cast("Face", client)


def retire(home: Home) -> None:
    """Have the service that runs for a home finish its reply and end; whoever uses the memory alone asks for it.

    Raises ServiceError where it does not end.
    """
    from agent.service.address import answered

    if answered(home):
        from agent.service.starting import Starter

        asyncio.run(Starter(home).retire())


async def graph_settled(agent: "Face", told: asyncio.Event) -> None:
    """Wait until it is `told` that the graph can be asked, or why it cannot.

    Where nothing is told for a while whoever has the memory is asked: a service may have gone before its graph was
    there. Raises what that raises.
    """
    while not told.is_set():
        try:
            await asyncio.wait_for(told.wait(), GRAPH_LOOK_S)
        except TimeoutError:
            if (await agent.status()).graph_ready:
                return


def may_run(home: Home) -> bool:
    """Whether somebody is at the socket: whoever finds nobody need not import what speaks over it.

    Where a face is told of one elsewhere, it uses no other.
    """
    from agent.service.address import answered, elsewhere

    return elsewhere() is not None or answered(home)


def possible() -> bool:
    """Whether a socket can be had: else a chat holds the memory itself."""
    from agent.service.address import folder
    from agent.service.protocol import ServiceError

    try:
        return folder().is_dir()
    except ServiceError:
        return False


def hasten(home: Home) -> None:
    """Start the service ahead, where the settings want one: they are only looked at, and loaded and checked later."""
    from agent.service.address import ELSEWHERE

    if ELSEWHERE not in os.environ and _wanted(home):
        from agent.service.process import hasten as begin

        begin(home)


def _wanted(home: Home) -> bool:
    said = os.environ.get("CLEW_SERVICE")
    if said is None:
        try:
            said = str(tomllib.loads(home.config.read_text(encoding="utf-8")).get("service", WANTED))
        except (OSError, ValueError):
            return WANTED
    return said.lower() in ("true", "1", "on", "t", "y", "yes")
