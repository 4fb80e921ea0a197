"""Which world a screen shows, in words: the main one, or a what-if by the name of the chat that began it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.service import Service

MAIN = "main"
UNNAMED = "what-if"


async def world_name(service: "Service", world: str) -> str:
    """The name of a what-if for people; empty for the main world."""
    if world == MAIN:
        return ""
    found = next((each for each in await service.worlds() if each.id == world), None)
    return (found.name if found is not None else None) or UNNAMED


async def world_of(service: "Service", session: str | None) -> str:
    """The world of a chat; that of a new one is the main one."""
    return (await service.session(session)).world if session is not None else MAIN
