"""What a person arranges by hand: core blocks, projects, ratings, what is kept out of memory, leave to change it."""

import asyncio
from collections.abc import Iterable

from graph.beliefs import CoreBlock, Project
from graph.errors import NotFound
from graph.events import (
    MAIN_WORLD,
    CoreWritten,
    Event,
    ProjectAssigned,
    ProjectMade,
    TurnRated,
    TurnReleased,
    TurnWithheld,
)
from graph.memory import Memory
from graph.values import Turn
from graph.visibility import EVERYONE, Viewer

from .blocks import block_name, block_text
from .conversation import Conversation
from .errors import AgentError
from .events import MemoriesChanged, Notice, SessionsChanged
from .prompts import Prompts
from .text import clean_message

LONGEST_PROJECT = 60
LONGEST_DESCRIPTION = 500


class Arranging:
    """The part of the Agent that arranges the memory; what it works with is the Agent's."""

    _prompts: Prompts
    _conversation: Conversation

    @property
    def _memory(self) -> Memory:
        raise NotImplementedError

    def _tell(self, notice: Notice) -> None:
        raise NotImplementedError

    # -- significance ---------------------------------------------------------------------------------------------

    async def significance(self, *, world: str = MAIN_WORLD) -> dict[int, int]:
        """How many turns that a world sees are rated 0, 1, 2, 3."""
        return await asyncio.to_thread(self._memory.significance, world)

    async def rated(self, significance: int, *, limit: int = 200, world: str = MAIN_WORLD) -> list[Turn]:
        """The turns of one rating that a world sees, the newest first."""
        return await asyncio.to_thread(self._memory.rated, significance, limit, world=world)

    async def rate(self, turns: str | Iterable[str], significance: int) -> int:
        """Say how much turns matter, one or many in one append; how many there were. Raises NotFound or AgentError."""
        if significance not in range(4):
            raise AgentError(
                f"{significance} is not a valid significance. Use 0 (routine), 1 (notable), 2 (significant) or 3 "
                "(pivotal)."
            )
        ids = [turns] if isinstance(turns, str) else list(dict.fromkeys(turns))
        there = await asyncio.to_thread(self._memory.quotable, ids)
        if missing := [id for id in ids if id not in there]:
            raise NotFound(f"There is no message {missing[0]}, or it is hidden. Nothing was rated.")
        if ids:
            await self._keep(*(TurnRated(turn=id, significance=significance, by="user") for id in ids))
        return len(ids)

    # -- core blocks ----------------------------------------------------------------------------------------------

    async def blocks(self, *, world: str = MAIN_WORLD, project: Viewer = EVERYONE) -> list[CoreBlock]:
        """The core blocks, which are in every prompt of a world, and there of a project, or of none."""
        return await asyncio.to_thread(self._memory.blocks, world, project=project)

    async def write_block(self, name: str, text: str, *, world: str = MAIN_WORLD, project: str | None = None) -> None:
        """Say what a core block says from the next message on, in the chats of a project or (None) in all.

        Empty, it is gone; then a project has again what all have. Raises AgentError.
        """
        block, says = block_name(name), block_text(text)
        if not says:
            there = await self.blocks(world=world, project=project)
            known = next((each for each in there if each.name == block), None)
            if known is None:
                raise AgentError(f"There is no core block {block} to remove. Nothing was changed.")
            if known.project != project:
                raise AgentError(
                    f"The core block {block} is used in all projects. Nothing was changed. Remove it in a chat "
                    "outside projects."
                )
        await self._keep(CoreWritten(block=block, world=world, project=project, by="user", text=says))
        if not says:
            await self._prompts.forget_turns(())  # no state keeps what is gone

    # -- projects -------------------------------------------------------------------------------------------------

    async def projects(self) -> list[Project]:
        """The projects, archived ones too."""
        return await asyncio.to_thread(self._memory.projects)

    async def project_name(self, name: str) -> str:
        """How a project that there is writes its name, which may be given in any case. Raises NotFound."""
        return (await self._project(name)).name

    async def make_project(self, name: str, description: str = "") -> None:
        """Make a project, or describe one anew, which brings it back from the archive. Raises AgentError."""
        project = " ".join(clean_message(name).split())
        about = " ".join(clean_message(description).split()) if description.strip() else ""
        if len(project) > LONGEST_PROJECT or len(about) > LONGEST_DESCRIPTION:
            raise AgentError(
                f"A project's name has at most {LONGEST_PROJECT} characters, its description {LONGEST_DESCRIPTION}. "
                "Nothing was created. Shorten it."
            )
        names = [each.name for each in await self.projects()]
        known = [each for each in names if each.casefold() == project.casefold()]
        named = project if project in names or not known else known[0]
        await self._keep(ProjectMade(project=named, text=about))

    async def archive_project(self, name: str) -> None:
        """Take a project out of the lists; what belongs to it stays. Raises NotFound."""
        project = await self._project(name)
        await self._keep(ProjectMade(project=project.name, status="archived", text=project.description))

    async def assign(self, session: str, project: str | None) -> None:
        """Let a session belong to a project from here on, or to none. Raises NotFound."""
        await asyncio.to_thread(self._memory.session, session)
        name = None if project is None else (await self._project(project)).name
        await self._keep(ProjectAssigned(session=session, project=name))
        self._tell(SessionsChanged(session))

    async def _project(self, name: str) -> Project:
        known = await self.projects()
        found = [each for each in known if each.name.casefold() == name.strip().casefold()]
        if not found:
            there = f"Projects: {', '.join(each.name for each in known)}. " if known else ""
            raise NotFound(
                f"There is no project {name}. {there}Nothing was changed; /project {name} in a chat, or "
                f"`clew projects --make {name}`, creates it."
            )
        return next((each for each in found if each.name == name), found[0])

    # -- what is kept out of memory -------------------------------------------------------------------------------

    async def withhold(self, turn: str) -> None:
        """Keep a message out of memory, with what was answered; it stays in its chat. Raises NotFound."""
        turns = await asyncio.to_thread(self._with_answers, turn)
        await self._keep(*(TurnWithheld(turn=each) for each in turns))

    async def release(self, turn: str) -> None:
        """Let a message that was kept out of memory be remembered again, with what was answered. Raises NotFound."""
        turns = await asyncio.to_thread(self._with_answers, turn)
        await self._keep(*(TurnReleased(turn=each) for each in turns))

    def _with_answers(self, turn: str) -> list[str]:
        """A message, the tools' turns it led to and its reply; of a reply only itself."""
        meant = self._memory.turn(turn)
        if meant.role not in ("user", "note"):
            return [turn]
        answered = self._memory.exchange(turn)
        return [turn, *(tool.id for tool in answered.tools), *([answered.reply.id] if answered.reply else [])]

    # -- leave to change the memory -------------------------------------------------------------------------------

    def can_ask(self, possible: bool = True) -> None:
        """Whether there is somebody who answers ApprovalWanted; only the chat is taken to have one by itself."""
        self._conversation.approvals.possible = possible

    async def approve(self, approval: str) -> None:
        """Allow what a model asked to change. Raises NotFound if that waits for no answer (any more)."""
        await self._conversation.approvals.answer(approval, allowed=True)

    async def refuse(self, approval: str) -> None:
        """Do not allow it. Raises NotFound if that waits for no answer (any more)."""
        await self._conversation.approvals.answer(approval, allowed=False)

    async def _keep(self, *events: Event) -> None:
        await asyncio.to_thread(self._memory.append, *events)
        self._tell(MemoriesChanged())
