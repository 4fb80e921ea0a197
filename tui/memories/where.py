"""Which world the memory screen shows, and when: `w` goes from world to world, `@` to a day, Esc back to now."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tui.worlds import what_if

if TYPE_CHECKING:
    from agent.agent import Agent
    from tui.memories.view import View

PAST_STAYS = "The past cannot be changed. Press Esc to return to now."
ONE_WORLD = "There is only the main world. Use /fork what-if to start another."
DAY = "Show what clew knew on which date?"
DAYS = "2026-10-01, 2026-10-01 14:30, 3d or 2w"
LATER = "That date is in the future."


async def heading(service: "Agent", view: "View") -> str:
    """What to say above the page of what is shown, where it is not the main world as it is now."""
    world = await what_if(service, view.world)
    parts = []
    if view.at is not None:
        local = view.at.astimezone()
        parts.append(f"As clew knew it on {local.day} {local:%b %Y, %H:%M} · Esc for now")
    if world is not None:
        parts.append(f"the what-if {world.quoted} · w to switch")
    words = " · ".join(parts)
    return words[:1].upper() + words[1:]


async def next_world(service: "Agent", view: "View") -> str | None:
    """Turn to the world that comes after the one that is shown."""
    worlds = [world.id for world in await service.branches.worlds()]
    if len(worlds) < 2:
        return ONE_WORLD
    here = worlds.index(view.world) if view.world in worlds else -1
    view.world = worlds[(here + 1) % len(worlds)]
    return "The main world." if view.world == worlds[0] else None


async def show_day(view: "View", said: str) -> str | None:
    """Turn to the memory as it was at the end of a day, or at a time; what is wrong with what was said, if anything."""
    from tui.since import end_of, parse_since

    now = datetime.now(UTC)
    try:
        begins, when = parse_since(said, now=now), min(now, end_of(said, now=now))
    except ValueError as error:
        return str(error)
    if begins > now:
        return LATER
    await view.go_to(when)
    return None
