"""What the pages of the memory screen need of it, and the words that pages without content show."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from textual.content import Content

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.plans import Plan
    from tui.memories.session_changes import SessionChanges
    from tui.memories.view import View
    from tui.state import State

NOTHING_LEARNED = (
    "No memories yet. What clew learns as you chat appears here, each memory with its "
    "proof.\n\nUse /remember TEXT to add one yourself."
)
NOTHING_THEN = "Nothing was known then. Press Esc to return to now."
NOTHING_FITS = "No memories match these filters. Press Backspace to clear them."
NOTHING_WAITS = (
    "Nothing to review. Memories that clew is unsure about appear here: press a to keep one, e to edit it or x to "
    "reject it."
)
NO_BLOCKS = (
    "No core blocks yet. Press n to write one: a short text included in every prompt, such as who you "
    "are or how clew should talk to you."
)
NOTHING_RATED = (
    "Nothing is rated yet. After each exchange clew rates how much it matters: 0 routine, 1 notable, "
    "2 significant, 3 pivotal."
)
NO_DOCUMENTS = "No documents yet. Press i to add a file or folder (Markdown, text, code or PDF), or use /ingest PATH."


LEFT = "Nothing was changed."


class Host(Protocol):
    """The screen as its pages see it."""

    proposed: str  # the words that are to stand in the next correction

    @property
    def service(self) -> "Agent":
        """What changes the memory."""
        ...

    @property
    def view(self) -> "View":
        """What the pages read from."""
        ...

    @property
    def failures(self) -> tuple[type[Exception], ...]: ...

    @property
    def doing(self) -> "SessionChanges": ...

    @property
    def state(self) -> "State": ...

    def say(self, words: str, *, error: bool = False) -> None:
        """Words for the person, at the foot of the screen."""
        ...

    def do(self, work: Coroutine[Any, Any, str | None], *, reads: bool = False) -> None:
        """Do it, tell what it answers or why it failed, and read the page again; one at a time.

        In a view of the past only what just `reads` is done.
        """
        ...

    def refresh_soon(self) -> None:
        """Read the page and the counts again."""
        ...

    def counted(self) -> None:
        """The page has another count."""
        ...

    async def keeps(self) -> bool:
        """Whether it may be kept for good; in a private chat the person is asked."""
        ...

    async def ask_line(
        self, title: str, value: str = "", *, placeholder: str = "", yes: str = "save"
    ) -> str | None: ...

    async def ask_text(self, title: str, value: str, *, words: str = "") -> str | None: ...

    async def agree(self, title: str, plan: "Callable[[], Awaitable[Plan]]", *, yes: str, words: str = "") -> bool:
        """Show what a plan would do, and do it if the person agrees."""
        ...

    async def confirm(self, title: str, words: str, *, yes: str) -> bool: ...

    def read(self, title: str, words: Content | str) -> None: ...

    def ingest(self, path: str) -> None: ...

    def walk_from(self, table: str, identity: str) -> None:
        """Show a node of the graph with its neighbours."""
        ...

    def go_to(self, session: str, turn: str) -> None:
        """Close, and show a turn where it was said."""
        ...
