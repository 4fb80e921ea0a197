"""A reply's Markdown on the screen: Textual's, made steady for texts that grow and words that look like tags."""

from functools import cache

from markdown_it import MarkdownIt
from textual import events
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownBlock, MarkdownBulletList, MarkdownList, MarkdownOrderedList

from tui.text import shown


@cache
def parser() -> MarkdownIt:
    """GitHub's Markdown with HTML as plain words: Textual drops HTML blocks, and words must not vanish."""
    return MarkdownIt("gfm-like", {"html": False, "linkify": False}).disable(["linkify"])


async def _grow(old: MarkdownList, new: MarkdownBlock) -> bool:
    """Replace the last item of a list and mount those after it; False if the list is another one altogether.

    Textual 8.2.8 mounts the whole list anew for every bit of text, four widgets an item.
    """
    if type(new) is not type(old) or not isinstance(new, MarkdownList):
        return False
    have = len(old.children)
    if have == 0 or len(new._blocks) < have or (have < 10 <= len(new._blocks) and isinstance(old, MarkdownOrderedList)):
        return False
    rows: list[Widget] = list(new.compose())
    await old.children[-1].remove()
    await old.mount_all(rows[have - 1 :])
    old._copy_context(new)
    return True


class BulletList(MarkdownBulletList):
    """A list that grows at its end."""

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        if not await _grow(self, block):
            await super()._update_from_block(block)


class OrderedList(MarkdownOrderedList):
    """A numbered list that grows at its end."""

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        if not await _grow(self, block):
            await super()._update_from_block(block)


class Prose(Markdown):
    """Whole texts are built while composing, so that a message has its height when it is mounted."""

    BLOCKS = {  # noqa: RUF012 - Markdown declares it so
        **Markdown.BLOCKS,
        "bullet_list_open": BulletList,
        "ordered_list_open": OrderedList,
    }

    def __init__(self, text: str) -> None:
        super().__init__(parser_factory=parser, open_links=False)
        self._whole = shown(text)

    def compose(self) -> ComposeResult:
        yield from self._build_from_source(self._whole)

    def _on_mount(self, event: events.Mount) -> None:  # type: ignore[override]
        # Textual 8.2.8: Markdown's own handler parses in a thread and mounts later, which makes the transcript jump.
        event.prevent_default()
        self._markdown = self._whole
        self._theme = self.app.theme
        lines = self._whole.splitlines()
        self._last_parsed_line = len(lines) - (1 if lines and lines[-1] else 0)
