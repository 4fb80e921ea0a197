"""One message of the transcript: what a person said, as it was typed; a reply as Markdown; a tool call, folded."""

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message as TextualMessage
from textual.widget import Widget
from textual.widgets import Markdown, Static
from textual.widgets._markdown import MarkdownBlock, MarkdownBulletList, MarkdownList, MarkdownOrderedList
from textual.widgets.markdown import MarkdownStream

from tui.keymaps import MESSAGE, STORY_MESSAGE, letters_of
from tui.markdown import parser
from tui.state import Cue, Move, Passed
from tui.text import MUTED, plain, shown, size_of
from tui.themes import HERE, SEATS, THERE, seat_style
from tui.toolwords import ToolCall, line_of, whole

if TYPE_CHECKING:
    from graph.values import Alternatives


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


STORY_LETTERS = letters_of((*MESSAGE, *STORY_MESSAGE))
FOLD_LINES = 24
FOLD_CHARACTERS = 4_000
KEPT_LINES = 8
KEPT_CHARACTERS = 600
QUEUED = "Queued"
HELD = "On hold · Enter send · ↑ edit the last one"
UNANSWERED = "no reply yet · /retry to get one"
FLASH_S = 2.0


class HiddenNote(Static):
    """Stands in the place of a message that is hidden."""

    def __init__(self) -> None:
        super().__init__("hidden · h to unhide", classes="hidden-note", markup=False)


class WithheldNote(Static):
    """Says that a message is kept out of memory."""

    def __init__(self) -> None:
        super().__init__("kept out of memory", classes="hidden-note", markup=False)


class PlaceLine(Static):
    """Says which of several messages in the same place this one is: ‹2/3›."""

    def __init__(self, label: str) -> None:
        super().__init__(plain(f"‹{label}›  ← →"), classes="place", markup=False)


class RecalledLine(Static):
    """The line below a reply that leads to what was recalled for it."""

    class Clicked(TextualMessage):
        """A click on it."""

    def __init__(self, recalled: int, read: int) -> None:
        words = [f"{did} {count}" for did, count in (("recalled", recalled), ("read", read)) if count]
        super().__init__(plain(" · ".join(words)), classes="recalled", markup=False)

    def on_click(self) -> None:
        self.post_message(self.Clicked())


class RecalledQuotes(Static):
    """What was recalled for a question, open below its reply: the right words, whatever the model made of them."""

    def __init__(self, quotes: Content | None) -> None:
        super().__init__("", classes="quotes", markup=False)
        self.show(quotes)

    def show(self, quotes: Content | None) -> None:
        """This, or nothing (any more)."""
        self.update(quotes or "")
        self.set_class(quotes is None, "-none")


BRIEF = 72  # columns of the terminal from which the cast is named in full


def cue_content(cue: Cue, *, brief: bool) -> Content:
    """Who speaks, and who saw it: `Mara   ● Ada ● Mara ○ Jonas`; the letters that names begin with where `brief`."""
    speaker = plain(cue.name, f"bold {seat_style(cue.seat)}")
    if not cue.saw:
        return speaker
    names = _initials([name for name, _, _ in cue.saw]) if brief else [name for name, _, _ in cue.saw]
    chips = [
        Content.assemble(plain(HERE if saw else THERE, seat_style(seat) if saw else MUTED), plain(f" {name}", MUTED))
        for name, (_, seat, saw) in zip(names, cue.saw, strict=True)
    ]
    return Content.assemble(speaker, "   ", Content(" ").join(chips))


def _initials(names: list[str]) -> list[str]:
    """As few letters of each as tell them apart."""
    for count in range(1, max(map(len, names), default=1)):
        short = [name[:count] for name in names]
        if len(set(short)) == len(names):
            return short
    return names


class CueLine(Static):
    """The line above a message of a story."""

    def __init__(self, cue: Cue) -> None:
        super().__init__("", classes="cue", markup=False)
        self._cue = cue

    def show(self, cue: Cue) -> None:
        """It says this now."""
        self._cue = cue
        self.refresh()

    def render(self) -> Content:
        return cue_content(self._cue, brief=self.app.size.width < BRIEF)


def _told(move: Move | Passed) -> tuple[str, str]:
    """What a message seems to tell, and what the key does."""
    match move:
        case Move(name=name, here=here):
            what, does = ("be back", "brings them onto") if here else ("have left", "takes them off")
            return f"{name} seems to {what}", f"{does} the scene"
        case Passed("time", words):
            return f"Time passes: {words}", "lets it pass"
        case Passed("place", words):
            return f"To {words}", "begins a scene there"
    return "The scene seems to be over", "ends it"


class MoveLine(Static):
    """Says what a message of a story seems to tell of who is there, or of time and place; one key confirms it."""

    class Clicked(TextualMessage):
        """A click on it."""

    def __init__(self, move: Move | Passed) -> None:
        tells, does = _told(move)
        words = plain(f"{tells} · ") + plain("Tab, a", "bold") + plain(f" {does}")
        super().__init__(words, classes="move", markup=False)

    def on_click(self) -> None:
        self.post_message(self.Clicked())


class Message(Vertical, can_focus=True):
    """A message that can be focused, copied and opened."""

    LETTERS: frozenset[str] = letters_of(MESSAGE)

    class Opened(TextualMessage):
        """Enter on a folded message: show it whole."""

        def __init__(self, message: "Message") -> None:
            super().__init__()
            self.message = message

    class Remembered(TextualMessage):
        """The line below a reply was clicked: show what was recalled for it."""

        def __init__(self, message: "Message") -> None:
            super().__init__()
            self.message = message

    class Moved(TextualMessage):
        """It was agreed that somebody left with a message, or came back."""

        def __init__(self, message: "Message") -> None:
            super().__init__()
            self.message = message

    def __init__(
        self, turn: str, *, classes: str = "", hidden: bool = False, withheld: bool = False, cue: Cue | None = None
    ) -> None:
        super().__init__(classes=classes)
        self.turn = turn
        self.cue: Cue | None = None  # of a message of a story
        self.move: Move | Passed | None = None  # what it seems to tell, to be agreed to
        self.next_block = 0
        self.hidden = hidden  # it is a dim line, and recall leaves it out
        self.withheld = withheld  # it is kept out of memory
        self.alternatives: Alternatives | None = None  # what else was said in its place
        self.set_class(hidden, "-hidden")
        if cue is not None:
            self.show_cue(cue)

    def show_cue(self, cue: Cue) -> None:
        """It is of a story: who speaks, and who saw it."""
        if cue == self.cue:
            return
        self.cue = cue
        self.LETTERS = STORY_LETTERS
        for seat in SEATS:
            self.set_class(seat == cue.seat, f"-{seat}")
        for line in self.query(CueLine):  # none while it is still to be composed
            line.show(cue)

    def cue_lines(self) -> Iterator[CueLine]:
        """What stands above its words, to be composed."""
        if self.cue is not None:
            yield CueLine(self.cue)

    def show_move(self, move: Move | Passed | None) -> None:
        """It seems to tell that somebody left or is back, or that time passes; None: nothing, or that is settled."""
        if move == self.move:
            return
        self.move = move
        self.query(MoveLine).remove()
        if move is not None:
            self.mount(MoveLine(move))

    def on_move_line_clicked(self) -> None:
        self.post_message(self.Moved(self))

    def show_place(self, alternatives: "Alternatives | None") -> None:
        """It has these beside it, or none."""
        if alternatives == self.alternatives:
            return
        self.alternatives = alternatives
        self.query(PlaceLine).remove()
        if alternatives is not None and len(alternatives.turns) > 1:
            self.mount(PlaceLine(alternatives.label))

    def hide(self, *, hidden: bool) -> None:
        """It was hidden, or is shown again."""
        self.hidden = hidden
        self.set_class(hidden, "-hidden")
        notes = self.query(HiddenNote)
        if hidden and not notes:
            self.mount(HiddenNote())
        elif not hidden:
            notes.remove()

    def withhold(self, *, withheld: bool) -> None:
        """It is kept out of memory from here on, or may be remembered again."""
        self.withheld = withheld
        notes = self.query(WithheldNote)
        if withheld and not notes:
            self.mount(WithheldNote())
        elif not withheld:
            notes.remove()

    def flash(self) -> None:
        """Mark it for a moment: the reader was brought here."""
        self.add_class("-flash")
        self.set_timer(FLASH_S, partial(self.remove_class, "-flash"))

    @property
    def text(self) -> str:
        """The message, as copied; empty where there is nothing to copy."""
        return ""

    def code_blocks(self) -> list[str]:
        return list(_code_blocks(self.text))


class UserMessage(Message):
    """What a person said: plain text, exactly as typed; folded when it is very long."""

    def __init__(
        self,
        turn: str,
        text: str | None,
        *,
        queued: bool = False,
        held: bool = False,
        hidden: bool = False,
        withheld: bool = False,
        cue: Cue | None = None,
    ) -> None:
        super().__init__(turn, classes="said", hidden=hidden, withheld=withheld, cue=cue)
        self._text = text
        self.queued = queued
        self.held = held  # it is queued, and waits for the person's word
        self.failed = False  # it was not answered, and the line below says so
        self.folded = text is not None and (len(text) > FOLD_CHARACTERS or text.count("\n") > FOLD_LINES)

    @property
    def text(self) -> str:
        return self._text or ""

    def compose(self) -> ComposeResult:
        yield from self.cue_lines()
        yield Static(self._content(), classes="words", markup=False)
        note = Static(HELD if self.held else QUEUED, classes="note", markup=False)
        note.display = self.queued
        yield note
        if self.hidden:
            yield HiddenNote()
        if self.withheld:
            yield WithheldNote()

    def _content(self) -> Content:
        if self._text is None:
            return plain("erased", "italic dim")
        if not self.folded:
            return plain(self._text) if self.cue is None else acted(self._text)
        head = "\n".join(self._text[:KEPT_CHARACTERS].split("\n")[:KEPT_LINES])
        lines = self._text.count("\n") + 1
        size = size_of(len(self._text.encode("utf-8", errors="replace")))
        rest = f"… {size}, {lines:,} line{'s' if lines > 1 else ''} in all · Enter to open"
        return plain(head) + plain("\n") + plain(rest, f"italic {MUTED}")

    def wait(self, *, queued: bool, held: bool = False) -> None:
        """It waits for a reply, `queued` behind another or on hold; what was said of an earlier try goes."""
        self.queued, self.held, self.failed = queued, held, False
        self._note((HELD if held else QUEUED) if queued else "")

    def take(self) -> None:
        """Its turn has come."""
        self.wait(queued=False)

    def expect(self, doing: str) -> None:
        """Say where its reply will be what is going on until that begins."""
        if not self.queued and not self.failed:
            self._note(f"{doing} …")

    def fail(self, reason: str) -> None:
        """It has no reply, and why."""
        self.queued, self.failed = False, True
        self._note(f"no reply: {reason}")

    def lack(self) -> None:
        """It has no reply, and none is on its way."""
        self.queued, self.failed = False, True
        self._note(UNANSWERED)

    def _note(self, text: str) -> None:
        note = self.query_one(".note", Static)
        note.update(plain(text))
        note.display = bool(text)
        note.set_class(self.failed, "failed")

    def on_click(self) -> None:
        if self.folded:
            self.post_message(self.Opened(self))


def acted(text: str) -> Content:
    """A message of a story, what is done in it (`*action*`) in italics, as in a reply."""
    from agent.story.spans import Kind, spans

    return Content.assemble(
        *(
            plain(span.text, "italic") if span.kind is Kind.ACTION else plain(text[span.start : span.end])
            for span in spans(text)
        )
    )


class Aside(Message):
    """What was said in a story out of character: nobody in it hears that."""

    def __init__(self, turn: str, text: str | None, *, hidden: bool = False) -> None:
        super().__init__(turn, classes="aside", hidden=hidden)
        self._text = text

    @property
    def text(self) -> str:
        from agent.story.spans import MARKER

        return "" if self._text is None else f"{MARKER[0]}{self._text}{MARKER[1]}"

    def compose(self) -> ComposeResult:
        words = plain("erased", "italic dim") if self._text is None else plain(self.text)
        yield Static(words, classes="words", markup=False)
        if self.hidden:
            yield HiddenNote()


class AssistantMessage(Message):
    """A reply: Markdown that may still be growing, and a line below it when it did not end by itself."""

    def __init__(
        self,
        turn: str,
        text: str | None = "",
        *,
        note: str = "",
        writing: bool = False,
        recalled: int = 0,
        read: int = 0,
        quotes: Content | None = None,
        hidden: bool = False,
        withheld: bool = False,
        cue: Cue | None = None,
    ) -> None:
        """`recalled` items were put before the model, and something of `read` references."""
        super().__init__(turn, classes="answer", hidden=hidden, withheld=withheld, cue=cue)
        self.recalled = recalled
        self.read = read
        self.quotes = quotes  # what was recalled, where it stands open
        self._text = text or ""
        self._erased = text is None
        self._note = note
        self._pending: list[str] = []
        self._stream: MarkdownStream | None = None
        self._doing = "thinking"
        self.writing = writing

    @property
    def text(self) -> str:
        return self._text

    def compose(self) -> ComposeResult:
        yield from self.cue_lines()
        if self._erased:
            yield Static(plain("erased", "italic dim"), classes="words", markup=False)
        yield Prose(self._text)
        note = Static(
            plain(f"{self._doing} …" if self.writing and not self._text else self._note), classes="note", markup=False
        )
        note.display = bool(self._note) or (self.writing and not self._text)
        yield note
        if self.recalled or self.read:
            yield RecalledLine(self.recalled, self.read)
            yield RecalledQuotes(self.quotes)
        if self.hidden:
            yield HiddenNote()
        if self.withheld:
            yield WithheldNote()

    def on_recalled_line_clicked(self) -> None:
        self.post_message(self.Remembered(self))

    def show_quotes(self, quotes: Content | None) -> None:
        """This was recalled for it and stands open, or nothing (any more)."""
        if quotes == self.quotes:
            return
        self.quotes = quotes
        for widget in self.query(RecalledQuotes):  # none while it is still to be composed
            widget.show(quotes)

    def expect(self, doing: str) -> None:
        """Say what the model is doing, as long as no word has come."""
        if not self._text and doing != self._doing:
            self._doing = doing
            self.note(f"{doing} …")

    def write(self, text: str) -> None:
        """More of the reply; painted at the next `flush`."""
        self._text += text
        self._pending.append(text)

    async def flush(self) -> None:
        """Paint what was written since the last flush."""
        if not self._pending or not self.is_mounted:
            return
        text = shown("".join(self._pending))
        self._pending.clear()
        if self._stream is None:
            self.note("")
            self._stream = Markdown.get_stream(self.query_one(Prose))
        await self._stream.write(text)

    async def finish(self, note: str) -> None:
        """The reply has ended: paint the rest, and say below it how it ended if that was not by itself."""
        await self.flush()
        self.writing = False
        if self._stream is not None:
            stream, self._stream = self._stream, None
            await stream.stop()
        self.note(note)

    def note(self, text: str) -> None:
        """A line below the reply; none if empty."""
        line = self.query_one(".note", Static)
        line.update(plain(text))
        line.display = bool(text)


def how_it_ended(stop_reason: str | None, error: str | None, *, empty: bool = False) -> str:
    """The line below a reply that did not end by itself, or ""."""
    match stop_reason:
        case "stopped":
            return "stopped" if not empty else "stopped before the first word"
        case "length":
            return "cut off at the maximum reply length · Tab, then + to go on"
        case "repeating":
            return "ended, as it had begun to repeat itself"
        case "crashed":
            return "cut off when clew was closed; this is the partial reply"
        case "failed":
            return f"failed: {error}" if error else "failed"
        case _:
            return "empty reply" if empty else ""


_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^ {0,3}\1[`~]* *$|\Z)", re.MULTILINE | re.DOTALL)


def _code_blocks(text: str) -> Iterator[str]:
    for match in _FENCE.finditer(text):
        yield match[2].removesuffix("\n")


class ToolBlock(Message):
    """What the model looked up on the way to its reply, folded unless it is what was asked for."""

    def __init__(self, turn: str, call: ToolCall) -> None:
        super().__init__(turn, classes="tool")
        self.call = call
        self._turned = False  # the reader folded or unfolded it
        self.folded = _folded(call)

    @property
    def text(self) -> str:
        return f"{line_of(self.call)}\n\n{whole(self.call)}".rstrip()

    def compose(self) -> ComposeResult:
        yield Static(self._content(), classes="words", markup=False)

    def _content(self) -> Content:
        mark = "▸" if self.folded else "▾"
        head = plain(f"{mark} {line_of(self.call)}", "$text-error" if self.call.error else MUTED)
        if self.folded:
            return head
        nothing = "It returned nothing." if self.call.done else "…"
        return Content.assemble(head, "\n", plain(whole(self.call) or nothing, MUTED))

    def tell(self, call: ToolCall) -> None:
        """The call stands like this now."""
        self.call = call
        if not self._turned:
            self.folded = _folded(call)
        self._paint()

    def toggle(self) -> None:
        """Unfold it, or fold it again."""
        self.folded, self._turned = not self.folded, True
        self._paint()

    def _paint(self) -> None:
        if self.is_mounted:
            self.query_one(".words", Static).update(self._content())

    def on_click(self) -> None:
        self.toggle()


def _folded(call: ToolCall) -> bool:
    """Themes were asked for to be read; other answers are there for the model."""
    return call.tool != "themes" or not call.done or call.error is not None
