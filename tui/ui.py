"""What controllers and screens may ask of the app, which composes, binds and routes."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from textual.screen import Screen

Answer = TypeVar("Answer")


@runtime_checkable
class Ui(Protocol):
    """Words for the person, screens over the chat, work beside it, and the way to what has a name."""

    def say(self, words: str, *, error: bool = False, for_s: float | None = None) -> None:
        """A word for the person: above the composer for a while, or where the screen over it has a place for it."""
        ...

    def unsay(self) -> None:
        """Take back what was said."""
        ...

    def show(self, screen: "Screen[Any]") -> None:
        """Lay a screen over the chat."""
        ...

    async def ask(self, screen: "Screen[Answer]") -> Answer:
        """Lay a screen over the chat; what it closes with."""
        ...

    def begin(self, work: Awaitable[None]) -> None:
        """Do this beside everything else; a failure whose message is for people is said."""
        ...

    async def open_session(self, session: str | None) -> None:
        """Show another chat (None: a new one); the draft of the one that is left stays with it."""
        ...

    def perform(self, name: str, argument: str = "", *, by_key: bool = False) -> None:
        """Do what the table's action `name` does (tui/actions.py); `by_key`: one of its keys was pressed."""
        ...
