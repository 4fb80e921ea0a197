"""What the tests of a chat do: lines that are sent, words that are pasted, keys, and what comes of them."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from textual import events
from textual.pilot import Pilot
from textual.screen import Screen

from tests.examples import soaking
from tests.tui.conftest import wait_until
from tests.tui.seeing import sees, sees_chat, sees_screen
from tui.app import ClewApp

Case = TypeVar("Case")
Opens = type[Screen[Any]] | None
Until = Callable[[], object] | None


def some(*cases: Case) -> Sequence[Case]:
    """Sizes, or other cases that show much the same: all of them in `make soak`, else the first and the last."""
    return cases if soaking() else (cases[0], cases[-1])


async def press(
    pilot: Pilot[int], *keys: str, opens: Opens = None, shows: str | Sequence[str] = (), until: Until = None
) -> None:
    """Press keys, and wait until that opened such a screen, the screen says that, and that is true."""
    await pilot.press(*keys)
    if opens is not None:
        await sees_screen(pilot, opens)
    await sees(pilot, *([shows] if isinstance(shows, str) else shows))
    if until is not None:
        await wait_until(pilot, until)


async def closes(pilot: Pilot[int], *keys: str) -> None:
    """Press keys, and wait until nothing lies over the chat."""
    await pilot.press(*keys)
    await sees_chat(pilot)


async def enter(
    pilot: Pilot[int], line: str, *told: str, opens: Opens = None, shows: str | Sequence[str] = (), until: Until = None
) -> None:
    """Send a line, put into the composer in one piece; wait for a screen, what it says, and until that is true."""
    composer = app_of(pilot).view.composer
    composer.text = line  # as if it were typed
    composer.move_cursor(composer.document.end)
    await press(pilot, "enter", opens=opens, shows=shows, until=until)
    await sees(pilot, *told)


async def perform(pilot: Pilot[int], name: str, argument: str = "", **then: Any) -> None:
    """Have an action done, as its key or its command does, and wait as `press` does."""
    app_of(pilot).perform(name, argument)
    await press(pilot, **then)


async def paste(pilot: Pilot[int], text: str, *keys: str, shows: str = "") -> None:
    """Paste a text where the cursor is, which takes less than typing it, and press keys; wait until it says that."""
    pilot.app.post_message(events.Paste(text))
    await pilot.pause()
    await press(pilot, *keys, shows=shows)


async def converse(pilot: Pilot[int], line: str) -> None:
    """Send a message, and wait until its reply is whole."""
    view = app_of(pilot).view
    before = view.state.last
    await enter(pilot, line)
    await wait_until(
        pilot, lambda: view.state.last is not before and view.state.reply is None and not view.state.waiting
    )


def app_of(pilot: Pilot[int]) -> ClewApp:
    """The app that it plays."""
    assert isinstance(pilot.app, ClewApp)
    return pilot.app
