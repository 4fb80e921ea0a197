"""How the servers behind a generator are: what is known of each, and what a llama-server answers about its slots.

Nothing here is imported before it is asked for: a model on this disk needs none of it.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from models.errors import EngineClosed, ServerError, ServerRefused
from models.protocols import Generator
from models.servers.address import is_local

if TYPE_CHECKING:
    from models.servers.llama_generator import LlamaServerGenerator
    from models.servers.pool import Member

ASKED_S = 2.0  # for what it has in its slots


@dataclass(frozen=True, slots=True)
class ServerState:
    """One server. `away`: words to it leave this machine; `kind` is "" where it was never connected.

    `why` says why it is left alone, and is "" where it is not; of its `slots` so many are `busy`, where it tells that.
    """

    host: str
    away: bool
    kind: Literal["llama", "openai", ""] = ""
    why: str = ""
    busy: int | None = None
    slots: int | None = None

    @property
    def full(self) -> bool:
        """Whether every slot of it has something to do."""
        return self.slots is not None and self.busy is not None and 0 < self.slots <= self.busy


def server_states(generator: Generator, host: str = "") -> tuple[ServerState, ...]:
    """The servers behind a generator, by what is known without asking; none behind one on this disk.

    `host` is where one is that does not tell that itself.
    """
    from models.servers.chat_completions import ChatServerGenerator
    from models.servers.llama_generator import LlamaServerGenerator
    from models.servers.pool import PoolGenerator

    match generator:
        case PoolGenerator():
            return tuple(map(_of_member, generator.members))
        case LlamaServerGenerator():
            address = generator.client.address
            return (ServerState(address.host, not address.local, "llama"),)
        case ChatServerGenerator():
            return (ServerState(generator.info.away or host, bool(generator.info.away), "openai"),)
        case _:
            return ()


async def asked_states(generator: Generator, host: str = "") -> tuple[ServerState, ...]:
    """The same, with the slots of those llama-servers that are not left alone; for ASKED_S seconds at most."""
    from models.servers.llama_generator import LlamaServerGenerator
    from models.servers.pool import PoolGenerator

    states = server_states(generator, host)
    alone: Sequence[Generator | None] = (
        [each.generator for each in generator.members] if isinstance(generator, PoolGenerator) else [generator]
    )
    return tuple(
        await asyncio.gather(
            *(
                _with_slots(state, each) if isinstance(each, LlamaServerGenerator) and not state.why else _same(state)
                for state, each in zip(states, alone, strict=False)
            )
        )
    )


def _of_member(member: "Member") -> ServerState:
    from models.servers.llama_generator import LlamaServerGenerator

    kind: Literal["llama", "openai", ""] = ""
    if member.generator is not None:
        kind = "llama" if isinstance(member.generator, LlamaServerGenerator) else "openai"
    left_alone = member.generator is None or member.down_until > time.monotonic()
    away = not is_local(urlsplit(f"//{member.host}").hostname or "")
    return ServerState(member.host, away, kind, (member.why or "it was not needed yet") if left_alone else "")


async def _with_slots(state: ServerState, generator: "LlamaServerGenerator") -> ServerState:
    try:
        told = await generator.client.asked("/slots", answer_s=ASKED_S)
    except (ServerRefused, EngineClosed):  # it keeps that to itself
        return state
    except ServerError as error:
        return replace(state, why=str(error))
    slots: list[dict[str, Any]] = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
    if not slots:
        return state
    return replace(state, busy=sum(each.get("is_processing") is True for each in slots), slots=len(slots))


async def _same(state: ServerState) -> ServerState:
    return state
