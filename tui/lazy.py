"""Parts of the app that are imported when they are first needed: none of them is for the first paint."""

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.palette import ActionProvider


def deeds() -> ModuleType:
    """What actions do, imported when the first one is asked for: not needed for the first paint."""
    from tui import deeds as module

    return module


def message_keys() -> ModuleType:
    """The keys on a message, imported when the first one is pressed."""
    from tui import message_keys as module

    return module


def listing() -> ModuleType:
    """The list of chats, imported when it is first needed."""
    from tui import listing as module

    return module


def offering() -> ModuleType:
    """The offer of a better model, imported when the first reply has ended."""
    from tui import offering as module

    return module


def action_provider() -> "type[ActionProvider]":
    """What the palette is filled by, imported when it is first opened."""
    from tui.palette import ActionProvider

    return ActionProvider
