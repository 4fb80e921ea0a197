"""A list to choose from, and beside it what the choice would do."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.keymaps import CHOOSER, KeyRow, Sign, bindings, signs
from tui.latest import Latest, is_there
from tui.text import MUTED, plain
from tui.widgets.foot import Foot
from tui.widgets.long_list import LongList
from tui.widgets.pages import Fold, Pages, PageText

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Chosen(Generic[Item]):
    """What was chosen: `answer` is the name of the key's meaning; `item` is None where the list is empty."""

    answer: str
    item: Item | None


@dataclass(frozen=True, slots=True)
class ChooserKey:
    """A key of the chooser, and the answer it gives."""

    row: KeyRow
    answer: str
    always: bool = False  # also where the list is empty

    @property
    def key(self) -> str:
        return self.row.binds[0].key


class Chooser(ModalScreen[Chosen[Any] | None], Generic[Item]):
    """`preview(item)` is asked for the row under the mark; what it fails with is shown in its place.

    `more` finds out what else the rows are to show, and calls what it is given when they are to be drawn again.
    """

    AUTO_FOCUS = "LongList"
    BINDINGS: ClassVar[list[BindingType]] = bindings(CHOOSER)

    def __init__(
        self,
        title: str,
        items: Sequence[Item],
        *,
        paint: Callable[[Item, int], Sequence[Content]],
        identity: Callable[[Item], str],
        preview: Callable[[Item], Awaitable[Content | PageText]],
        keys: Sequence[ChooserKey],
        failures: tuple[type[Exception], ...],
        choose: str | None = None,
        height: int = 2,
        empty: str = "Nothing here yet.",
        more: Callable[[Callable[[], None]], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._items = items
        self._keys = keys
        self._choose = choose
        self._empty = empty
        self._more = more
        self._identity = identity
        self._preview = preview
        self._failures = failures
        self._rows = LongList[Item](paint, identity, height=height, classes="chooser-list")
        self._latest: Latest[Item, PageText] = Latest(self._look, self._show)
        for key in keys:  # bindings, as the arrows are: a key that is handled otherwise would overtake them
            self._bindings.bind(key.key, key.row.binds[0].action, show=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog page chooser"):
            yield Static(plain(self._title), classes="dialog-title", markup=False)
            with Container(classes="chooser-body"):
                yield self._rows
                with Vertical(classes="chooser-preview"):
                    yield Pages(Content(""), classes="chooser-words")
                    yield Fold()
            yield Foot(self._signs, classes="dialog-keys")

    @property
    def _signs(self) -> tuple[Sign, ...]:
        return signs((*(key.row for key in self._keys), *CHOOSER))

    def on_mount(self) -> None:
        self._rows.fill(self._items, choose=self._choose)
        self._rows.set_class(not self._items, "-empty")
        self.query_one(".chooser-preview").set_class(not self._items, "-empty")
        if not self._items:
            self.tell(PageText(plain(self._empty, MUTED)))
        if self._more is not None:
            self.run_worker(self._find_more(self._more))

    async def _find_more(self, more: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
        with suppress(*self._failures):  # the rows stay as they are; choosing one tells
            await more(self._rows.redraw)

    @on(LongList.Moved)
    def _moved(self) -> None:
        if self._rows.chosen is not None:
            self.run_worker(self._latest.ask(self._rows.chosen))

    async def _look(self, item: Item) -> PageText:
        try:
            found = await self._preview(item)
        except self._failures as error:
            found = plain(str(error), "$text-error")
        return found if isinstance(found, PageText) else PageText(found)

    def _show(self, item: Item, words: PageText) -> None:
        if is_there(self) and self._rows.chosen is item:
            self.tell(words)

    def tell(self, words: PageText) -> None:
        """Show this in the place of a preview."""
        self.query_one(Pages).tell(words)

    @on(Pages.Turned)
    def _turned(self, event: Pages.Turned) -> None:
        self.query_one(Fold).show(event)

    @on(LongList.Chosen)
    def _entered(self) -> None:
        self.action_answer("enter")

    def action_answer(self, pressed: str) -> None:
        key = next((key for key in self._keys if key.key == pressed), None)
        if key is not None and (self._rows.chosen is not None or key.always):
            self.dismiss(Chosen(key.answer, self._rows.chosen))

    def action_page(self, pages: int) -> None:
        """Further in the preview where it goes on that way, else in the list."""
        preview = self.query_one(Pages)
        if preview.scroll_y < preview.max_scroll_y if pages > 0 else preview.scroll_y > 0:
            preview.turn(pages)
        else:
            self._rows.action_page(pages)

    def action_scroll(self, pages: int) -> None:
        self.query_one(Pages).turn(pages)
