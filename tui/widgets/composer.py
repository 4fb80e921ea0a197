"""The composer: where a message is written, with what was sent before, any paste, and what fits what is being typed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widgets import OptionList, TextArea
from textual.widgets.option_list import Option

from tui.actions import Action
from tui.attachments import FileName, being_typed, mentions
from tui.keymaps import COMPOSER, bindings
from tui.text import MUTED, as_sent, cut, plain, shown_in_place

if TYPE_CHECKING:
    from textual.widgets.text_area import EditResult, Location

# What an empty composer says: the first that there is room for.
PLACEHOLDERS = ("Say something …   / for commands · F1 for help", "Say something …   F1 for help", "Say something …")
HUGE = 20_000  # characters beyond which Up and Down never walk into the history by accident


class Composer(TextArea):
    """A text area whose Enter sends; all other editing keys are TextArea's."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(COMPOSER)

    class Sent(Message):
        """Enter was pressed on `text`."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Passed(Message):
        """A key of the app's, behind all that was typed before it: `action` is to be done."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    class Asked(Message):
        """A key that is not about editing: complete, choose, take back, scroll, tail, quit."""

        def __init__(self, what: str, amount: int = 0) -> None:
            super().__init__()
            self.what = what
            self.amount = amount

    def __init__(self) -> None:
        super().__init__(
            id="composer",
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            compact=True,
            highlight_cursor_line=False,
            placeholder=PLACEHOLDERS[0],
        )
        self.sent: list[str] = []  # newest first
        self._brought = ""  # what came into the text otherwise than by keys: others may have written that
        self._typed = ""  # beside something that was brought: what was typed, letter after letter
        self._how: dict[str, tuple[str, str]] = {}  # of texts that were sent here: what was brought and typed
        self.apart: list[str] | None = None  # in a private chat: what was sent there, which no other chat is to have
        self._back = 0  # how far back in the history; 0 is the text being written
        self._kept = ""
        self._notice = ("", "")
        self._to: Content | None = None
        self.queued = (
            False  # messages of this chat wait for their turn: Up in an empty composer takes back the last one
        )
        self.choosing = False  # the completion list is open: Up, Down, Tab and Enter belong to it

    def post_message(self, message: Message) -> bool:
        # The app changes the text too, and Textual sends no message back to its sender.
        if isinstance(message, (TextArea.Changed, Composer.Sent, Composer.Passed, Composer.Asked)):
            message.set_sender(self)
        return super().post_message(message)

    def put(self, text: str) -> None:
        """Replace the text, cursor at its end."""
        self._brought, self._typed = self._how.get(text, (text, ""))
        self.text = as_sent(text)
        self.move_cursor(self.document.end)

    def brought_with(self, text: str) -> str:
        """What a text mentions that nobody typed here, letter after letter from its @ to its end.

        It was pasted, or came from a draft or an editor, as all of a text did that was not sent from here.
        """
        brought, typed = self._how.get(text, (text, ""))
        return "\n".join(each for each in mentions(text) if each not in typed) if brought else ""

    @property
    def file_typed(self) -> str | None:
        """What is typed behind an @, where the cursor stands at the end of that; None elsewhere."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if not self.selection.is_empty or line[column : column + 1].strip():
            return None
        typed = being_typed(line[:column])
        return typed if typed is not None and (not self._brought or f"@{typed}" in self._typed) else None

    def put_file(self, mention: str) -> None:
        """Replace the file name that is being typed, and the @ before it."""
        typed = self.file_typed
        if typed is not None:
            row, column = self.cursor_location
            self._replace_via_keyboard(mention, (row, column - len(typed) - 1), (row, column))

    def give_back(self, text: str) -> None:
        """A message that could not be sent stands in the composer again, before what was typed since."""
        self.put(text + ("\n" if text and self.text else "") + self.text)

    def notice(self, words: str, rest: str) -> None:
        """A quiet line in the frame, which moves nothing; where there is no room, `words` are cut and not the rest."""
        self._notice = (words, rest)
        self._paint_notice()

    def address(self, to: Content | None) -> None:
        """To whom in a story what is written goes, in the frame; None: it is no story's."""
        if to != self._to:
            self._to = to
            self.border_title = to

    def _paint_notice(self) -> None:
        words, rest = (plain(part) for part in self._notice)
        room = self.outer_size.width - 6 - rest.cell_length
        line = words.truncate(max(room, 0), ellipsis=True) + rest
        self.border_subtitle = line if line.plain.strip() else None

    def on_resize(self) -> None:
        self._paint_notice()
        room = self.content_size.width
        fitting = (words for words in PLACEHOLDERS if len(words) <= room)
        self.placeholder = next(fitting, PLACEHOLDERS[-1])

    def turn_to(self, apart: list[str] | None) -> None:
        """Another chat is on the screen: a private one has a history of its own before that of all others."""
        self.apart = apart
        self._how.clear()  # of a private chat nothing stays
        self._back = 0
        self._kept = ""

    def remember(self, text: str) -> None:
        """Put a sent message at the head of the history."""
        history = self.sent if self.apart is None else self.apart
        if not history or history[0] != text:
            history.insert(0, text)
        self._back = 0
        self._kept = ""

    async def _on_key(self, event: events.Key) -> None:
        # Not a binding: a priority binding would overtake characters that were typed before it and not handled yet.
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.action_send()

    async def _on_paste(self, event: events.Paste) -> None:
        # One edit, so one undo; TextArea's own handler would keep whatever is pasted.
        event.stop()
        event.prevent_default()
        self._bring(event.text)

    def action_paste(self) -> None:
        self._bring(self.app.clipboard)

    def _bring(self, text: str) -> None:
        self._brought += as_sent(text)  # until another text is put: what is deleted may come back by an undo
        if result := super()._replace_via_keyboard(as_sent(text), *self.selection):
            self._typed += "\0"
            self.move_cursor(result.end_location)
            self.focus()

    def _replace_via_keyboard(self, insert: str, start: "Location", end: "Location") -> "EditResult | None":
        self._note_typed(insert, start, end)
        return super()._replace_via_keyboard(insert, start, end)

    def _delete_via_keyboard(self, start: "Location", end: "Location") -> "EditResult | None":
        self._note_typed("", start, end)
        return super()._delete_via_keyboard(start, end)

    def _note_typed(self, insert: str, start: "Location", end: "Location") -> None:
        gone = self.get_text_range(*sorted((start, end)))
        if gone:
            self._typed = self._typed.removesuffix(gone) if self._typed.endswith(gone) else f"{self._typed}\0"
        self._typed += insert

    def get_line(self, line_index: int) -> Text:
        # Textual 8.2.8: the control characters of a text area reach the terminal, which obeys them.
        return Text(shown_in_place(self.document.get_line(line_index)), end="", no_wrap=True)

    def render_line(self, y: int) -> Strip:
        # Textual 8.2.8: the placeholder cannot be wrapped where a panel leaves no room, which ends the app.
        return super().render_line(y) if self.content_size.width > 0 else Strip.blank(0)

    def action_send(self) -> None:
        if self.choosing:
            self.post_message(self.Asked("accept"))
        else:
            text = self.text
            self._how[text] = self._brought, self._typed
            self.put("")  # now, not when the app hears of it: what is typed meanwhile is the next message
            self.post_message(self.Sent(text))

    def _watch_show_vertical_scrollbar(self) -> None:
        # Textual 8.2.8: runs in the middle of an undo, when the cursor may still stand beyond the new end: an error.
        if self.cursor_location[0] < self.document.line_count:
            super()._watch_show_vertical_scrollbar()

    def action_newline(self) -> None:
        self._replace_via_keyboard("\n", *self.selection)

    def action_up(self) -> None:
        if self.choosing:
            self.post_message(self.Asked("choose", -1))
        elif self.queued and not self.text:
            self.post_message(self.Asked("take back"))
        elif self.cursor_at_first_line and self.wrapped_document.location_to_offset(self.cursor_location).y == 0:
            self._recall(1)
        else:
            self.action_cursor_up()

    def action_down(self) -> None:
        if self.choosing:
            self.post_message(self.Asked("choose", 1))
        elif self.cursor_at_last_line and self._back:
            self._recall(-1)
        else:
            self.action_cursor_down()

    def _recall(self, step: int) -> None:
        position, history = self._back + step, [*(self.apart or ()), *self.sent]
        if not 0 <= position <= len(history):
            return
        if self._back == 0:
            self._kept = self.text
        self._back = position
        self.put(self._kept if position == 0 else history[position - 1])
        if step > 0:
            self.move_cursor((0, len(self.document.get_line(0))))

    def action_complete(self) -> None:
        self.post_message(self.Asked("complete"))

    def action_end(self) -> None:
        if self.cursor_location == self.document.end:
            self.post_message(self.Asked("tail"))
        else:
            self.action_cursor_line_end()

    def action_scroll(self, pages: int) -> None:
        self.post_message(self.Asked("scroll", pages))

    def action_delete_or_quit(self) -> None:
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.Asked("quit"))


Completion = Action | FileName
GAP = 2
LEAST = 24  # cells for a command with what may follow it


class Completions(OptionList, can_focus=False):
    """Shown while a command or a file is named; the composer keeps the focus and tells it where to go."""

    def __init__(self) -> None:
        super().__init__(id="completions", markup=False, compact=True)
        self.offered: list[Completion] = []

    def offer(self, completions: Sequence[Completion]) -> None:
        """Show these, the first one chosen; hide when there are none."""
        if list(completions) != self.offered:
            self.offered = list(completions)
            self._fill()
        self.display = bool(completions)
        self.highlighted = 0 if completions else None

    def _fill(self) -> None:
        width = self.scrollable_content_region.width or self.app.size.width
        self.clear_options()
        self.add_options([Option(row) for row in rows(self.offered, width)])

    def on_resize(self) -> None:
        chosen = self.highlighted
        self._fill()
        self.highlighted = chosen

    def move(self, step: int) -> None:
        if self.offered:
            self.highlighted = ((self.highlighted or 0) + step) % len(self.offered)

    @property
    def chosen(self) -> Completion | None:
        return self.offered[self.highlighted] if self.offered and self.highlighted is not None else None


def rows(completions: Sequence[Completion], width: int) -> list[Content]:
    """A line for each, `width` cells wide: what is typed, then in a column what it is.

    What may follow a command is cut where there is no room for both, and left out where little of it would be left.
    """
    heads, tails = [_typed(each) for each in completions], [_about(each) for each in completions]
    column = min(max(map(len, heads), default=0), width - GAP - max(map(len, tails), default=0))
    if column < LEAST and max(map(len, heads), default=0) > column:
        heads = [head.split(" ")[0] if head.startswith("/") else head for head in heads]
        column = max(map(len, heads), default=0)
    lines = [
        plain(f"{cut(head, column):<{column + GAP}}", "$primary") + plain(tail, MUTED)
        for head, tail in zip(heads, tails, strict=True)
    ]
    return [line.truncate(max(1, width), ellipsis=True) for line in lines]


def _typed(completion: Completion) -> str:
    if isinstance(completion, FileName):
        return completion.typed
    return f"/{completion.slash} {completion.argument}".strip()


def _about(completion: Completion) -> str:
    return completion.about if isinstance(completion, FileName) else completion.title
