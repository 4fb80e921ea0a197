"""Somebody before the screen: what they do, and the words (`shows`) or whatever else (`until`) they wait for."""

from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from tests.tui.conftest import screen_text, wait_until

FRAMES = str.maketrans("│▌▊", "   ")


def words(app: App[Any]) -> str:
    """The words on the screen without what frames them, so that a sentence is whole."""
    return " ".join(screen_text(app).translate(FRAMES).split())


async def shows(pilot: Pilot[Any], *told: str) -> None:
    """Wait until all of that is on the screen, wherever its lines break."""
    await _wait(pilot, "what was done", shows=told)


async def after(pilot: Pilot[Any], *keys: str, **then: Any) -> None:
    """Press keys, and wait."""
    await pilot.press(*keys)
    await _wait(pilot, keys, **then)


async def said(pilot: Pilot[Any], line: str, **then: Any) -> None:
    """Send what is not worth typing letter by letter, and wait."""
    pilot.app.view.composer.put(line)  # type: ignore[attr-defined]
    await after(pilot, "enter", **then)


async def performed(pilot: Pilot[Any], action: str, argument: str = "", **then: Any) -> None:
    """Have the chat do something, and wait."""
    pilot.app.perform(action, argument)  # type: ignore[attr-defined]
    await _wait(pilot, action, **then)


async def _wait(
    pilot: Pilot[Any], done: object, *, shows: str | tuple[str, ...] = (), until: Callable[[], object] | None = None
) -> None:
    told = [" ".join(each.split()) for each in ((shows,) if isinstance(shows, str) else shows)]
    await wait_until(pilot, lambda: all(each in words(pilot.app) for each in told), f"{told} after {done}")
    if until is not None:
        await wait_until(pilot, until, f"what comes after {done}")
