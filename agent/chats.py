"""The chats themselves and their projects: which there are, what was said in them, and changing one."""

import asyncio
from collections.abc import Callable
from typing import Any

from agent.errors import AgentError
from agent.events import Notice, OfPrivate, SessionsChanged
from agent.loop import Conversation
from agent.past import ProjectReader
from agent.planning import Planner
from agent.private import PrivateChats
from agent.recorder import Recorder
from agent.text import clean_message
from graph.errors import NotFound
from graph.events import (
    MAIN_WORLD,
    PinCleared,
    PinSet,
    ProjectAssigned,
    ProjectMade,
    Sampling,
    SessionArchived,
    SessionConfigured,
    SessionRenamed,
    SessionStarted,
    SessionUnarchived,
    TurnHidden,
    TurnReleased,
    TurnUnhidden,
    TurnWithheld,
)
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Exchange, Project, Session, Turn
from graph.visibility import EVERYONE, Viewer

UNCHANGED: Any = object()


class Chats:
    """Lists, reads and changes chats, private ones too."""

    def __init__(
        self,
        memory: Memory,
        conversation: Conversation,
        private: PrivateChats,
        recorder: Recorder,
        planner: Planner,
        *,
        client: str,
        tell: Callable[[Notice | OfPrivate], None],
    ) -> None:
        self._memory = memory
        self._conversation = conversation
        self._private = private
        self._recorder = recorder
        self._planner = planner
        self._client = client
        self._tell = tell

    # -- reading --------------------------------------------------------------------------------------------------

    async def all(self, *, archived: bool = False) -> list[Session]:
        """The sessions, newest activity first; the archived ones instead if asked."""
        found = await asyncio.to_thread(self._memory.readings.sessions, archived=archived)
        return [session for session in found if session.archived == archived]

    async def get(self, session: str) -> Session:
        """One session. Raises NotFound."""
        return await asyncio.to_thread(self._private.memory_of(session).readings.session, session)

    async def named(self, id: str) -> Session:
        """One session, by its id, the first characters of it, or `last`. Raises NotFound or Ambiguous."""
        return await asyncio.to_thread(self._memory.readings.session_named, id)

    async def last(self) -> str | None:
        """The session to resume: the one that a person spoke in last."""
        return await asyncio.to_thread(self._memory.readings.last_session)

    async def thread(self, session: str, *, before: str | None = None, limit: int | None = None) -> list[Turn]:
        """The path to the session's head, oldest first: its last `limit` turns, or those before turn `before`."""
        return await asyncio.to_thread(
            self._private.memory_of(session).readings.thread, session, before=before, limit=limit
        )

    async def waiting(self, session: str) -> list[Turn]:
        """Messages that are queued and not taken up yet."""
        return await asyncio.to_thread(self._private.memory_of(session).readings.waiting, session)

    async def said(self, limit: int = 200) -> list[str]:
        """The user's own messages, newest first, for the composer's history."""
        return await asyncio.to_thread(self._memory.readings.said, limit)

    async def exchange(self, turn: str) -> Exchange:
        """The exchange of a user turn or a reply. Raises NotFound."""
        return await asyncio.to_thread(self._memory.readings.exchange, turn)

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
        await self._planner.session_deletion(session)  # what cannot be deleted is left as it is
        await self._conversation.drop(session)
        async with self._recorder.changing:
            events, _ = await self._planner.session_deletion(session)
            said = await asyncio.to_thread(self._memory.readings.said_in, session)
            await asyncio.to_thread(self._memory.append, *events)
            await self._recorder.recorded(events, forgotten=said)  # others may quote them

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
            about = await self.get(session)
        was = Sampling.model_validate(about.sampling) if about and about.sampling else None
        events.append(
            SessionConfigured(
                session=session,
                model=(about.model if about else None) if model is UNCHANGED else model,
                sampling=was if sampling is UNCHANGED else sampling,
                text=(about.system_prompt if about else None) if system_prompt is UNCHANGED else system_prompt,
            )
        )
        await asyncio.to_thread(self._private.memory_of(session).append, *events)
        self._tell_changed(session)
        return session

    # -- one message ----------------------------------------------------------------------------------------------

    async def pinned(self, *, world: str = MAIN_WORLD, project: Viewer = EVERYONE) -> list[Turn]:
        """The turns that are pinned in a world and that it, and there a chat of a project, sees, oldest first."""
        return await asyncio.to_thread(self._memory.readings.pinned, world, project=project)

    async def pin(self, turn: str, *, world: str | None = None) -> None:
        """Keep a turn in every prompt of a world (None: its own) from the next message on. Raises NotFound."""
        await self._pin(turn, PinSet(turn=turn, world=world))

    async def unpin(self, turn: str, *, world: str | None = None) -> None:
        """Take a pin off; the turn leaves a prompt when that is shortened next. Raises NotFound."""
        await self._pin(turn, PinCleared(turn=turn, world=world))

    async def hide(self, turn: str) -> None:
        """Take a turn out of view, memory and prompts, reversibly. Raises NotFound."""
        await self._see(turn, TurnHidden(turn=turn))

    async def unhide(self, turn: str) -> None:
        """Bring a hidden turn back. Raises NotFound."""
        await self._see(turn, TurnUnhidden(turn=turn))

    async def withhold(self, turn: str) -> None:
        """Keep a message out of memory, with what was answered; it stays in its chat. Raises NotFound."""
        turns = await asyncio.to_thread(self._with_answers, turn)
        await self._recorder.record(*(TurnWithheld(turn=each) for each in turns))

    async def release(self, turn: str) -> None:
        """Let a message that was kept out of memory be remembered again, with what was answered. Raises NotFound."""
        turns = await asyncio.to_thread(self._with_answers, turn)
        await self._recorder.record(*(TurnReleased(turn=each) for each in turns))

    def _with_answers(self, turn: str) -> list[str]:
        """A message, the tools' turns it led to and its reply; of a reply only itself."""
        meant = self._memory.readings.turn(turn)
        if meant.role not in ("user", "note"):
            return [turn]
        answered = self._memory.readings.exchange(turn)
        return [turn, *(tool.id for tool in answered.tools), *([answered.reply.id] if answered.reply else [])]

    async def _pin(self, turn: str, event: PinSet | PinCleared) -> None:
        await asyncio.to_thread(self._memory.readings.turn, turn)
        await asyncio.to_thread(self._memory.append, event)

    async def _see(self, turn: str, event: TurnHidden | TurnUnhidden) -> None:
        await asyncio.to_thread(self._memory.readings.turn, turn)
        await self._recorder.record(event)

    async def _record(self, event: SessionRenamed | SessionArchived | SessionUnarchived) -> None:
        await self.get(event.session)
        if event.session not in self._private:
            await self._recorder.record(event)
            return
        await asyncio.to_thread(self._private.memory_of(event.session).append, event)
        self._tell_changed(event.session)

    def _tell_changed(self, session: str) -> None:
        """Tell all of a chat that is another now; of a private one, whose it is."""
        owner, changed = self._private.owner_of(session), SessionsChanged(session)
        self._tell(changed if owner is None else OfPrivate(owner, changed))


LONGEST_PROJECT = 60
LONGEST_DESCRIPTION = 500


class Projects(ProjectReader):
    """Lists and makes projects, and says which chat belongs to which."""

    def __init__(self, memory: Memory, recorder: Recorder) -> None:
        super().__init__(memory)
        self._memory = memory
        self._recorder = recorder

    async def name(self, name: str) -> str:
        """How a project that there is writes its name, which may be given in any case. Raises NotFound."""
        return (await self._project(name)).name

    async def make(self, name: str, description: str = "") -> None:
        """Make a project, or describe one anew, which brings it back from the archive. Raises AgentError."""
        project = " ".join(clean_message(name).split())
        about = " ".join(clean_message(description).split()) if description.strip() else ""
        if len(project) > LONGEST_PROJECT or len(about) > LONGEST_DESCRIPTION:
            raise AgentError(
                f"A project's name has at most {LONGEST_PROJECT} characters, its description {LONGEST_DESCRIPTION}. "
                "Nothing was created. Shorten it."
            )
        names = [each.name for each in await self.all()]
        known = [each for each in names if each.casefold() == project.casefold()]
        named = project if project in names or not known else known[0]
        await self._recorder.record(ProjectMade(project=named, text=about))

    async def archive(self, name: str) -> None:
        """Take a project out of the lists; what belongs to it stays. Raises NotFound."""
        project = await self._project(name)
        await self._recorder.record(ProjectMade(project=project.name, status="archived", text=project.description))

    async def assign(self, session: str, project: str | None) -> None:
        """Let a session belong to a project from here on, or to none. Raises NotFound."""
        await asyncio.to_thread(self._memory.readings.session, session)
        name = None if project is None else (await self._project(project)).name
        await self._recorder.record(ProjectAssigned(session=session, project=name))

    async def _project(self, name: str) -> Project:
        known = await self.all()
        found = [each for each in known if each.name.casefold() == name.strip().casefold()]
        if not found:
            there = f"Projects: {', '.join(each.name for each in known)}. " if known else ""
            raise NotFound(
                f"There is no project {name}. {there}Nothing was changed; /project {name} in a chat, or "
                f"`clew projects --make {name}`, creates it."
            )
        return next((each for each in found if each.name == name), found[0])
