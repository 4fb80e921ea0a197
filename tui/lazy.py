"""Parts of the app that are imported when they are first needed: none of them is for the first paint."""

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.handlers import ActionProvider


def handlers() -> ModuleType:
    """What actions do, imported when the first one is asked for."""
    from tui import handlers as module

    return module


def session_handlers() -> ModuleType:
    """What the list of chats asks for, imported when it first does."""
    from tui import session_handlers as module

    return module


def message_keys() -> ModuleType:
    """The keys on a message, imported when the first one is pressed."""
    from tui import message_keys as module

    return module


def copying() -> ModuleType:
    """Copying, imported when something is."""
    from tui import clipboard as module

    return module


def action_provider() -> "type[ActionProvider]":
    """What the palette is filled by, imported when it is first opened."""
    from tui.handlers import ActionProvider

    return ActionProvider
