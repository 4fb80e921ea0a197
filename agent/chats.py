"""The chats themselves: which there are, what was said in them, and changing one."""

import asyncio
from typing import Any

from graph.events import (
    Sampling,
    SessionArchived,
    SessionConfigured,
    SessionRenamed,
    SessionStarted,
    SessionUnarchived,
)
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Exchange, Session, Turn

from .altering import Altering
from .conversation import Conversation
from .events import Notice, SessionsChanged
from .prompts import Prompts
from .text import clean_message

UNCHANGED: Any = object()


class Chats(Altering):
    """The part of the Agent that lists and changes chats; what it works with is the Agent's."""

    _client: str
    _prompts: Prompts
    _conversation: Conversation

    @property
    def _memory(self) -> Memory:
        raise NotImplementedError

    def _memory_of(self, session: str) -> Memory:
        raise NotImplementedError

    def is_private(self, session: str) -> bool:
        raise NotImplementedError

    def _tell(self, notice: Notice) -> None:
        raise NotImplementedError

    # -- reading --------------------------------------------------------------------------------------------------

    async def sessions(self, *, archived: bool = False) -> list[Session]:
        """The sessions, newest activity first; the archived ones instead if asked."""
        found = await asyncio.to_thread(self._memory.sessions, archived=archived)
        return [session for session in found if session.archived == archived]

    async def session(self, session: str) -> Session:
        """One session. Raises NotFound."""
        return await asyncio.to_thread(self._memory_of(session).session, session)

    async def session_named(self, id: str) -> Session:
        """One session, by its id, the first characters of it, or `last`. Raises NotFound or Ambiguous."""
        return await asyncio.to_thread(self._memory.session_named, id)

    async def last_session(self) -> str | None:
        """The session to resume: the one that a person spoke in last."""
        return await asyncio.to_thread(self._memory.last_session)

    async def thread(self, session: str, *, before: str | None = None, limit: int | None = None) -> list[Turn]:
        """The path to the session's head, oldest first: its last `limit` turns, or those before turn `before`."""
        return await asyncio.to_thread(self._memory_of(session).thread, session, before=before, limit=limit)

    async def waiting(self, session: str) -> list[Turn]:
        """Messages that are queued and not taken up yet."""
        return await asyncio.to_thread(self._memory_of(session).waiting, session)

    async def said(self, limit: int = 200) -> list[str]:
        """The user's own messages, newest first, for the composer's history."""
        return await asyncio.to_thread(self._memory.said, limit)

    async def exchange(self, turn: str) -> Exchange:
        """The exchange of a user turn or a reply. Raises NotFound."""
        return await asyncio.to_thread(self._memory.exchange, turn)

    # -- changing -------------------------------------------------------------------------------------------------

    async def rename(self, session: str, name: str) -> None:
        """Give a session a name of the user's. Raises EmptyMessage for a blank one."""
        await self._record(SessionRenamed(session=session, text=clean_message(name).splitlines()[0][:120]))

    async def archive(self, session: str) -> None:
        """Take a session out of the list; its memory stays."""
        await self._record(SessionArchived(session=session))

    async def unarchive(self, session: str) -> None:
        """Put an archived session back into the list."""
        await self._record(SessionUnarchived(session=session))

    async def delete(self, session: str) -> None:
        """Delete a session for good, without a preview: what `plan_delete_session` would show, also without a graph.

        What is being said there ends first. Raises NotFound or AgentError.
        """
        await self._session_deletion(session)  # what cannot be deleted is left as it is
        await self._conversation.drop(session)
        async with self._one_change:
            events, _ = await self._session_deletion(session)
            said = await asyncio.to_thread(self._memory.said_in, session)
            await asyncio.to_thread(self._memory.append, *events)
            await self._after_change(events, forgotten=said)  # others may quote them

    async def configure(
        self,
        session: str | None,
        *,
        system_prompt: str | None = UNCHANGED,
        sampling: Sampling | None = UNCHANGED,
        model: str | None = UNCHANGED,
        project: str | None = None,
    ) -> str:
        """Change a session's own settings from here on (None: back to the default); None begins a session.

        Returns the session's id.
        """
        events: list[SessionStarted | SessionConfigured] = []
        about = None
        if session is None:
            session = new_id()
            events.append(SessionStarted(session=session, project=project, client=self._client))
        else:
            about = await self.session(session)
        was = Sampling.model_validate(about.sampling) if about and about.sampling else None
        events.append(
            SessionConfigured(
                session=session,
                model=(about.model if about else None) if model is UNCHANGED else model,
                sampling=was if sampling is UNCHANGED else sampling,
                text=(about.system_prompt if about else None) if system_prompt is UNCHANGED else system_prompt,
            )
        )
        await asyncio.to_thread(self._memory_of(session).append, *events)
        self._tell(SessionsChanged(session))
        return session

    async def _record(self, event: SessionRenamed | SessionArchived | SessionUnarchived) -> None:
        await self.session(event.session)
        await asyncio.to_thread(self._memory_of(event.session).append, event)
        self._tell(SessionsChanged(event.session))
        self._mark_if_due()
