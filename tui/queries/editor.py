"""The editor of the query screen: Cypher in colours, what can be written next, and the place where it is wrong."""

import asyncio
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widgets import OptionList, TextArea
from textual.widgets.option_list import Option

from graph.console.lexing import LONGEST
from tui.keymaps import EDITOR, bindings
from tui.queries.completing import Completion, QueryVocabulary, Suggestions, TokenKind, lines_in_colours, offer_at
from tui.text import MUTED, clean, plain

PLACEHOLDER = "MATCH …   or ? and a question in words · Ctrl+L ready queries"
LINES, NAMES, HINTS = 8, 28, 44  # of the list of what can be written


class Popup(OptionList, can_focus=False):
    """What can be written where the cursor stands; the editor keeps the focus and tells it where to go."""

    def __init__(self) -> None:
        super().__init__(id="query-popup", markup=False, compact=True)
        self.display = False
        self.offer = Suggestions(0, ())
        self.moved = False  # the person has gone into the list
        self.asked = False  # the list was asked for, and not only offered

    def show(self, offer: Suggestions, below: Region, room: Region) -> None:
        """Show these under the cursor, or above it where there is more room."""
        self.offer, self.moved = offer, False
        self.clear_options()
        names = min(NAMES, max(len(each.label or each.insert) for each in offer.choices))
        self.add_options([Option(_row(each, names)) for each in offer.choices])
        self.highlighted = 0
        under = room.bottom - below.bottom
        height = min(LINES, len(offer.choices), max(under, below.y - room.y))
        hints = min(HINTS, max(len(each.about) for each in offer.choices))
        width = min(room.width, names + (hints + 2 if hints else 0) + 4)
        y = below.bottom if under >= height else below.y - height
        self.styles.width, self.styles.height = width, height
        self.styles.offset = (max(0, min(below.x, room.right - width)), max(0, y))
        self.display = True

    def move(self, step: int) -> None:
        self.moved = True
        self.highlighted = ((self.highlighted or 0) + step) % len(self.offer.choices)

    @property
    def chosen(self) -> Completion | None:
        return self.offer.choices[self.highlighted] if self.display and self.highlighted is not None else None


def _row(completion: Completion, names: int) -> Content:
    name = plain(completion.label or completion.insert).truncate(names, ellipsis=True, pad=True)
    return name + plain(f"  {completion.about}", MUTED)


class QueryEditor(TextArea):
    """A text area for one query. Where words can be completed a list stands under the cursor: Tab takes from it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*(f"query-editor--{kind}" for kind in TokenKind), "query-editor--wrong"}
    BINDINGS: ClassVar[list[BindingType]] = bindings(EDITOR)

    class Interrupted(Message):
        """Ctrl+C with nothing to copy."""

    def __init__(self, popup: Popup, vocabulary: QueryVocabulary) -> None:
        super().__init__(
            id="query-editor",
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            compact=True,
            highlight_cursor_line=False,
            placeholder=PLACEHOLDER,
        )
        self.popup = popup
        self.vocabulary = vocabulary
        self.wrong: tuple[int, int, int] | None = None  # line, first column, column behind it; from 0
        self._painted: tuple[str, list[Text]] | None = None  # the text, and its lines in colours
        self._typing = False

    def put(self, text: str) -> None:
        """Replace the text as an edit that can be undone; the cursor at its end."""
        self.popup.display = False
        self.replace(clean(text), (0, 0), self.document.end, maintain_selection_offset=False)
        self.move_cursor(self.document.end)

    def write(self, text: str) -> None:
        """Write something where the cursor stands, with a blank where words would grow together."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if before and (before[-1].isalnum() or before[-1] in "_)]}") and text[:1].isalnum():
            text = f" {text}"
        self._replace_via_keyboard(text, *self.selection)

    async def settled(self) -> str:
        """The text once all that was typed so far stands in it: its keys may be on their way still."""
        there = asyncio.Event()
        self.call_later(there.set)
        await there.wait()
        self.popup.display = self._typing = False
        return self.text

    # Colours

    def get_line(self, line_index: int) -> Text:
        # Textual 8.2.8: as in the composer, the control characters of a text area reach the terminal.
        line = Text(end="", no_wrap=True).append_text(self._lines_in_colours()[line_index])
        if self.wrong is not None and self.wrong[0] == line_index:
            line.stylize(self.get_component_rich_style("query-editor--wrong", partial=True), *self.wrong[1:])
        return line

    def _lines_in_colours(self) -> list[Text]:
        text = self.text
        if self._painted is None or self._painted[0] != text:
            styles = {kind: self.get_component_rich_style(f"query-editor--{kind}", partial=True) for kind in TokenKind}
            self._painted = (text, lines_in_colours(text, styles))
        return self._painted[1]

    def mark(self, line: int, column: int) -> None:
        """Mark the word at a place (from 1) as wrong, and bring it into view; it stays until the text is changed."""
        row = min(line, self.document.line_count) - 1
        text = self.document.get_line(row)
        start = max(0, min(column - 1, len(text) - 1))
        end = start + 1
        while end < len(text) and (text[end].isalnum() or text[end] == "_") and text[start].isalnum():
            end += 1
        self.wrong = (row, start, end)
        y = self.wrapped_document.location_to_offset((row, min(start, len(text)))).y
        self.scroll_to_region(Region(0, y, 1, 1), animate=False, force=True)
        self._redraw()

    def _redraw(self) -> None:
        self._line_cache.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        self._painted = None
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        # Textual 8.2.8: the placeholder cannot be wrapped where there is no room, which ends the app.
        return super().render_line(y) if self.content_size.width > 0 else Strip.blank(0)

    def _watch_show_vertical_scrollbar(self) -> None:
        # Textual 8.2.8: runs in the middle of an undo, when the cursor may still stand beyond the new end: an error.
        if self.cursor_location[0] < self.document.line_count:
            super()._watch_show_vertical_scrollbar()

    # Completion

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter" and self.popup.display and self.popup.moved:
            event.stop()
            event.prevent_default()
            self._accept()
        else:
            self._typing = event.is_printable

    async def _on_paste(self, event: events.Paste) -> None:
        # One edit, so one undo; TextArea's own handler would keep carriage returns and lone surrogates.
        event.stop()
        event.prevent_default()
        if result := self._replace_via_keyboard(clean(event.text), *self.selection):
            self.move_cursor(result.end_location)

    @on(TextArea.Changed)
    def _changed(self) -> None:
        if self.wrong is not None:
            self.wrong = None
            self._redraw()
        if self._typing or self.popup.display:
            self._offer(asked=self.popup.display and self.popup.asked)
        self._typing = False

    @on(TextArea.SelectionChanged)
    def _selected(self) -> None:
        if self.popup.display and not self.popup.offer.start <= self._place <= self._word_end:
            self.popup.display = False

    @property
    def _place(self) -> int:
        """Where the cursor stands, in characters of the text."""
        row, column = self.cursor_location
        return sum(len(self.document.get_line(each)) + 1 for each in range(row)) + column

    @property
    def _word_end(self) -> int:
        text, end = self.text, self.popup.offer.start
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        return end

    def _offered(self, *, asked: bool) -> Suggestions:
        """What fits at the cursor."""
        if not self.selection.is_empty or len(self.text) > LONGEST:
            return Suggestions(0, ())
        return offer_at(self.text, self._place, self.vocabulary, asked=asked)

    def _offer(self, *, asked: bool = False) -> None:
        self._show(self._offered(asked=asked), asked=asked)

    def _show(self, offer: Suggestions, *, asked: bool) -> None:
        """Show what fits under the word that is being typed; nothing where nothing does."""
        if not offer.choices:
            self.popup.display = False
            return
        back = self._place - offer.start
        x, y = self.cursor_screen_offset
        self.popup.asked = asked
        self.popup.show(offer, Region(max(0, x - back - 1), y, 1, 1), self.screen.region)

    def _accept(self) -> None:
        chosen = self.popup.chosen
        self.popup.display = False
        if chosen is not None:
            row, column = self.cursor_location
            start = (row, max(0, column - (self._place - self.popup.offer.start)))
            self._replace_via_keyboard(chosen.insert, start, (row, column))

    async def action_complete(self) -> None:
        if self.popup.display:
            self._accept()
            return
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        begun = bool(before) and (before[-1].isalnum() or before[-1] in "_.:$")
        offer = self._offered(asked=True) if begun else Suggestions(0, ())
        typed = before[column - (self._place - offer.start) :]
        if not offer.choices or any(each.insert == typed for each in offer.choices):
            await self.run_action("screen.pane(1)")
            return
        self._show(offer, asked=True)
        if len(offer.choices) == 1:
            self._accept()

    async def action_backwards(self) -> None:
        self.popup.display = False
        await self.run_action("screen.pane(-1)")

    def action_offer(self) -> None:
        self._offer(asked=True)

    def action_up(self) -> None:
        if self.popup.display:
            self.popup.move(-1)
        else:
            self.action_cursor_up()

    def action_down(self) -> None:
        if self.popup.display:
            self.popup.move(1)
        else:
            self.action_cursor_down()

    def action_copy(self) -> None:
        if self.selected_text:
            super().action_copy()
        else:
            self.post_message(self.Interrupted())

    @on(events.Blur)
    def _away(self) -> None:
        self.popup.display = False
