"""The memory panel: what was recalled for the reply in focus, from when, and why; what is pinned stands on top."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tui.keymaps import PANEL, bindings, letters_of, signs
from tui.state import Pack, PackItem
from tui.text import MUTED, cut, plain
from tui.widgets.foot import Foot
from tui.widgets.long_list import Rows

PIN = "◆"
TITLE_LINES = 2  # of a tall screen, as in styles.tcss
LOST_TO_WRAPPING = 8  # cells, or fewer: words are not parted
LEAST_TITLE = 16  # cells of words that say something


class MemoryPanel(Vertical):
    """Rows to walk through; what a key asks for goes to the app, which alone talks to the memory."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(PANEL)
    LETTERS: ClassVar[frozenset[str]] = letters_of(PANEL)

    class Asked(Message):
        """`what` is to be done, with `item` where that is about one."""

        def __init__(self, what: str, item: PackItem | None) -> None:
            super().__init__()
            self.what = what
            self.item = item

    def __init__(self, reread: Callable[[], None]) -> None:
        """`reread` has what it shows read again."""
        super().__init__(id="memory")
        self.reread = reread
        self.pack = Pack()
        self._places: list[PackItem | None] = []  # for each row: its item, or None for a heading

    def compose(self) -> ComposeResult:
        yield Static("Memory", id="memory-title", markup=False)
        yield Static("", id="memory-note", markup=False)
        yield Rows(id="memory-rows", markup=False, compact=True)
        yield Foot(signs(PANEL), id="memory-keys")

    def on_mount(self) -> None:
        self._paint()

    def show(self, pack: Pack) -> None:
        """Show this; the chosen item stays chosen if it is still there."""
        if pack != self.pack:
            self.pack = pack
            if self.is_mounted:
                self._paint()

    def _paint(self) -> None:
        pack, rows, chosen = self.pack, self.query_one(Rows), self.chosen
        self._paint_title()
        note = self.query_one("#memory-note", Static)
        note.update(plain(pack.note))
        note.display = bool(pack.note)
        self._places = []
        options: list[Option] = []
        for heading, items in (("Pinned", pack.pinned), (_count(pack), pack.recalled)):
            if not items:
                continue
            if self._places or pack.pinned:
                options.append(Option(_heading(heading), disabled=True))
                self._places.append(None)
            options.extend(Option(_row(item)) for item in items)
            self._places.extend(items)
            if heading == "Pinned" and pack.more_pinned:
                options.append(Option(plain(f"and {pack.more_pinned} more\n", MUTED), disabled=True))
                self._places.append(None)
        rows.clear_options()
        rows.add_options(options)  # an empty list stays where it is: the panel's keys come through it
        rows.highlighted = self._place_of(chosen)

    def _paint_title(self) -> None:
        """What it is of and about, cut to the room there is, so that quotes are whole."""
        title = self.query_one("#memory-title", Static)
        lines = TITLE_LINES if self.screen.has_class("-tall") else 1
        room = lines * title.size.width - (LOST_TO_WRAPPING if lines > 1 else 0)
        parts = [Content.styled("Memory", "bold $primary")]
        for words, style in ((self.pack.world and f"what-if {self.pack.world}", "$warning"), (self.pack.title, MUTED)):
            left = room - sum(part.cell_length + 2 for part in parts)
            if words and left >= LEAST_TITLE:
                cut_short = cut(words, left - 1) + ("”" if "“" in words else "")
                parts.append(plain(words if cut(words, left) == words else cut_short, style))
        title.update(Content("  ").join(parts))

    def on_resize(self) -> None:
        self._paint_title()

    def _place_of(self, chosen: PackItem | None) -> int | None:
        """Where the chosen item stands now, else the first recalled one, else the first."""
        places = [(place, item) for place, item in enumerate(self._places) if item is not None]
        same = [(place, item) for place, item in places if chosen is not None and item.turn == chosen.turn]
        if same and chosen is not None:  # what is pinned and recalled stands here twice
            return next((place for place, item in same if item.why == chosen.why), same[0][0])
        recalled = len(places) - len(self.pack.recalled)
        return places[recalled if self.pack.recalled else 0][0] if places else None

    @property
    def chosen(self) -> PackItem | None:
        """The item the mark stands at."""
        place = self.query_one(Rows).highlighted
        return self._places[place] if place is not None and place < len(self._places) else None

    @property
    def has_keys(self) -> bool:
        """The keys go to the panel."""
        return self.has_focus_within

    def take_focus(self) -> None:
        self.query_one(Rows).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_ask("open")

    def action_choose(self, step: int) -> None:
        rows = self.query_one(Rows)
        if step > 0:
            rows.action_cursor_down()
        else:
            rows.action_cursor_up()

    def action_ask(self, what: str) -> None:
        self.post_message(self.Asked(what, self.chosen))


def _count(pack: Pack) -> str:
    return f"Recalled {len(pack.recalled)}"


def _heading(words: str) -> Content:
    return plain(words, "bold $secondary")


def _row(item: PackItem) -> Content:
    mark = f"{PIN} " if item.pinned else ""
    head = Content.assemble(plain(mark, "$primary"), plain(item.head, "bold" if not item.hidden else MUTED))
    if item.hidden:
        head = Content.assemble(head, plain("  hidden", "italic $warning"))
    parts: list[Content | str] = [head, "\n", plain(item.words, MUTED if item.hidden else "")]
    if item.why:
        parts.extend(("\n", plain(item.why, f"italic {MUTED}")))
    return Content.assemble(*parts, "\n")
