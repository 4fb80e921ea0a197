"""Private chats through the Agent: their ids work like any other's for sending, reading and stopping."""

import asyncio
from pathlib import Path

from graph.memory import Memory
from graph.values import Session

from .conversation import Conversation
from .events import Notice
from .foreground import Foreground
from .models import ModelHost
from .private import PrivateChats, Shared, sweep
from .prompts import Prompts
from .settings import Settings


class Privately:
    """The part of the Agent that has private chats; what it works with is the Agent's."""

    settings: Settings
    _conversation: Conversation
    _foreground: Foreground
    _models: ModelHost
    _prompts: Prompts
    _private: PrivateChats | None = None

    @property
    def _memory(self) -> Memory:
        raise NotImplementedError

    def _tell(self, notice: Notice) -> None:
        raise NotImplementedError

    async def private(self) -> str:
        """Begin a chat that keeps nothing: it is gone when it is ended, or clew is. Raises OSError or MemoryFailure."""
        if self._private is None:
            shared = Shared(
                self._models,
                self._conversation.floor,
                self._foreground,
                self.settings,
                self._prompts,
                self._tell,
            )
            self._private = await asyncio.to_thread(PrivateChats.open, shared)
        return await self._private.begin()

    async def private_sessions(self) -> list[Session]:
        """The private chats there are, newest activity first; they are gone when clew is left."""
        return [] if self._private is None else await asyncio.to_thread(self._private.sessions)

    @property
    def private_folder(self) -> Path | None:
        """Where what is written of private chats may lie: it goes with them. None where there is none yet."""
        return None if self._private is None else self._private.folder

    def is_private(self, session: str) -> bool:
        """Whether a chat keeps nothing."""
        return self._private is not None and session in self._private

    async def end_private(self) -> None:
        """End all private chats: what was said in them is gone."""
        ending, self._private = self._private, None
        if ending is not None:
            await ending.close()

    async def _sweep_private(self) -> None:
        """Remove what a clew that was killed left of its private chats."""
        await asyncio.to_thread(sweep)

    def _conversation_of(self, session: str | None) -> Conversation:
        """The conversation that a session belongs to."""
        if self._private is not None and session in self._private:
            return self._private.conversation
        return self._conversation

    def _memory_of(self, session: str) -> Memory:
        """The memory that a session stands in."""
        if self._private is not None and session in self._private:
            return self._private.memory
        return self._memory
