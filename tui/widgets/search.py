"""The search over everything ever said: results as one types, the words that match marked, Enter goes there."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tui.keymaps import SEARCH, bindings, signs
from tui.latest import Latest, is_there
from tui.reasons import who
from tui.text import MUTED, one_line, plain, shown, when
from tui.widgets.foot import Foot
from tui.widgets.long_list import Rows, type_into

if TYPE_CHECKING:
    from graph.values import FoundTurn, Segment

PAGE = 50  # results at first; as many more each time more are asked for
MOST = 500
MATCH = "bold underline $primary"
HINT = (
    "Words in any order; the last may be incomplete. Searches all chats, including what-ifs, other versions "
    "and hidden messages."
)

Search = Callable[[str, int], Awaitable["list[FoundTurn]"]]


class SearchInput(Input):
    """A line of any length; what is pasted becomes one line, with nothing in it that a terminal would obey."""

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        words = one_line(event.text)
        if self.selection.is_empty:
            self.insert_text_at_cursor(words)
        else:
            self.replace(words, *self.selection)


class SearchScreen(ModalScreen["FoundTurn | None"]):
    """`search(text, limit)` is asked with every change; an answer that is not the newest is never shown.

    `worlds` says what to call those that are not the main one. `walk` leads from a turn into the graph.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(SEARCH)

    def __init__(
        self,
        search: Search,
        failures: tuple[type[Exception], ...],
        text: str = "",
        *,
        worlds: Mapping[str, str] | None = None,
        walk: Callable[[str], None] = lambda turn: None,
    ) -> None:
        super().__init__()
        self.text = text
        self._worlds = worlds or {}  # what all but the main one are called
        self._search = search
        self._failures = failures
        self._walk = walk
        self._found: list[FoundTurn] = []
        self._limit = PAGE
        self._latest: Latest[tuple[str, int], list[FoundTurn] | str] = Latest(self._find, self._show)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog page search"):
            yield Static("Search all messages", classes="dialog-title", markup=False)
            yield SearchInput(shown(self.text), placeholder="Search", compact=True, select_on_focus=True)
            yield Static(HINT, classes="search-note", markup=False)
            yield Rows(markup=False, compact=True, classes="page-body")
            yield Foot(signs(SEARCH), classes="dialog-keys")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_key(self, event: events.Key) -> None:
        type_into(self.query_one(Input), event)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.text, self._limit = event.value, PAGE
        self._ask()

    def _ask(self) -> None:
        if not self._latest.seeking:
            self._note("searching …" if self.text.strip() else HINT)
        self.run_worker(self._latest.ask((self.text, self._limit)))

    async def _find(self, asked: "tuple[str, int]") -> "list[FoundTurn] | str":
        text, limit = asked
        if not text.strip():
            return []
        try:
            return await self._search(text, limit)
        except self._failures as error:
            return str(error)

    def _show(self, asked: "tuple[str, int]", answer: "list[FoundTurn] | str") -> None:
        if not is_there(self):
            return
        text, limit = asked
        before = self.query_one(Rows).highlighted or 0
        self._found = [] if isinstance(answer, str) else answer
        more = len(self._found) >= limit and limit < MOST
        rows, now = self.query_one(Rows), datetime.now().astimezone()
        rows.clear_options()
        rows.add_options([Option(_row(found, now, self._worlds.get(found.world, ""))) for found in self._found])
        if more:
            rows.add_option(Option(plain("more …", f"italic {MUTED}")))
        if self._found:
            rows.highlighted = before if limit > PAGE else 0
        self._note(answer if isinstance(answer, str) else _count(text, len(self._found), limit, more=more))

    def _note(self, words: str) -> None:
        self.query_one(".search-note", Static).update(plain(words))

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _take(self) -> None:
        place = self.query_one(Rows).highlighted
        if self._latest.seeking or place is None:
            return  # what is on the list is not what was asked for last
        if place < len(self._found):
            self.dismiss(self._found[place])
        else:
            self._limit = min(MOST, self._limit + PAGE)
            self._ask()

    def action_ego(self) -> None:
        place = self.query_one(Rows).highlighted
        if not self._latest.seeking and place is not None and place < len(self._found):
            self._walk(self._found[place].turn.id)

    def action_choose(self, step: int) -> None:
        rows = self.query_one(Rows)
        if rows.option_count:
            rows.highlighted = max(0, min(rows.option_count - 1, (rows.highlighted or 0) + step))


def _count(text: str, found: int, limit: int, *, more: bool) -> str:
    if not text.strip():
        return HINT
    if more:
        return f"first {found} · more at the end of the list"
    if found >= limit:
        return f"first {found}: add a word to narrow the search"
    return f"{found} found" if found else "No messages match."


def _row(found: "FoundTurn", now: datetime, world: str) -> Content:
    turn = found.turn
    speaker = who(turn.role, turn.speaker)
    head = " · ".join(
        part for part in (when(turn.at, now), speaker, one_line(found.session_name or "New chat")) if part
    )
    marks = " · ".join(part for part in (world, found.mark) if part)
    mark = plain(f"  {marks}", "italic $warning") if marks else ""
    return Content.assemble(plain(head, MUTED), mark, "\n", snippet(found.snippet), "\n")


def snippet(segments: "Sequence[Segment]") -> Content:
    """The words around the match on one line, the match marked."""
    parts = [plain(_flat(segment.text), MATCH if segment.matched else "") for segment in segments]
    return Content.assemble(*parts).rstrip() if parts else Content("")


def _flat(text: str) -> str:
    """Text on one line, with the blanks at its ends, which stand beside a match."""
    line = one_line(text)
    before = " " if text[:1].isspace() else ""
    after = " " if line and text[-1:].isspace() else ""
    return f"{before}{line}{after}"
