"""What the tests of a chat look at: its messages, the words on the screen, and which screen is uppermost."""

from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen

from tests.tui.conftest import screen_text, wait_until
from tui.app import ClewApp
from tui.widgets.impact import ImpactScreen
from tui.widgets.message import AssistantMessage, UserMessage

FRAMES = str.maketrans("│▌▊", "   ")


def texts(app: ClewApp) -> list[str]:
    """The messages of the chat on the screen."""
    return [message.text for message in app.view.transcript.messages]


def last(app: ClewApp, kind: type[UserMessage] | type[AssistantMessage]) -> UserMessage | AssistantMessage:
    """The last message of this kind."""
    return [message for message in app.view.transcript.messages if isinstance(message, kind)][-1]


def words(app: App[int]) -> str:
    """What the screen says, on one line, without what frames it, so that a sentence is whole."""
    return " ".join(screen_text(app).translate(FRAMES).split())


async def sees(pilot: Pilot[int], *told: str) -> None:
    """Wait until the screen says all of that, wherever its lines break."""
    wanted = [" ".join(each.split()) for each in told]

    def there() -> bool:
        shown = words(pilot.app)
        return all(each in shown for each in wanted)

    if any(wanted):
        await wait_until(pilot, there, f"{wanted}")


async def sees_no_more(pilot: Pilot[int], gone: str) -> None:
    """Wait until the screen does not say that."""
    await wait_until(pilot, lambda: gone not in words(pilot.app), f"the end of {gone}")


async def sees_screen(pilot: Pilot[int], kind: type[Screen[Any]], *told: str) -> None:
    """Wait until such a screen is uppermost, and says all of that; one of an impact with its plan."""

    def there() -> bool:
        screen = pilot.app.screen
        return isinstance(screen, kind) and not (isinstance(screen, ImpactScreen) and screen.plan is None)

    await wait_until(pilot, there, kind.__name__)
    await sees(pilot, *told)


async def sees_chat(pilot: Pilot[int]) -> None:
    """Wait until nothing lies over the chat."""
    await wait_until(pilot, lambda: len(pilot.app.screen_stack) == 1, "the chat")


async def says(app: ClewApp, pilot: Pilot[int], *messages: str) -> None:
    """Wait until these are the messages of the chat."""
    await wait_until(pilot, lambda: texts(app) == [*messages], f"{messages}")
