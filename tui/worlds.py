"""Which world a screen shows, in words: the main one, or a what-if by its name and by the chat that it left."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.text import cut

if TYPE_CHECKING:
    from agent.face import Face
    from graph.values import World

MAIN = "main"
UNNAMED = "an untitled chat"
LONGEST = 40  # characters of the name of the chat that a what-if left
LISTED = 24  # of any name in a list
BRIEF = 18  # and of any name where there is little room


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A what-if: its name (None: it has none yet), the chat that began it and the name of the one that this left."""

    name: str | None
    session: str | None
    of: str

    @property
    def short(self) -> str:
        """What it is called after the word what-if, where there is little room."""
        return cut(self.name, BRIEF) if self.name else f"of “{cut(self.of, BRIEF)}”"

    @property
    def quoted(self) -> str:
        """As `short`, in a sentence."""
        return f"“{cut(self.name, LONGEST)}”" if self.name else f"of “{cut(self.of, LONGEST)}”"


async def what_if(service: "Face", world: str) -> WhatIf | None:
    """The what-if that a world is; None for the main one, and for a story."""
    if world == MAIN:
        return None
    found = next((each for each in await service.branches.worlds() if each.id == world), None)
    if found is not None and found.story == found.id:
        return None
    return await named(service, found) if found is not None else WhatIf(None, None, UNNAMED)


async def named(service: "Face", world: "World") -> WhatIf:
    """A what-if with its names."""
    origin = (await service.chats.get(world.origin)).name if world.origin is not None else None
    return WhatIf(world.name, world.session, origin or UNNAMED)


async def labels(service: "Face") -> dict[str, str]:
    """What to call each world but the main one in a list: `what-if Corfu`, `story The Lighthouse`."""
    found = {}
    for world in await service.branches.worlds():
        if world.story == world.id:
            found[world.id] = f"story {cut(world.name or UNNAMED, LISTED)}"
        elif world.id != MAIN:
            found[world.id] = f"what-if {cut((await named(service, world)).short, LISTED)}"
    return found


async def world_of(service: "Face", session: str | None) -> str:
    """The world of a chat; that of a new one is the main one."""
    return (await service.chats.get(session)).world if session is not None else MAIN
