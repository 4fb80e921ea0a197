"""Which world the memory screen shows, and when: `w` goes from world to world, `@` to a day, Esc back to now."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tui.worlds import what_if

if TYPE_CHECKING:
    from tui.memories.screen import MemoriesScreen

PAST_STAYS = "The past cannot be changed. Press Esc to return to now."
ONE_WORLD = "There is only the main world. Use /fork what-if to start another."
DAY = "Show what clew knew on which date?"
DAYS = "2026-10-01, 2026-10-01 14:30, 3d or 2w"
LATER = "That date is in the future."


async def tell(screen: "MemoriesScreen") -> None:
    """Say above the page what is shown, where it is not the main world as it is now."""
    world = await what_if(screen.service, screen.view.world)
    at = screen.view.at
    parts = []
    if at is not None:
        local = at.astimezone()
        parts.append(f"As clew knew it on {local.day} {local:%b %Y, %H:%M} · Esc for now")
    if world is not None:
        parts.append(f"the what-if {world.quoted} · w to switch")
    words = " · ".join(parts)
    screen.tell_where(words[:1].upper() + words[1:])


async def next_world(screen: "MemoriesScreen") -> str | None:
    """Show the world that comes after the one that is shown."""
    worlds = [world.id for world in await screen.service.branches.worlds()]
    if len(worlds) < 2:
        return ONE_WORLD
    here = worlds.index(screen.view.world) if screen.view.world in worlds else -1
    screen.view.world = worlds[(here + 1) % len(worlds)]
    await tell(screen)
    return "The main world." if screen.view.world == worlds[0] else None


async def ask_day(screen: "MemoriesScreen") -> str | None:
    """Ask for a day, and show the memory as it was at its end, or now if that is still to come; or at a time."""

    async def show(said: str) -> str | None:
        try:
            return await _show_day(screen, said)
        except screen.failures as error:
            return str(error)

    await screen.ask_line(DAY, placeholder=DAYS, yes="show", check=show)
    return None


async def _show_day(screen: "MemoriesScreen", said: str) -> str | None:
    """Show the memory as it was then; what is wrong with what was said, if it cannot be shown."""
    from tui.commands.since import parse_since
    from tui.commands.then import end_of

    now = datetime.now(UTC)
    try:
        begins, when = parse_since(said, now=now), min(now, end_of(said, now=now))
    except ValueError as error:
        return str(error)
    if begins > now:
        return LATER
    await screen.view.go_to(when)
    await tell(screen)
    return None


async def now(screen: "MemoriesScreen") -> None:
    """The memory as it is."""
    await screen.view.come_back()
    await tell(screen)
