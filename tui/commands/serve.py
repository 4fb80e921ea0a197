"""`clew serve`: the one process that holds the memory for all chats, commands and programs of this user."""

import asyncio
import json
import os
import resource
import signal
import sys
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.choosing import home_of
from tui.output import put, put_json, say
from tui.servers import AWAY, condition, host_of
from tui.text import counted
from tui.version import VERSION

if TYPE_CHECKING:
    from agent.home import Home

DESCRIPTORS = 4_096  # connections, the log and graph with their readers, queries, what is read of the network
NONE = "No service runs for this memory. A chat starts one by itself."


def serve(
    ctx: typer.Context,
    stop: Annotated[bool, typer.Option("--stop", help="Have the running service finish its reply and end.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Show how the running service is.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --status: print one JSON object.")] = False,
) -> None:
    """Hold the memory for all chats, commands and programs of yours, until nobody has asked for a minute.

    A chat starts it by itself where it does not run. It listens on a socket of this computer that only you can open,
    and on no port. How long it stays when nobody is there: `linger` in the settings.
    """
    from agent.errors import AgentError
    from agent.events import ErrorValue
    from agent.service.address import elsewhere, found
    from agent.service.process import STARTED
    from agent.service.starting import Starter
    from graph.errors import MemoryFailure

    home = home_of(ctx)
    if stop:
        ended = asyncio.run(Starter(home).retire())
        say("The service has ended." if ended else NONE)
        return
    if status:
        health = asyncio.run(Starter(home, elsewhere=elsewhere()).health())
        socket = elsewhere() or found(home)
        if as_json:
            put_json({"running": health is not None, "socket": str(socket)} | (health or {}))
        elif health is None:
            put(NONE)
        else:
            put("\n".join((*_lines(health), f"socket    {socket}")))
        return
    told = os.environ.pop(STARTED, None) is not None and not sys.stdout.isatty()  # whoever started it
    try:
        asyncio.run(_serve(home, told=told))
    except (MemoryFailure, AgentError) as error:
        if told:
            put(json.dumps(asdict(ErrorValue.of(error))))
        raise


async def _serve(home: "Home", *, told: bool) -> None:
    from agent.agent import Agent
    from agent.service.process import READY, let_others_start
    from agent.service.server import Service
    from agent.settings import load_settings
    from graph.errors import SERVE
    from models.quiet import guard_descriptors

    guard_descriptors(home.native_log)
    _raise_descriptors()
    settings = load_settings(home.config)
    agent = Agent(home, settings, client="chat", command=SERVE, fetching=True)
    service = Service(home, agent, version=VERSION, linger_s=settings.linger, load=lambda: load_settings(home.config))

    def ready() -> None:
        let_others_start()
        put(READY if told else f"clew {VERSION} serves {home.root}. Ctrl+C ends it.")
        sys.stdout.flush()
        if told:
            sys.stdout.close()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, service.end)
    await service.run(ready)


def _raise_descriptors() -> None:
    """Let as many files be open as all that may connect can need: some systems begin with 256."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _lines(health: dict[str, Any]) -> list[str]:
    clients = ", ".join(f"{each['name']} ({each['pid']})" for each in health["clients"]) or "nobody"
    reply = counted(health["unanswered"], "message") + " unanswered"
    return [
        f"version   {health['version']}, protocol {health['protocol']}, process {health['pid']}",
        f"uptime    {timedelta(seconds=int(health['uptime_s']))}, start {health['starts']:,} of this memory",
        f"clients   {clients}",
        f"memory    {counted(health['log_head'], 'event')}, graph {health['graph']}",
        f"model     {health['model'] or 'none is loaded'}; {reply}",
        *_servers(health),
    ]


def _servers(health: dict[str, Any]) -> list[str]:
    """Where the model is, and where words go, of a service that knows that."""
    from models.servers.state import ServerState

    server, away = health.get("server"), health.get("away")
    lines = []
    if server is not None:
        states = [ServerState(**each) for each in server["states"]]
        lines.append(
            f"server    {server['name']}: " + "; ".join(f"{host_of(each)} {condition(each)}" for each in states)
        )
    if away:
        lines.append(f"away      words go to {AWAY} {', '.join(away)}")
    return lines
