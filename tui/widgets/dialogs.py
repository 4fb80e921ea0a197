"""Small screens over the chat: a question with its buttons, one line to fill in, a text to edit, a text to read."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea
from textual.widgets.option_list import Option

from tui.keymaps import (
    ANSWERS,
    ASK_LINE,
    ASK_TEXT,
    CONFIRM,
    FORK,
    LINES,
    PICK,
    READER,
    KeyRow,
    bindings,
    button,
    in_lines,
    signs,
)
from tui.text import MUTED, clean, plain, shown, shown_in_place
from tui.widgets.foot import Foot
from tui.widgets.long_list import Rows
from tui.widgets.pages import Fold, Pages

CANCEL = "Cancel"


class Answers(Widget, can_focus=True):
    """No letter presses a button: what is typed over a question is never an answer to it."""

    DEFAULT_CSS = "Answers { width: 1fr; height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = bindings(ANSWERS)

    class Chosen(Message):
        """The mark went to another button."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    class Pressed(Message):
        """A button was pressed."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, labels: Sequence[str], *, chosen: int = 0, classes: str = "") -> None:
        super().__init__(classes=classes)
        self._labels = tuple(labels)
        self.chosen = chosen

    def _content(self, width: int) -> Content:
        return Content("\n").join(
            in_lines([button(label, place, self.chosen) for place, label in enumerate(self._labels)], width)
        )

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._content(max(1, width)).get_height({}, max(1, width))

    def render(self) -> Content:
        return self._content(max(1, self.content_size.width))

    def choose(self, place: int) -> None:
        """Put the mark on that button."""
        self.chosen = place
        self.refresh()
        self.post_message(self.Chosen(place))

    def action_turn(self, step: int) -> None:
        self.choose((self.chosen + step) % len(self._labels))

    def action_press(self) -> None:
        self.post_message(self.Pressed(self.chosen))

    def action_press_at(self, place: int) -> None:
        """A click: on the button itself."""
        self.post_message(self.Pressed(place))


Answer = TypeVar("Answer")


class Question(ModalScreen[Answer]):
    """A question with buttons. Esc, and whatever is typed over the chat, leaves everything as it is."""

    AUTO_FOCUS = "Answers"
    BINDINGS: ClassVar[list[BindingType]] = bindings(CONFIRM)
    LETTERS: ClassVar[frozenset[str]] = frozenset()  # no letter does anything: they are typed on in the composer

    def action_cancel(self) -> None:
        self.dismiss(None)


class Confirm(Question[bool]):
    """A question whose answer is yes or no; no is the button that is chosen at first."""

    def __init__(self, title: str, words: str, *, yes: str) -> None:
        super().__init__()
        self._title = title
        self._words = words
        self._yes = yes

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog warn", can_focus=False):
            yield Static(plain(self._title), classes="dialog-title", markup=False)
            yield Static(plain(self._words), classes="dialog-words", markup=False)
            yield Answers((CANCEL, self._yes), classes="dialog-keys")

    @on(Answers.Pressed)
    def _pressed(self, event: Answers.Pressed) -> None:
        self.dismiss(event.place == 1)

    def action_cancel(self) -> None:
        self.dismiss(False)


class AskLine(ModalScreen[str | None]):
    """One line to fill in; None if left.

    `check` answers with what is wrong with a line, None where nothing is: only such a line closes it. With `live` it is
    asked while one types too, and an empty line is a line like any other. What the `suggester` has for it, → takes.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(ASK_LINE)

    def __init__(
        self,
        title: str,
        value: str = "",
        *,
        placeholder: str = "",
        words: str = "",
        yes: str = "save",
        check: Callable[[str], Awaitable[str | None]] | None = None,
        live: bool = False,
        suggester: Suggester | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._words = words
        self._live = live
        self._suggester = suggester
        self._placeholder = placeholder
        self._yes = yes
        self._check = check
        self._checking = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(plain(self._title), classes="dialog-title", markup=False)
            if self._words:
                yield Static(plain(self._words), classes="dialog-words", markup=False)
            yield Input(shown(self._value), placeholder=self._placeholder, compact=True, suggester=self._suggester)
            yield Static("", classes="dialog-wrong", markup=False)
            yield Foot((("Enter", self._yes), *signs(ASK_LINE)), classes="dialog-keys")

    @on(Input.Changed)
    @work(group="typed", exclusive=True)
    async def _typed(self, event: Input.Changed) -> None:
        if self._live and self._check is not None:
            self._tell(await self._check(clean(event.value).strip()))

    @on(Input.Submitted)
    @work
    async def _done(self, event: Input.Submitted) -> None:
        said = clean(event.value).strip()
        if self._check is not None and (said or self._live):
            if self._checking:
                return
            self._checking = True
            wrong = await self._check(said)
            self._checking = False
            if wrong is not None:
                self._tell(wrong)
                return
        self.dismiss(said if said or self._live else None)

    def _tell(self, wrong: str | None) -> None:
        self.query_one(".dialog-wrong", Static).update(plain(wrong or "", "$text-error"))


class Pick(ModalScreen[str | None]):
    """One of a few words; None if left."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(PICK)

    def __init__(self, title: str, choices: Sequence[str], current: str, *, words: str = "") -> None:
        super().__init__()
        self._title = title
        self._choices = tuple(choices)
        self._current = current
        self._words = words

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog pick"):
            yield Static(plain(self._title), classes="dialog-title", markup=False)
            yield Static(plain(self._words), classes="dialog-words", markup=False)
            yield Rows(*(Option(plain(each)) for each in self._choices), markup=False, compact=True)
            yield Foot(signs(PICK), classes="dialog-keys")

    def on_mount(self) -> None:
        rows = self.query_one(Rows)
        rows.highlighted = self._choices.index(self._current) if self._current in self._choices else 0
        rows.focus()

    @on(Rows.OptionSelected)
    def _chosen(self, event: Rows.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index])


class LinesInput(TextArea):
    """A text area whose Enter means done; Ctrl+J is the new line, as in the composer."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(LINES)

    class Done(Message):
        """Enter was pressed."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.action_done()

    def on_mount(self) -> None:
        self.move_cursor(self.document.end)

    def action_done(self) -> None:
        self.post_message(self.Done())

    def action_newline(self) -> None:
        self.insert("\n")

    def action_clear_line(self) -> None:
        """The whole line goes, wherever the cursor stands in it."""
        row, _ = self.cursor_location
        self.delete((row, 0), (row, len(self.document.get_line(row))))

    def get_line(self, line_index: int) -> Text:
        # Textual 8.2.8: as in the composer.
        return Text(shown_in_place(self.document.get_line(line_index)), end="", no_wrap=True)


class AskText(ModalScreen[str | None]):
    """A text of several lines to edit; None if left."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(ASK_TEXT)

    def __init__(self, title: str, value: str, *, words: str = "") -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._words = words

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog tall"):
            yield Static(plain(self._title), classes="dialog-title", markup=False)
            yield Static(plain(self._words), classes="dialog-words", markup=False)
            yield LinesInput(clean(self._value), soft_wrap=True, compact=True, show_line_numbers=False)
            yield Foot(signs((*LINES, *ASK_TEXT)), classes="dialog-keys")

    @on(LinesInput.Done)
    def action_done(self) -> None:
        self.dismiss(self.query_one(TextArea).text)


class Reader(ModalScreen[None]):
    """A text to read: the help, the status, a long message. Lines are drawn as they come into view."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(READER)
    KEYS: ClassVar[tuple[KeyRow, ...]] = READER

    def __init__(self, title: str, words: Content | str) -> None:
        super().__init__()
        self._title = title
        self._words = words

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog page"):
            yield Static(plain(self._title), classes="dialog-title", markup=False)
            if isinstance(self._words, Content):
                pages = Pages(self._words, classes="page-body")
                pages.can_focus = True  # its keys are the page's own
                yield pages
                yield Fold()
            else:  # may be huge: a text area paints only what is in view
                yield TextArea(
                    shown(self._words),
                    read_only=True,
                    soft_wrap=True,
                    compact=True,
                    show_line_numbers=False,
                    classes="page-body",
                    show_cursor=False,
                )
            yield Foot(signs(self.KEYS), classes="dialog-keys")

    def on_mount(self) -> None:
        self.query_one(".page-body").focus()

    @on(Pages.Turned)
    def _turned(self, event: Pages.Turned) -> None:
        self.query_one(Fold).show(event)

    def action_scroll(self, step: int) -> None:
        self.query_one(".page-body").scroll_relative(y=step, animate=False)


WAYS = ("as a chat", "as a what-if")
TELLS = ("Other chats can use what is learned here.", "A separate world: other chats never see it.")


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """What is to be forked: a what-if or not, and by which name, if by any."""

    what_if: bool = False
    name: str | None = None


class ForkScreen(ModalScreen[ForkRequest | None]):
    """Closes with what is wanted; None if left. Tab turns between the two ways."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(FORK)

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._what_if = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog impact fork"):
            yield Static(plain(self._title), classes="dialog-title", markup=False)
            yield Static("", classes="impact-ways", markup=False)
            yield Static("", classes="fork-tells", markup=False)
            yield Input(placeholder="Name (optional)", compact=True)
            yield Foot(signs(FORK), classes="dialog-keys")

    def on_mount(self) -> None:
        self._paint()

    def _paint(self) -> None:
        names = [plain(f" {way} ", "reverse" if place == self._what_if else MUTED) for place, way in enumerate(WAYS)]
        self.query_one(".impact-ways", Static).update(Content(" ").join(names))
        self.query_one(".fork-tells", Static).update(plain(TELLS[self._what_if], MUTED))

    def action_turn(self) -> None:
        self._what_if = not self._what_if
        self._paint()

    @on(Input.Submitted)
    def _done(self, event: Input.Submitted) -> None:
        self.dismiss(ForkRequest(self._what_if, clean(event.value).strip() or None))
