"""What a llama-server has evaluated of a chat, carried to another one by a file in a folder that both have.

The files are the servers': they cannot be listed or removed from here, so that there are only a few, whose names are
always the same, and each is written over with nothing when a chat is forgotten, and at the end.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress

from models.errors import ServerError
from models.protocols import Generator
from models.servers.llama_generator import LlamaServerGenerator

FILES = 4  # chats, the last ones


class SlotFiles:
    """The Carrier of a pool of llama-servers. `owner` names whose files they are: two programs have two."""

    def __init__(self, owner: str) -> None:
        self._free = [f"clew-{owner}-{number}.bin" for number in range(FILES)]
        self._written: OrderedDict[str, tuple[str, list[int]]] = OrderedDict()  # of each chat: its file, and the tokens
        self._one = asyncio.Lock()

    async def keep(self, source: Generator, chat: str) -> None:
        """Have a server write down what it has of a chat; where it cannot, the chat is read again elsewhere."""
        assert isinstance(source, LlamaServerGenerator)
        async with self._one:
            if chat in self._written:
                name, _ = self._written.pop(chat)
            else:
                name = self._free.pop() if self._free else self._written.popitem(last=False)[1][0]
            try:
                self._written[chat] = name, await source.slots.save(name)
            except ServerError:
                self._free.append(name)

    async def bring(self, target: Generator, chat: str) -> None:
        """Have another read it; where it cannot, it evaluates the chat."""
        assert isinstance(target, LlamaServerGenerator)
        async with self._one:
            if chat in self._written:
                name, tokens = self._written[chat]
                with suppress(ServerError):
                    await target.slots.restore(name, tokens)

    async def clear(self, servers: Sequence[Generator]) -> None:
        """Write over every file, by the first server that does."""
        async with self._one:
            self._free += [name for name, _ in self._written.values()]
            self._written.clear()
            for server in servers:
                assert isinstance(server, LlamaServerGenerator)
                with suppress(ServerError):
                    for name in self._free:
                        await server.slots.empty(name)
                    return
