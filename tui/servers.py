"""Model servers in words: where one is, how it is, and that words to it leave this machine."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.text import counted, one_line

if TYPE_CHECKING:
    from agent.served import ModelServer, Served
    from models.servers.state import ServerState

AWAY = "⇅"
KINDS = {"llama": "llama-server", "openai": "OpenAI-compatible"}
LONGEST = 28  # characters of a host


def several(hosts: Sequence[str]) -> str:
    """The first of some hosts, and how many more there are."""
    more = f" +{len(hosts) - 1}" if len(hosts) > 1 else ""
    return f"{one_line(hosts[0])[:LONGEST]}{more}" if hosts else ""


def leaving(hosts: Sequence[str]) -> str:
    """That words leave this machine, and where they go."""
    return f"{AWAY} {several(hosts)}"


def place(served: "Served") -> str:
    """Where a server of the settings is."""
    return leaving(served.away) if served.away else f"on this computer ({several(served.hosts)})"


def host_of(state: "ServerState") -> str:
    """Where one server is."""
    return f"{AWAY} {one_line(state.host)}" if state.away else one_line(state.host)


def condition(state: "ServerState") -> str:
    """How a server is."""
    if state.why:
        return f"left alone: {one_line(state.why)}"
    slots = f" · {state.busy:,} of {counted(state.slots or 0, 'slot')} in use" if state.busy is not None else ""
    return f"{'full' if state.full else 'ready'}{slots}"


def server_rows(server: "ModelServer") -> list[tuple[str, str]]:
    """What the page of /status says of the server that the model is on; of a pool a row for each."""
    head, *others = [(each, host_of(each)) for each in server.states]
    if not others:
        state, at = head
        kind = KINDS.get(state.kind, "")
        known = state.why or state.slots is not None  # one that was asked nothing may be anything
        parts = [f"{server.name}: {at}", kind, condition(state) if known else ""]
        return [("model server", " · ".join(filter(None, parts)))]
    rows = [("model servers", f"{server.name}: {counted(len(server.states), 'server')} with this model")]
    return rows + [
        (f"  {at}", " · ".join(filter(None, (condition(each), KINDS.get(each.kind, "")))))
        for each, at in (head, *others)
    ]
