"""Projects: what chats, memories and documents can belong to."""

import asyncio

from graph.beliefs import Project
from graph.errors import NotFound
from graph.events import ProjectAssigned, ProjectMade
from graph.memory import Memory

from .errors import AgentError
from .readers import ProjectReader
from .recorder import Recorder
from .text import clean_message

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
        await asyncio.to_thread(self._memory.session, session)
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
