"""What the memory screen reads from: a world as it is now or was at a time; `w` and `@` go from one to another."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from graph.values import Wanted
from tui.worlds import MAIN, labels, what_if

if TYPE_CHECKING:
    from agent.face import Face
    from agent.past import PastView
    from graph.values import Chunk, CoreBlock, Document, Observation, Project, Story, Turn


class View:
    """The same questions now and then. `at` is the time of a view of the past; nothing can be changed there."""

    def __init__(self, service: "Face", world: str = MAIN, project: str | None = None) -> None:
        self._service = service
        self._reader: Face | PastView = service
        self.world = world
        self.project = project  # of the chat that it was opened from
        self.at: datetime | None = None
        self._past: PastView | None = None

    # Now and then

    async def go_to(self, when: datetime) -> None:
        """The memory as it was at that time. Raises what `PastViewer.open` raises, and stays where it is then."""
        past = await self._service.past.open(when)
        await self.come_back()
        self._past, self._reader, self.at = past, past, when

    async def come_back(self) -> None:
        """Now again; what was made for the past is given up."""
        self._reader, self.at = self._service, None
        opened, self._past = self._past, None
        if opened is not None:
            await opened.close()

    # Questions

    async def memories(self, wanted: Wanted, *, limit: int) -> "list[Observation]":
        if wanted == Wanted(world=wanted.world):  # all of it: what was said tells how two stand, too
            wanted = replace(wanted, plain=False)
        return await self._reader.memories.find(replace(wanted, world=self.world), limit=limit)

    async def review(self) -> "list[Observation]":
        return await self.memories(Wanted(status="candidate"), limit=200)

    async def memory(self, id: str) -> "Story":
        return await self._reader.memories.story(id, world=self.world)

    async def blocks(self) -> "list[CoreBlock]":
        return await self._reader.memories.blocks(world=self.world, project=self.project)

    async def significance(self) -> dict[int, int]:
        return await self._reader.memories.significance(world=self.world)

    async def rated(self, significance: int, *, limit: int) -> "list[Turn]":
        return await self._reader.memories.rated(significance, limit=limit, world=self.world)

    async def projects(self) -> "list[Project]":
        return await self._reader.projects.all()

    async def documents(self) -> "list[Document]":
        return await self._reader.documents.all()

    async def chunks(self, document: str) -> "list[Chunk]":
        return await self._reader.documents.chunks(document)


PAST_STAYS = "The past cannot be changed. Press Esc to return to now."
ONE_WORLD = "There is only the main world. Use /fork what-if to start another."
DAY = "Show what clew knew on which date?"
DAYS = "2026-10-01, 2026-10-01 14:30, 3d or 2w"
LATER = "That date is in the future."


async def heading(service: "Face", view: "View") -> str:
    """What to say above the page of what is shown, where it is not the main world as it is now."""
    world = await what_if(service, view.world)
    parts = []
    if view.at is not None:
        local = view.at.astimezone()
        parts.append(f"As clew knew it on {local.day} {local:%b %Y, %H:%M} · Esc for now")
    if world is not None:
        parts.append(f"the what-if {world.quoted} · w to switch")
    elif view.world != MAIN:
        parts.append(f"the {(await labels(service)).get(view.world, 'story')} · w to switch")
    words = " · ".join(parts)
    return words[:1].upper() + words[1:]


async def next_world(service: "Face", view: "View") -> str | None:
    """Turn to the world that comes after the one that is shown."""
    worlds = [world.id for world in await service.branches.worlds()]
    if len(worlds) < 2:
        return ONE_WORLD
    here = worlds.index(view.world) if view.world in worlds else -1
    view.world = worlds[(here + 1) % len(worlds)]
    return "The main world." if view.world == worlds[0] else None


async def show_day(view: "View", said: str) -> str | None:
    """Turn to the memory as it was at the end of a day, or at a time; what is wrong with what was said, if anything."""
    from tui.commands.choosing import end_of, parse_since

    now = datetime.now(UTC)
    try:
        begins, when = parse_since(said, now=now), min(now, end_of(said, now=now))
    except ValueError as error:
        return str(error)
    if begins > now:
        return LATER
    await view.go_to(when)
    return None
