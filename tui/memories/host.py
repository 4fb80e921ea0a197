"""What the pages of the memory screen need of it, and the words that pages without content show."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from textual.content import Content

if TYPE_CHECKING:
    from tui.memories.doing import Doing
    from tui.memories.view import View
    from tui.service import Service
    from tui.state import State
    from tui.time_service import Plan

NOTHING_LEARNED = (
    "Nothing learned yet. Talk a while; what clew understands of it comes to stand here, each with the words that "
    "prove it.\n\n/remember TEXT tells it something at once."
)
NOTHING_THEN = "Nothing of this was known then. Esc: now."
NOTHING_FITS = "Nothing fits these filters. Backspace clears them."
NOTHING_WAITS = (
    "Nothing waits for you. What clew is not sure of comes to stand here: a keeps it, e puts it right, x throws it out."
)
NO_BLOCKS = (
    "No core blocks yet. n writes one: a short text that is in every prompt, such as who you are, or how clew is to "
    "speak with you."
)
NOTHING_RATED = (
    "Nothing is rated yet. After each exchange clew judges how much it matters: 0 routine, 1 notable, 2 significant, "
    "3 pivotal."
)
NO_DOCUMENTS = (
    "No documents yet. i reads one in, or a folder of them: Markdown, text, code, PDF. /ingest PATH does too."
)


LEFT = "Nothing was changed."


class Host(Protocol):
    """The screen as its pages see it."""

    proposed: str  # the words that are to stand in the next correction

    @property
    def service(self) -> "Service":
        """What changes the memory."""
        ...

    @property
    def view(self) -> "View":
        """What the pages read from."""
        ...

    @property
    def failures(self) -> tuple[type[Exception], ...]: ...

    @property
    def doing(self) -> "Doing": ...

    @property
    def state(self) -> "State": ...

    def say(self, words: str, *, error: bool = False) -> None:
        """Words for the person, at the foot of the screen."""
        ...

    def do(self, deed: Coroutine[Any, Any, str | None], *, reads: bool = False) -> None:
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

    async def ask_line(self, title: str, value: str = "", *, placeholder: str = "") -> str | None: ...

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
