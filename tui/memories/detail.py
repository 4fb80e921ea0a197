"""The right half of the memory screen: one observation whole, its revisions, and the words that prove it."""

from datetime import datetime
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from tui.memories import words
from tui.text import MUTED, plain

if TYPE_CHECKING:
    from graph.beliefs import Proof, Story


class Detail(VerticalScroll, can_focus=False):
    """Shows a story with one of its sources chosen, or words about there being none."""

    def __init__(self) -> None:
        super().__init__(classes="memories-detail")
        self.story: Story | None = None
        self._place = 0

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def show(self, story: "Story") -> None:
        """Show this one; of the same observation the chosen source stays chosen."""
        same = self.story is not None and self.story.observation.series == story.observation.series
        self.story = story
        if not same:
            self._place = 0
            self.scroll_home(animate=False, immediate=True)
        self._place = max(0, min(self._place, len(words.proofs(story)) - 1))
        self._paint()

    def tell(self, text: str) -> None:
        """Words in place of an observation."""
        self.story = None
        self.query_one(Static).update(plain(text, MUTED))

    @property
    def proof(self) -> "Proof | None":
        """The source that is chosen."""
        found = words.proofs(self.story) if self.story is not None else []
        return found[self._place] if self._place < len(found) else None

    def choose(self, step: int) -> None:
        """Another of its sources."""
        if self.story is not None and (count := len(words.proofs(self.story))):
            self._place = (self._place + step) % count
            line = self._paint()
            self.scroll_to(y=max(0, line - self.size.height // 2), animate=False)

    def scroll_pages(self, pages: int) -> None:
        self.scroll_relative(y=pages * max(1, self.size.height - 2), animate=False)

    def _paint(self) -> int:
        if self.story is None:
            return 0
        width = max(1, self.scrollable_content_region.width)
        content, line = words.detail(self.story, self._place, datetime.now().astimezone(), width)
        self.query_one(Static).update(content)
        return line

    def on_resize(self) -> None:
        self._paint()
