"""Private chats for the faces: their ids work like any other's for sending, reading and stopping."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from graph.memory import Memory
from graph.values import Session

from .loop import Conversation
from .private import PrivateMemory, Shared, sweep
from .settings import Settings


class PrivateChats:
    """The private chats of one clew, and the way from a session to the memory and the conversation it belongs to."""

    def __init__(self, memory: Memory, conversation: Conversation, shared: Callable[[], Shared]) -> None:
        """`memory` and `conversation` are those of all other chats."""
        self._memory = memory
        self._conversation = conversation
        self._shared = shared
        self._open: PrivateMemory | None = None

    def __contains__(self, session: object) -> bool:
        return self._open is not None and session in self._open

    async def begin(self) -> str:
        """Begin a chat that keeps nothing: it is gone when it is ended, or clew is. Raises OSError or MemoryFailure."""
        if self._open is None:
            self._open = await asyncio.to_thread(PrivateMemory.open, self._shared())
        return await self._open.begin()

    async def all(self) -> list[Session]:
        """The private chats there are, newest activity first; they are gone when clew is left."""
        return [] if self._open is None else await asyncio.to_thread(self._open.sessions)

    @property
    def folder(self) -> Path | None:
        """Where what is written of private chats may lie: it goes with them. None where there is none yet."""
        return None if self._open is None else self._open.folder

    @property
    def answering(self) -> str | None:
        """The private session whose reply is in the making."""
        return None if self._open is None else self._open.conversation.answering

    def stop(self) -> bool:
        """Stop a reply in the making, keeping what came until the chat ends."""
        return self._open is not None and self._open.conversation.stop()

    async def end(self) -> None:
        """End all private chats: what was said in them is gone."""
        ending, self._open = self._open, None
        if ending is not None:
            await ending.close()

    async def sweep(self) -> None:
        """Remove what a clew that was killed left of its private chats."""
        await asyncio.to_thread(sweep)

    def use(self, settings: Settings) -> None:
        """Go on with other settings."""
        if self._open is not None:
            self._open.use(settings)

    def conversation_of(self, session: str | None) -> Conversation:
        """The conversation that a session belongs to."""
        return self._open.conversation if self._open is not None and session in self._open else self._conversation

    def memory_of(self, session: str) -> Memory:
        """The memory that a session stands in."""
        return self._open.memory if self._open is not None and session in self._open else self._memory
