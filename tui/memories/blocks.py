"""The page of the core blocks: short texts that are in every prompt, each to be read and written here."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from graph.beliefs import CoreBlock
from tui.keymaps import BLOCKS, UNDO
from tui.keys import bindings, signs
from tui.memories.host import LEFT, NO_BLOCKS
from tui.text import MUTED, one_line, plain
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from tui.memories.host import Host

TOLD = "Included in every prompt from the next message on. Leave it empty to remove the block."
OF_PROJECT = "Included in every prompt of the project {} from the next message on. Leave it empty to remove the block."


class Blocks(Vertical):
    """The names at the left, the text of the chosen one at the right."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(BLOCKS)
    signs = signs((*BLOCKS, UNDO))

    def __init__(self, host: "Host") -> None:
        super().__init__(id="blocks", classes="memories-page")
        self._host = host

    def compose(self) -> ComposeResult:
        with Horizontal(classes="memories-body"):
            yield LongList[CoreBlock](_row, lambda block: block.name, classes="memories-list")
            with VerticalScroll(classes="memories-detail", can_focus=False):
                yield Static("", markup=False)

    @property
    def rows(self) -> LongList[CoreBlock]:
        return self.query_one(LongList)

    @property
    def count(self) -> str:
        return f"{len(self.rows.items)}"

    async def refresh_page(self, *, choose: str | None = None) -> None:
        """Read them again."""
        blocks = await self._host.view.blocks()
        follow = self._host.doing.follow
        self.rows.fill(blocks, choose=choose or next((each.name for each in blocks if each.name == follow), None))
        self.rows.set_class(not blocks, "-empty")  # its keys stay
        self._moved()

    @on(LongList.Moved)
    def _moved(self) -> None:
        block = self.rows.chosen
        words = plain(NO_BLOCKS, MUTED)
        if block is not None:
            by = "written by you" if block.by == "user" else "written by clew, with your permission"
            by += f" · project {one_line(block.project)}" if block.project is not None else ""
            words = Content.assemble(
                plain(one_line(block.name), "bold $secondary"), plain(f"  {by}\n\n", MUTED), plain(block.text)
            )
        self.query_one(".memories-detail Static", Static).update(words)

    @on(LongList.Chosen)
    def _open(self) -> None:
        self.action_do("edit")

    def action_do(self, what: str) -> None:
        block = self.rows.chosen
        if what == "new":
            self._host.do(self.write(""))
        elif block is not None:
            self._host.do(self.write(block.name) if what == "edit" else self._remove(block))

    async def write(self, name: str) -> str | None:
        """Write a block anew, or another one whose name is asked for."""
        if not name:
            asked = await self._host.ask_line(
                "Name of the new block", placeholder="persona, human, scratchpad …", yes="next"
            )
            if asked is None:
                return None
            name = asked
        before = next((block for block in self.rows.items if block.name == name), None)
        project = self._host.view.project
        told = TOLD if project is None else OF_PROJECT.format(one_line(project)[:40])
        text = await self._host.ask_text(
            f"Core block: {one_line(name)[:40]}", before.text if before else "", words=told
        )
        if text is None or text.strip() == (before.text if before else "").strip():
            return None if text is None else "Nothing was changed."
        if not await self._host.keeps():
            return LEFT
        told = await self._host.doing.write_block(name, text, before)
        await self.refresh_page(choose=name)
        return told

    async def _remove(self, block: CoreBlock) -> str | None:
        words = f"{one_line(block.text)[:300]}\n\nIt is no longer included from the next message on. Press u to undo."
        if not await self._host.confirm(f"Remove the block “{one_line(block.name)}”?", words, yes="remove"):
            return None
        return await self._host.doing.write_block(block.name, "", block)


def _row(block: CoreBlock, width: int) -> Sequence[Content]:
    return [plain(one_line(block.name), "bold"), plain(one_line(block.text[: 4 * width]), MUTED)]
