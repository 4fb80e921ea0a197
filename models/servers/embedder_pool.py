"""Several servers with one embedding model as one Embedder: the first that answers is used, and where that fails the
next one, if its vectors mean the same."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from models.errors import (
    EngineClosed,
    ServerBroken,
    ServerBusy,
    ServerError,
    ServerLost,
    ServerRefused,
    ServerUnreachable,
)
from models.protocols import ModelInfo
from models.servers.embeddings import ServerEmbedder
from models.servers.vectors import alike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEFT_ALONE_S = 20.0
MOVES_FOR = (ServerUnreachable, ServerLost, ServerBusy, ServerBroken)


@dataclass(slots=True)
class EmbedderMember:
    """One server of a pool; `embedder` is None until it is connected, `down_until` of time.monotonic()."""

    host: str
    connect: Callable[[], ServerEmbedder]  # blocking; raises ServerError
    embedder: ServerEmbedder | None = None
    down_until: float = 0.0


class EmbedderPool:
    """One embedding model on several servers. Usable from one event loop."""

    def __init__(self, members: Sequence[EmbedderMember]) -> None:
        """One of them at least is connected: what its vectors are like is what those of the others have to be."""
        self.members = tuple(members)
        self._current = self._first = self._made_ones()[0]
        self._connecting = asyncio.Lock()
        self._closed = False

    @property
    def info(self) -> ModelInfo:
        return self._current.info

    @property
    def dimension(self) -> int:
        return self._first.dimension

    @property
    def probe(self) -> "NDArray[np.float32]":
        """float32[dimension], the vector of `embeddings.PROBE`."""
        return self._first.probe

    async def embed(self, texts: Sequence[str], *, brief: bool = False, most: int | None = None) -> Any:
        """As the Protocol has it. A brief one asks only servers that are connected: connecting takes its time.

        Raises ServerError where none does it, and EngineClosed.
        """
        failed: ServerError | None = None
        for member in sorted(self.members, key=lambda each: each.down_until > time.monotonic()):
            if self._closed:
                raise EngineClosed
            try:
                embedder = member.embedder if brief else await self._connected(member)
                if embedder is None:
                    continue
                rows = await embedder.embed(texts, brief=brief, most=most)
                self._current = embedder
                member.down_until = 0.0
                return rows
            except MOVES_FOR as error:
                wait_s = error.after_s if isinstance(error, ServerBusy) and error.after_s is not None else LEFT_ALONE_S
                member.down_until = time.monotonic() + wait_s
                failed = failed or error
        assert failed is not None  # one is connected, and has failed
        raise failed

    async def close(self) -> None:
        """Idempotent."""
        self._closed = True
        async with self._connecting:
            for embedder in self._made_ones():
                await embedder.close()

    def _made_ones(self) -> list[ServerEmbedder]:
        return [each.embedder for each in self.members if each.embedder is not None]

    async def _connected(self, member: EmbedderMember) -> ServerEmbedder:
        """A member's embedder, connected now if need be. Raises ServerError, and EngineClosed."""
        async with self._connecting:
            if self._closed:
                raise EngineClosed
            if member.embedder is None:
                member.embedder = await self._made(member)
            return member.embedder

    async def _made(self, member: EmbedderMember) -> ServerEmbedder:
        making = asyncio.ensure_future(asyncio.to_thread(member.connect))
        try:
            made = await asyncio.shield(making)
        except asyncio.CancelledError:
            await asyncio.wait([making])
            if not making.cancelled() and making.exception() is None:
                await making.result().close()
            raise
        except ServerRefused as error:  # it has no such model: the others are asked
            raise ServerBroken(error.server, f"{member.host} cannot be used", str(error)) from error
        if not alike(made.probe, self._first.probe):
            await made.close()
            what = f"{member.host} has another embedding model than the others of the pool"
            raise ServerBroken(made.info.name, what, "Give all of them the same; the others go on.")
        return made
