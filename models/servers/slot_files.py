"""What a llama-server has evaluated of a chat, carried to another one by a file in a folder that both have.

The files are the servers': they cannot be listed or removed from here, so that there are only a few, whose names are
always the same, and each is written over with nothing when a chat is forgotten, and at the end. A note on this machine
says that there are some, so that those of a clew that was killed are written over by the next.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from models.errors import ServerError
from models.protocols import Generator
from models.servers.llama_generator import LlamaServerGenerator

_noting = threading.Lock()
FILES, MOST_BYTES = 64, 8 << 30  # of the chats used last


@dataclass(slots=True)
class Written:
    """A chat's file: its name, the tokens in it, its bytes."""

    name: str
    tokens: list[int]
    size: int


class SlotFiles:
    """The Carrier of a pool of llama-servers. `owner` names whose files they are: two programs and pools have two."""

    def __init__(self, owner: str, note: Path) -> None:
        """`note` is the file that has the owners of files with something in them, a line each."""
        self._owner, self._note = owner, note
        self._left = owner in _lines(note)  # by one that was killed
        self._free = [f"clew-{owner}-{number:02}.bin" for number in reversed(range(FILES))]
        self._used: set[str] = set()  # names with something in their files
        self._written: OrderedDict[str, Written] = OrderedDict()  # by chat
        self._one = asyncio.Lock()

    async def keep(self, source: Generator, chat: str) -> None:
        """Have a server write down what it has of a chat; where it cannot, the chat is read again elsewhere."""
        assert isinstance(source, LlamaServerGenerator)
        async with self._one:
            if self._left:
                self._used.update(self._free)
                await self._clear([source])
                self._left = False
            if not self._used:
                await asyncio.to_thread(self._take_note, True)
            before = self._written.pop(chat, None)
            name = before.name if before is not None else self._name()
            self._used.add(name)
            try:
                self._written[chat] = Written(name, *await source.slots.save(name))
            except ServerError:
                self._free.append(name)
                return
            while len(self._written) > 1 and sum(each.size for each in self._written.values()) > MOST_BYTES:
                await self._empty(source, self._written.popitem(last=False)[1].name)

    async def bring(self, target: Generator, chat: str) -> None:
        """Have another read it; where it cannot, it evaluates the chat."""
        assert isinstance(target, LlamaServerGenerator)
        async with self._one:
            if (there := self._written.get(chat)) is not None:
                with suppress(ServerError):
                    await target.slots.restore(there.name, there.tokens)

    async def clear(self, servers: Sequence[Generator]) -> None:
        """Write over every file, by the first server that does."""
        async with self._one:
            self._free += [each.name for each in self._written.values()]
            self._written.clear()
            await self._clear(servers)

    async def _clear(self, servers: Sequence[Generator]) -> None:
        for server in servers:
            assert isinstance(server, LlamaServerGenerator)
            with suppress(ServerError):
                for name in sorted(self._used):
                    await server.slots.empty(name)
                    self._used.discard(name)
                await asyncio.to_thread(self._take_note, False)
                return

    def _take_note(self, used: bool) -> None:
        """Note whether there are files; blocking. Where nothing can be written that is done without."""
        with _noting, suppress(OSError):
            others = _lines(self._note) - {self._owner}
            self._note.write_text("".join(f"{each}\n" for each in others | ({self._owner} if used else set())))

    def _name(self) -> str:
        """A name that no chat has any more."""
        if not self._free:
            self._free.append(self._written.popitem(last=False)[1].name)
        return self._free.pop()

    async def _empty(self, server: LlamaServerGenerator, name: str) -> None:
        self._free.append(name)
        with suppress(ServerError):
            await server.slots.empty(name)
            self._used.discard(name)


def _lines(note: Path) -> set[str]:
    try:
        return set(note.read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError):
        return set()
